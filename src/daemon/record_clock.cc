#include "daemon/record_clock.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace jipsa {

RecordClock::RecordClock(const Clock& clock, Seconds start)
    : clock_(clock),
      origin_ns_(clock.steady_ns() - std::llround(start * 1e9)),
      last_ms_(std::llround(start * 1000)),
      offset_ms_(clock.wall_ms() - last_ms_) {}

Seconds RecordClock::now() {
  last_ms_ = std::max(last_ms_, (clock_.steady_ns() - origin_ns_ + 500000) / 1000000);
  return static_cast<double>(last_ms_) / 1000.0;
}

std::int64_t RecordClock::offset_ms() {
  const std::int64_t seen = clock_.wall_ms() - (clock_.steady_ns() - origin_ns_) / 1000000;
  // The wall clock is slewed all the time. Taking each reading would make one and the same instant read differently each time it
  // is shown, so only a real step of the clock is followed.
  if (std::llabs(seen - offset_ms_) > 500) offset_ms_ = seen;
  return offset_ms_;
}

std::int64_t RecordClock::to_wall_ms(Seconds t) { return offset_ms() + std::llround(t * 1000); }

std::optional<std::int64_t> RecordClock::to_wall_ms(const std::optional<Seconds>& t) {
  if (!t) return std::nullopt;
  return to_wall_ms(*t);
}

Seconds RecordClock::from_wall_ms(std::int64_t wall_ms) { return static_cast<double>(wall_ms - offset_ms()) / 1000.0; }

}  // namespace jipsa
