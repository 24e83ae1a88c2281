// DriverSource: asks the helper process, and survives whatever it does.
#include <sys/epoll.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "machine/clock.h"
#include "machine/driver_helper.h"
#include "machine/driver_protocol.h"
#include "machine/sense.h"

namespace jipsa {
namespace {

using namespace std::chrono_literals;
using State = DriverReading::State;

constexpr std::int64_t second = 1'000'000'000;
constexpr std::int64_t first_wait = second / 2, longest_wait = 30 * second;
constexpr std::int64_t look_for_library = 60 * second;
// Waking a card that nobody uses takes the driver seconds; a helper that has not answered yet is given this long before it is
// killed.
constexpr std::int64_t first_answer = 10 * second;

std::int64_t now_ns() { return SystemClock().steady_ns(); }

DriverReading without_cards(State state, std::string trouble) {
  DriverReading reading;
  reading.state = state;
  reading.trouble = std::move(trouble);
  reading.steady_ns = now_ns();
  return reading;
}

}  // namespace

struct DriverSource::Impl {
  struct Waiter {
    std::uint64_t id = 0;
    Loop::TimerId timer = 0;
    std::function<void(DriverReading)> done;
  };

  Impl(Loop& l, std::string h, std::string lib) : loop(l), program(std::move(h)), library(std::move(lib)) {}
  ~Impl() {
    for (const Waiter& waiter : waiters) loop.cancel(waiter.timer);
    loop.cancel(later);
    forget_helper();
  }

  void read(bool processes, std::chrono::milliseconds deadline, std::function<void(DriverReading)> done);
  void ask(bool processes);
  bool start();
  void deadline_passed(std::uint64_t waiter, std::chrono::milliseconds deadline);
  void doom(std::string why);
  void heard();
  void answered(DriverReading reading);
  void ended();
  void rest(DriverReading reading, std::int64_t wait);
  void forget_helper();
  void answer_later(DriverReading reading);
  void finish(const DriverReading& reading);

