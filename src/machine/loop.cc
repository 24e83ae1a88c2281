#include "machine/loop.h"

#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <deque>
#include <limits>
#include <map>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "machine/clock.h"

namespace jipsa {

namespace {

using When = std::pair<std::int64_t, Loop::TimerId>;  // the id keeps timers of one instant in the order they were made

// What epoll hands back: the fd, and which watch of that fd it was. An event that was collected before its fd was unwatched,
// closed and given out again must not reach the newcomer.
std::uint64_t tag(int fd, std::uint32_t generation) { return (std::uint64_t{generation} << 32) | static_cast<std::uint32_t>(fd); }

tl::unexpected<Error> failed(const char* call) { return fail(Code::io, fmt::format("{}: {}", call, std::strerror(errno))); }

}  // namespace

struct Loop::Impl {
  struct Watch {
    std::uint32_t generation = 0;
    std::shared_ptr<Ready> ready;  // shared: a callback may unwatch itself while it runs
  };

  int epoll = -1, timer = -1, wake = -1;
  bool stopping = false;
  std::uint32_t generations = 0;
  std::unordered_map<int, Watch> watches;

  TimerId last_timer = 0;
  std::map<When, std::function<void()>> timers;
  std::unordered_map<TimerId, std::int64_t> due;
  std::int64_t armed = 0;  // what the timerfd is set to; 0: not set

  std::mutex mutex;
  std::deque<std::function<void()>> posted;  // guarded by mutex
  std::deque<std::function<void()>> taken;   // posts being run; what stop() leaves over is run by the next run()
  SystemClock clock;

  ~Impl() {
    for (int fd : {epoll, timer, wake})
      if (fd >= 0) close(fd);
  }

  Result<void> open() {
    epoll = epoll_create1(EPOLL_CLOEXEC);
    if (epoll < 0) return failed("epoll_create1");
    timer = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
    if (timer < 0) return failed("timerfd_create");
    wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (wake < 0) return failed("eventfd");
    for (int fd : {timer, wake}) {
      epoll_event event{EPOLLIN, {.u64 = tag(fd, 0)}};
      if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) != 0) return failed("epoll_ctl");
    }
    return {};
  }

  // One system call a turn at most, and none while the nearest timer stays the same.
  void arm() {
    const std::int64_t next = timers.empty() ? 0 : std::max<std::int64_t>(timers.begin()->first.first, 1);
    if (next == armed) return;
    itimerspec spec{};
    spec.it_value.tv_sec = next / 1'000'000'000;
    spec.it_value.tv_nsec = next % 1'000'000'000;
    timerfd_settime(timer, TFD_TIMER_ABSTIME, &spec, nullptr);
    armed = next;
  }

  static void drain(int fd) {
    std::uint64_t count = 0;
    [[maybe_unused]] const ssize_t n = read(fd, &count, sizeof count);
  }

  // Those due now; timers that these make are left for the next turn, so that a timer of 0 can't starve the rest.
  void run_timers() {
    drain(timer);
    armed = 0;
    const std::int64_t now = clock.steady_ns();
    const TimerId newest = last_timer;
    auto at = timers.begin();
    while (!stopping && at != timers.end() && at->first.first <= now) {
      if (at->first.second > newest) {
        ++at;
        continue;
      }
      const When when = at->first;
      auto f = std::move(at->second);
      timers.erase(at);
      due.erase(when.second);
      f();
      at = timers.upper_bound(when);
    }
  }

  void run_posted() {
    drain(wake);
    {
      const std::lock_guard lock(mutex);
      for (auto& f : posted) taken.push_back(std::move(f));
      posted.clear();
    }
    for (std::size_t n = taken.size(); n > 0 && !stopping; --n) {
      auto f = std::move(taken.front());
      taken.pop_front();
      f();
    }
  }

  void dispatch(const epoll_event& event) {
    const int fd = static_cast<int>(static_cast<std::uint32_t>(event.data.u64));
    if (fd == timer) return run_timers();
    if (fd == wake) return run_posted();
    const auto found = watches.find(fd);
    if (found == watches.end() || tag(fd, found->second.generation) != event.data.u64) return;
    const auto ready = found->second.ready;
    (*ready)(event.events);
  }
};

Loop::Loop() : impl_(std::make_unique<Impl>()) {}
Loop::~Loop() = default;

Result<std::unique_ptr<Loop>> Loop::make() {
  std::unique_ptr<Loop> loop(new Loop);
  if (auto opened = loop->impl_->open(); !opened) return tl::unexpected(opened.error());
  return loop;
}

Result<void> Loop::watch(int fd, std::uint32_t events, Ready ready) {
  const std::uint32_t generation = ++impl_->generations;
  epoll_event event{events, {.u64 = tag(fd, generation)}};
  // An fd that was closed without unwatch has left epoll by itself, and its number may be in use again: then MOD finds nothing.
  int rc = impl_->watches.contains(fd) ? epoll_ctl(impl_->epoll, EPOLL_CTL_MOD, fd, &event) : -1;
  if (rc != 0) rc = epoll_ctl(impl_->epoll, EPOLL_CTL_ADD, fd, &event);
  if (rc != 0) {
    const int error = errno;
    impl_->watches.erase(fd);
    return fail(Code::io, fmt::format("watch fd {}: {}", fd, std::strerror(error)));
  }
  impl_->watches[fd] = {generation, std::make_shared<Ready>(std::move(ready))};
  return {};
}

void Loop::unwatch(int fd) {
  if (impl_->watches.erase(fd) != 0) epoll_ctl(impl_->epoll, EPOLL_CTL_DEL, fd, nullptr);
}

Loop::TimerId Loop::after(std::chrono::nanoseconds delay, std::function<void()> f) {
  const std::int64_t now = impl_->clock.steady_ns();
  const std::int64_t wait = std::max<std::int64_t>(delay.count(), 0);
  const std::int64_t when =
      wait > std::numeric_limits<std::int64_t>::max() - now ? std::numeric_limits<std::int64_t>::max() : now + wait;
  const TimerId id = ++impl_->last_timer;
  impl_->timers.emplace(When{when, id}, std::move(f));
  impl_->due.emplace(id, when);
  return id;
}

void Loop::cancel(TimerId id) {
  const auto found = impl_->due.find(id);
  if (found == impl_->due.end()) return;
  auto timer = impl_->timers.extract(When{found->second, id});  // destroyed last: what it holds may call cancel
  impl_->due.erase(found);
}

void Loop::post(std::function<void()> f) {
  bool first = false;
  {
    const std::lock_guard lock(impl_->mutex);
    first = impl_->posted.empty();
    impl_->posted.push_back(std::move(f));
  }
  if (!first) return;  // whoever posted the first has woken the loop
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t n = write(impl_->wake, &one, sizeof one);
}

void Loop::run() {
  impl_->stopping = false;
  if (!impl_->taken.empty()) impl_->run_posted();
  std::array<epoll_event, 64> events{};
  while (!impl_->stopping) {
    impl_->arm();
    const int n = epoll_wait(impl_->epoll, events.data(), static_cast<int>(events.size()), -1);
    for (int i = 0; i < n && !impl_->stopping; ++i) impl_->dispatch(events[static_cast<std::size_t>(i)]);
  }
}

void Loop::stop() { impl_->stopping = true; }

}  // namespace jipsa
