#include "cli/job_watch.h"

#include <poll.h>

#include <algorithm>
#include <array>

namespace jipsa::cli {
namespace {

using std::chrono::milliseconds;
using SteadyClock = std::chrono::steady_clock;

constexpr std::chrono::seconds one_wait{20};       // how long the daemon holds its answer back
constexpr std::chrono::seconds patience_lost{60};  // how long a daemon that went away is waited for
constexpr milliseconds retry_after{300};

}  // namespace

Query JobWatch::query() const {
  Query query = job_query(id_);
  if (heard()) {  // the first answer is wanted at once
    query.target += "?wait=" + std::to_string(one_wait.count());
    query.extra = one_wait;
  }
  return query;
}

JobWatch::State JobWatch::begin() {
  if (socket_.empty()) {
    const auto socket = find_socket(session_);
    if (!socket) {
      exit_ = socket.error();
      return State::failed;
    }
    socket_ = *socket;
  }
  const Query q = query();
  auto call = ClientCall::start(socket_, {q.method, q.target, q.body, "", session_.timeout + q.extra});
  if (!call) return lost(call.error());
  call_.emplace(std::move(*call));
  return State::going;
}

// A daemon that has answered before and is gone is being restarted, most likely.
JobWatch::State JobWatch::lost(const Error& error) {
  call_.reset();
  const auto now = SteadyClock::now();
  const bool may_come_back =
      heard() && (error.code == Code::unreachable || error.code == Code::timed_out || error.code == Code::unreadable);
  if (may_come_back && !lost_since_) {
    lost_since_ = now;
    note(session_, Msg::reconnecting);
  }
  if (may_come_back && now - *lost_since_ < patience_lost) {
    retry_at_ = now + retry_after;
    return State::going;
  }
  exit_ = complain_call(session_, query(), socket_, error);
  return State::failed;
}

JobWatch::State JobWatch::take(ClientAnswer answer) {
  call_.reset();
  const Query q = query();
  const auto reply = read_reply(session_, q, std::move(answer));
  auto job = reply ? read_job(session_, q, *reply) : tl::make_unexpected(reply.error());
  if (!job) {
    exit_ = job.error();
    return State::failed;
  }
  job_ = std::move(*job);
  lost_since_.reset();
  return job_.ended() ? State::ended : State::going;
}

JobWatch::State JobWatch::step(milliseconds patience, std::span<const int> also) {
  if (!call_ && (!retry_at_ || SteadyClock::now() >= *retry_at_)) {
    retry_at_.reset();
    if (begin() == State::failed) return State::failed;
  }
  std::array<pollfd, 4> waits{};
  std::size_t count = 0;
  if (call_) waits[count++] = {call_->fd(), POLLIN, 0};
  for (const int fd : also) {
    if (fd >= 0 && count < waits.size()) waits[count++] = {fd, POLLIN, 0};
  }
  const auto most = call_ ? patience : std::min<milliseconds>(patience, retry_after);
  ::poll(waits.data(), count, static_cast<int>(most.count()));
  if (!call_) return State::going;
  const auto done = call_->step(milliseconds{0});
  if (!done) return lost(done.error());
  return *done ? take(std::move(call_->reader().answer)) : State::going;
}

}  // namespace jipsa::cli
