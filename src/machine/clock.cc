#include "machine/clock.h"

#include <ctime>

namespace jipsa {

std::int64_t SystemClock::steady_ns() const {
  timespec t{};
  clock_gettime(CLOCK_BOOTTIME, &t);
  return static_cast<std::int64_t>(t.tv_sec) * 1'000'000'000 + t.tv_nsec;
}

std::int64_t SystemClock::wall_ms() const {
  timespec t{};
  clock_gettime(CLOCK_REALTIME, &t);
  return static_cast<std::int64_t>(t.tv_sec) * 1'000 + t.tv_nsec / 1'000'000;
}

}  // namespace jipsa
