// Time, as an interface so that tests can hold it still.
#pragma once

#include <cstdint>

namespace jipsa {

class Clock {
 public:
  virtual ~Clock() = default;
  [[nodiscard]] virtual std::int64_t steady_ns() const = 0;  // CLOCK_BOOTTIME; never goes back
  [[nodiscard]] virtual std::int64_t wall_ms() const = 0;    // milliseconds since 1970, UTC; may jump
};

class SystemClock final : public Clock {
 public:
  [[nodiscard]] std::int64_t steady_ns() const override;
  [[nodiscard]] std::int64_t wall_ms() const override;
};

}  // namespace jipsa
