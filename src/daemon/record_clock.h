// The recording's clock: seconds since the recording began, in whole milliseconds, never going back.
#pragma once

#include <cstdint>
#include <optional>

#include "core/model.h"
#include "machine/clock.h"

namespace jipsa {

class RecordClock {
 public:
  // `start`: what the clock says now. A daemon that goes on with a saved state goes on with its clock too, for that state's
  // times.
  RecordClock(const Clock& clock, Seconds start);

  Seconds now();
  [[nodiscard]] std::int64_t wall_ms() const { return clock_.wall_ms(); }
  [[nodiscard]] std::int64_t steady_ns() const { return clock_.steady_ns(); }
  std::int64_t to_wall_ms(Seconds t);
  std::optional<std::int64_t> to_wall_ms(const std::optional<Seconds>& t);
  Seconds from_wall_ms(std::int64_t wall_ms);

 private:
  std::int64_t offset_ms();  // wall clock at t = 0

  const Clock& clock_;
  std::int64_t origin_ns_;
  std::int64_t last_ms_;
  std::int64_t offset_ms_;
};

}  // namespace jipsa
