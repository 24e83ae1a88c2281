// The one thread that owns all state waits here: file descriptors, timers, and work posted by other threads.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>

#include "core/result.h"

namespace jipsa {

class Loop {
 public:
  using Ready = std::function<void(std::uint32_t epoll_events)>;
  using TimerId = std::uint64_t;

  static Result<std::unique_ptr<Loop>> make();
  ~Loop();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  // Watches `fd` (not owned) until unwatch. A second watch on the same fd replaces the first. `events` as EPOLLIN, EPOLLOUT.
  // A callback may watch and unwatch any fd, itself included.
  Result<void> watch(int fd, std::uint32_t events, Ready ready);
  void unwatch(int fd);

  // Runs `f` once, on this thread, after `delay` of CLOCK_BOOTTIME (suspend counts). Ids are never 0 and never reused.
  TimerId after(std::chrono::nanoseconds delay, std::function<void()> f);
  void cancel(TimerId id);  // of a timer that has run or was cancelled: nothing happens

  void post(std::function<void()> f);  // the only call that any thread may make: runs `f` on the loop's thread, in order

  void run();   // until stop()
  void stop();  // from the loop's thread (others: post it)

 private:
  Loop();
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace jipsa
