#include "daemon/record_clock.h"

#include <gtest/gtest.h>

namespace jipsa {
namespace {

class HeldClock final : public Clock {
 public:
  std::int64_t steady = 5'000'000'000, wall = 1'000'000;
  [[nodiscard]] std::int64_t steady_ns() const override { return steady; }
  [[nodiscard]] std::int64_t wall_ms() const override { return wall; }
};

TEST(RecordClock, CountsWholeMillisecondsFromItsStart) {
  HeldClock held;
  RecordClock clock(held, 2.5);
  EXPECT_DOUBLE_EQ(clock.now(), 2.5);
  held.steady += 1'234'600'000;
  EXPECT_DOUBLE_EQ(clock.now(), 3.735);
}

TEST(RecordClock, NeverGoesBack) {
  HeldClock held;
  RecordClock clock(held, 0);
  held.steady += 9'000'000'000;
  EXPECT_DOUBLE_EQ(clock.now(), 9);
  held.steady -= 3'000'000'000;
  EXPECT_DOUBLE_EQ(clock.now(), 9);
}

TEST(RecordClock, AnInstantReadsTheSameWhileTheWallClockIsSlewed) {
  HeldClock held;
  RecordClock clock(held, 0);
  EXPECT_EQ(clock.to_wall_ms(1.0), 1'001'000);
  held.steady += 1'000'000'000;
  held.wall += 1'003;
  EXPECT_EQ(clock.to_wall_ms(1.0), 1'001'000);
  EXPECT_DOUBLE_EQ(clock.from_wall_ms(1'001'000), 1.0);
}

TEST(RecordClock, AStepOfTheWallClockIsFollowed) {
  HeldClock held;
  RecordClock clock(held, 0);
  held.wall += 3'600'000;
  EXPECT_EQ(clock.to_wall_ms(1.0), 4'601'000);
}

}  // namespace
}  // namespace jipsa
