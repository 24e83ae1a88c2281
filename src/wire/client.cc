#include "wire/client.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <ctime>
#include <utility>

namespace jipsa {
namespace {

using std::chrono::milliseconds;
using SteadyClock = std::chrono::steady_clock;

constexpr std::size_t longest_headers = 64 * 1024;
constexpr std::size_t longest_body = std::size_t{1} << 30;
constexpr std::size_t read_size = 64 * 1024;

tl::unexpected<Error> garbled(const std::string& what) { return fail(Code::unreadable, what); }

bool same_word(std::string_view a, std::string_view b) {
  return a.size() == b.size() &&
         std::equal(a.begin(), a.end(), b.begin(), [](char x, char y) { return (x >= 'A' && x <= 'Z' ? x + 32 : x) == y; });
}

std::string_view trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r')) text.remove_suffix(1);
  return text;
}

// A whole unsigned number and nothing else; false otherwise.
bool read_number(std::string_view text, int base, std::size_t& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  return error == std::errc{} && end == text.data() + text.size() && !text.empty();
}

std::string request_text(const ClientRequest& request) {
  std::string out;
  out.reserve(200 + request.body.size());
  out += request.method + ' ' + request.target + " HTTP/1.1\r\nHost: jipsa\r\n";
  if (!request.last_event_id.empty()) out += "Last-Event-ID: " + request.last_event_id + "\r\n";
  if (request.method != "GET") {
    out += "Content-Type: application/json\r\nContent-Length: " + std::to_string(request.body.size()) + "\r\n";
  }
  out += "\r\n";
  out += request.body;
  return out;
}

}  // namespace

Result<void> AnswerReader::feed(std::string_view bytes) {
  if (stage_ == Stage::body && used_ == pending_.size()) {  // the common case, without a copy in between
    const std::size_t count = framing_ == Framing::length ? std::min(bytes.size(), left_) : bytes.size();
    answer.body.append(bytes.substr(0, count));
    if (framing_ == Framing::length && (left_ -= count) == 0) stage_ = Stage::done;
    if (answer.body.size() > longest_body) return garbled("the answer does not end");
    return {};
  }
  pending_.erase(0, used_);
  used_ = 0;
  pending_.append(bytes);
  while (stage_ != Stage::done) {
    const auto more = step();
    if (!more) return tl::make_unexpected(more.error());
    if (!*more) break;
    if (answer.body.size() > longest_body) return garbled("the answer does not end");
  }
  return {};
}

Result<void> AnswerReader::close() {
  if (stage_ == Stage::body && framing_ == Framing::until_close) stage_ = Stage::done;
  if (stage_ == Stage::done) return {};
  if (stage_ == Stage::headers && pending_.empty()) return fail(Code::unreachable, "the connection closed without an answer");
  return garbled("the answer is cut short");
}

void AnswerReader::take(std::size_t count) {
  answer.body.append(pending_, used_, count);
  used_ += count;
}

Result<bool> AnswerReader::step() {
  const std::size_t available = pending_.size() - used_;
  switch (stage_) {
    case Stage::headers: {
      if (pending_.find("\r\n\r\n") == std::string::npos) {
        if (pending_.size() > longest_headers) return garbled("the headers do not end");
        if (pending_.compare(0, std::min<std::size_t>(5, pending_.size()), "HTTP/", 0,
                             std::min<std::size_t>(5, pending_.size())) != 0) {
          return garbled("it is not HTTP");
        }
        return false;
      }
      if (const auto read = read_headers(); !read) return tl::make_unexpected(read.error());
      return true;
    }
    case Stage::body: {
      const std::size_t count = framing_ == Framing::length ? std::min(available, left_) : available;
      take(count);
      if (framing_ == Framing::length && (left_ -= count) == 0) stage_ = Stage::done;
      return false;
    }
    case Stage::chunk_data: {
      const std::size_t count = std::min(available, left_);
      take(count);
      if ((left_ -= count) > 0) return false;
      stage_ = Stage::chunk_end;
      return true;
    }
    case Stage::chunk_size:
    case Stage::chunk_end:
    case Stage::trailer:
      return read_chunk_line();
    case Stage::done:
      return false;
  }
  return false;
}

Result<bool> AnswerReader::read_chunk_line() {
  const std::size_t end = pending_.find('\n', used_);
  if (end == std::string::npos) {
    if (pending_.size() - used_ > longest_headers) return garbled("a chunk's line does not end");
    return false;
  }
  const std::string_view line = trim(std::string_view(pending_).substr(used_, end - used_));
  used_ = end + 1;
  if (stage_ == Stage::trailer) {
    if (line.empty()) stage_ = Stage::done;
  } else if (stage_ == Stage::chunk_end) {
    if (!line.empty()) return garbled("a chunk is longer than it says");
    stage_ = Stage::chunk_size;
  } else {
    if (!read_number(trim(line.substr(0, line.find(';'))), 16, left_) || left_ > longest_body)
      return garbled("a chunk has no size");
    stage_ = left_ == 0 ? Stage::trailer : Stage::chunk_data;
  }
  return true;
}