  Loop& loop;
  std::string program, library;
  std::unique_ptr<DriverHelper> helper;
  AnswerReader answers;
  std::vector<Waiter> waiters;
  std::uint64_t next_id = 1, asked = 0;  // asked: the request under way, 0 for none
  std::string doomed;                    // why the helper was killed; its end has not been seen yet
  bool has_answered = false;             // this helper
  std::optional<DriverReading> resting;  // what is said until `not_before`, while no helper runs
  std::optional<DriverReading> refusal;  // the last answer, if it was that the driver says no
  std::int64_t started_at = 0, not_before = 0, wait = 0;
  Loop::TimerId later = 0;
};

void DriverSource::Impl::read(bool processes, std::chrono::milliseconds deadline, std::function<void(DriverReading)> done) {
  const std::uint64_t id = next_id++;
  const Loop::TimerId timer = loop.after(deadline, [this, id, deadline] { deadline_passed(id, deadline); });
  waiters.push_back({id, timer, std::move(done)});
  if (asked == 0 && later == 0) ask(processes);
}

void DriverSource::Impl::ask(bool processes) {
  if (!doomed.empty()) return answer_later(without_cards(State::silent, doomed));
  if (!helper && !start()) return;
  const std::uint64_t id = next_id++;
  asked = id;
  if (!helper->send(write_request({id, processes}))) doom("jipsa-nvml takes no more requests");
}

bool DriverSource::Impl::start() {
  if (resting && now_ns() < not_before) {
    answer_later(*resting);
    return false;
  }
  auto begun = DriverHelper::start(program, library);
  if (!begun) {
    rest(without_cards(State::failed, begun.error().what), longest_wait);
    answer_later(*resting);
    return false;
  }
  helper = std::move(*begun);
  answers = AnswerReader();
  has_answered = false;
  refusal.reset();
  started_at = now_ns();
  auto watched = loop.watch(helper->socket(), EPOLLIN, [this](std::uint32_t) { heard(); });
  if (watched) watched = loop.watch(helper->pidfd(), EPOLLIN, [this](std::uint32_t) { ended(); });
  if (watched) return true;
  forget_helper();
  rest(without_cards(State::failed, watched.error().what), longest_wait);
  answer_later(*resting);
  return false;
}

void DriverSource::Impl::deadline_passed(std::uint64_t id, std::chrono::milliseconds deadline) {
  const auto found = std::find_if(waiters.begin(), waiters.end(), [&](const Waiter& w) { return w.id == id; });
  if (found == waiters.end()) return;
  const auto done = std::move(found->done);
  waiters.erase(found);
  std::string why = "jipsa-nvml has not answered within " + std::to_string(deadline.count()) + " ms";
  const bool starting = !has_answered && now_ns() - started_at < first_answer;
  if (!doomed.empty()) {
    why = doomed + "; its end is not seen yet";
  } else if (starting) {
    why += ", it is starting";
  } else {
    doom(why);
  }
  done(without_cards(State::silent, std::move(why)));
}

// Kills the helper. What waits is answered when its end is seen, or at its own deadline: a process in a driver call can be
// unkillable.
void DriverSource::Impl::doom(std::string why) {
  if (!helper || !doomed.empty()) return;
  doomed = std::move(why);
  loop.unwatch(helper->socket());
  helper->kill();
}

void DriverSource::Impl::heard() {
  const auto text = helper->receive();
  if (!text) return doom("jipsa-nvml closed its output");
  std::vector<DriverAnswer> whole;
  if (const auto fed = answers.feed(*text, whole); !fed) return doom(fed.error().what);
  for (DriverAnswer& answer : whole) {
    if (answer.id != asked) continue;
    asked = 0;
    has_answered = true;
    return answered(std::move(answer.reading));
  }
}

void DriverSource::Impl::answered(DriverReading reading) {
  refusal.reset();
  if (reading.state == State::ok) wait = 0;
  if (reading.state == State::failed) refusal = reading;
  if (reading.state == State::none) {
    forget_helper();
    rest(reading, look_for_library);
  }
  finish(reading);
}

void DriverSource::Impl::ended() {
  const auto how = helper->reap();
  if (!how) return;
  // A helper that said no and then ended did so on purpose: its words explain more than its end.
  DriverReading reading = refusal ? *refusal : without_cards(State::silent, "jipsa-nvml ended: " + *how);
  if (!refusal && doomed.starts_with("jipsa-nvml has not")) reading.trouble = doomed + " and was killed";
  if (!refusal && doomed.starts_with("jipsa-nvml's answer")) reading.trouble = doomed;
  forget_helper();
  wait = std::clamp(2 * wait, first_wait, longest_wait);
  rest(reading, wait);
  if (!waiters.empty()) finish(reading);
}

void DriverSource::Impl::rest(DriverReading reading, std::int64_t for_ns) {
  resting = std::move(reading);
  not_before = now_ns() + for_ns;
}

void DriverSource::Impl::forget_helper() {
  if (helper) {
    loop.unwatch(helper->socket());
    loop.unwatch(helper->pidfd());
  }
  helper.reset();
  doomed.clear();
  asked = 0;
}

// Never from within read(): its caller has not returned yet.
void DriverSource::Impl::answer_later(DriverReading reading) {
  if (later != 0) return;
  later = loop.after(0ns, [this, reading = std::move(reading)] {
    later = 0;
    finish(reading);
  });
}

// Last in every path: a callback may ask again, or destroy this.
void DriverSource::Impl::finish(const DriverReading& reading) {
  const DriverReading result = reading;
  const auto ready = std::exchange(waiters, {});
  for (const Waiter& waiter : ready) loop.cancel(waiter.timer);
  for (const Waiter& waiter : ready) waiter.done(result);
}

DriverSource::DriverSource(Loop& loop, std::string helper, std::string library)
    : impl_(std::make_unique<Impl>(loop, std::move(helper), std::move(library))) {}

DriverSource::~DriverSource() = default;

void DriverSource::read(bool processes, std::chrono::milliseconds deadline, std::function<void(DriverReading)> done) {
  impl_->read(processes, deadline, std::move(done));
}

}  // namespace jipsa