Result<void> AnswerReader::read_headers() {
  const std::size_t end = pending_.find("\r\n\r\n");
  std::string_view head = std::string_view(pending_).substr(0, end);
  const std::string_view first = head.substr(0, head.find("\r\n"));
  std::size_t status = 0;
  if (!first.starts_with("HTTP/1.") || first.size() < 12 || !read_number(first.substr(9, 3), 10, status))
    return garbled("it is not HTTP");
  answer.status = static_cast<int>(status);
  for (std::size_t at = first.size(); at < head.size();) {
    head.remove_prefix(std::min(at + 2, head.size()));
    const std::string_view line = head.substr(0, head.find("\r\n"));
    if (const auto read = read_header(line); !read) return read;
    at = line.size();
  }
  if (status >= 100 && status < 200) {  // a preliminary answer: the real one follows
    pending_.erase(0, end + 4);
    framing_ = Framing::until_close;
    return {};
  }
  used_ = end + 4;
  const bool empty = status == 204 || (framing_ == Framing::length && left_ == 0);
  stage_ = empty ? Stage::done : framing_ == Framing::chunked ? Stage::chunk_size : Stage::body;
  if (framing_ == Framing::length) answer.body.reserve(left_);
  return {};
}

Result<void> AnswerReader::read_header(std::string_view line) {
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) return garbled("a header has no colon");
  const std::string_view name = line.substr(0, colon), value = trim(line.substr(colon + 1));
  if (same_word(name, "transfer-encoding")) {
    if (!same_word(value, "chunked")) return garbled("a transfer encoding that is not understood");
    framing_ = Framing::chunked;
  } else if (same_word(name, "content-length") && framing_ != Framing::chunked) {
    if (!read_number(value, 10, left_) || left_ > longest_body) return garbled("Content-Length is not a length");
    framing_ = Framing::length;
  }
  return {};
}

ClientCall::~ClientCall() {
  if (fd_ >= 0) ::close(fd_);
}

ClientCall::ClientCall(ClientCall&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)), deadline_(other.deadline_), reader_(std::move(other.reader_)) {}

ClientCall& ClientCall::operator=(ClientCall&& other) noexcept {
  std::swap(fd_, other.fd_);
  deadline_ = other.deadline_;
  reader_ = std::move(other.reader_);
  return *this;
}

milliseconds ClientCall::remaining() const {
  const auto left = std::chrono::duration_cast<milliseconds>(deadline_ - SteadyClock::now());
  return std::max(left, milliseconds{0});
}

Result<ClientCall> ClientCall::start(const std::string& socket, const ClientRequest& request) {
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return fail(Code::io, std::string("socket: ") + std::strerror(errno));
  ClientCall call(fd);
  call.deadline_ = SteadyClock::now() + request.deadline;
  if (const auto connected = call.connect(socket); !connected) return tl::make_unexpected(connected.error());
  if (const auto sent = call.send(request_text(request)); !sent) return tl::make_unexpected(sent.error());
  return call;
}

Result<void> ClientCall::connect(const std::string& socket) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (socket.empty() || socket.size() >= sizeof address.sun_path) {
    return fail(Code::unreachable, "a socket's path has 1 to " + std::to_string(sizeof address.sun_path - 1) +
                                       " bytes, this one " + std::to_string(socket.size()) +
                                       "; name a shorter one with --socket");
  }
  std::memcpy(address.sun_path, socket.data(), socket.size());
  while (::connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    if (errno == EINTR) continue;
    if (errno != EAGAIN) return fail(Code::unreachable, std::strerror(errno));
    if (remaining().count() == 0) return fail(Code::timed_out, "too many wait to be let in");
    const timespec pause{0, 2'000'000};  // the daemon's queue of connections is full
    ::nanosleep(&pause, nullptr);
  }
  return {};
}

Result<void> ClientCall::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    } else if (errno == EAGAIN) {
      const auto patience = remaining();
      if (patience.count() == 0) return fail(Code::timed_out, "the request was not taken");
      pollfd wait{fd_, POLLOUT, 0};
      ::poll(&wait, 1, static_cast<int>(patience.count()));
    } else if (errno == EPIPE || errno == ECONNRESET) {
      return {};  // it has heard enough: its answer says why
    } else if (errno != EINTR) {
      return fail(Code::unreachable, std::strerror(errno));
    }
  }
  return {};
}

Result<bool> ClientCall::step(milliseconds patience) {
  if (reader_.done()) return true;
  const bool deadline_counts = !reader_.has_headers() || reader_.answer.status != 200;
  if (deadline_counts) patience = std::min(patience, remaining() + milliseconds{1});
  pollfd wait{fd_, POLLIN, 0};
  const int ready = ::poll(&wait, 1, static_cast<int>(patience.count()));
  if (ready <= 0) {
    if (deadline_counts && remaining().count() == 0) return fail(Code::timed_out, "no answer in time");
    return false;
  }
  std::array<char, read_size> buffer;  // not cleared: only the part that is filled costs anything
  const ssize_t got = ::recv(fd_, buffer.data(), buffer.size(), 0);
  if (got < 0) {
    if (errno == EAGAIN || errno == EINTR) return false;
    if (errno != ECONNRESET) return fail(Code::unreadable, std::strerror(errno));
  }
  const auto read = got <= 0 ? reader_.close() : reader_.feed({buffer.data(), static_cast<std::size_t>(got)});
  if (!read) return tl::make_unexpected(read.error());
  return reader_.done();
}

Result<ClientAnswer> call_daemon(const std::string& socket, const ClientRequest& request) {
  auto call = ClientCall::start(socket, request);
  if (!call) return tl::make_unexpected(call.error());
  const auto deadline = SteadyClock::now() + request.deadline;
  for (;;) {
    const auto left = std::chrono::duration_cast<milliseconds>(deadline - SteadyClock::now());
    if (left.count() < 0) return fail(Code::timed_out, "no whole answer in time");
    const auto done = call->step(left + milliseconds{1});
    if (!done) return tl::make_unexpected(done.error());
    if (*done) return std::move(call->reader().answer);
  }
}

}  // namespace jipsa
