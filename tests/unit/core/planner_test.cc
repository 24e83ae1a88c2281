#include "machine.h"

namespace jipsa::test {
namespace {

TEST(Planner, NeverFitsMoreThanThePoolCanGive) {
  Machine m;
  m.gpu(24, 0.4);
  m.look(0);
  m.submit(1, 1, {{"gpu", g(23.6)}});
  EXPECT_EQ(codes(m, 1), "never_fits");
  m.submit(1, 2, {{"gpu7", g(1)}});
  EXPECT_EQ(codes(m, 2), "never_fits");
  m.submit(1, 3, {{"ram", g(63)}});
  EXPECT_EQ(codes(m, 3), "never_fits");
}

TEST(Planner, BeforeTheFirstLookNothingThatNeedsMemoryStarts) {
  Machine m;
  const auto out = m.submit(0, 1, {{"gpu", g(1)}});
  EXPECT_FALSE(admitted(out, 1));
  EXPECT_EQ(codes(m, 1), "stale");
  EXPECT_TRUE(admitted(m.submit(0, 2, {}), 2));
}

TEST(Planner, HigherPriorityGoesFirstAndEqualsByAge) {
  Machine m;
  m.gpu(24, 0.4);
  m.look(0);
  m.step(0, Pause{});
  m.submit(1, 1, {{"gpu", g(20)}});
  m.submit(1, 2, {{"gpu", g(20)}}, 5);
  m.submit(1, 3, {{"gpu", g(20)}}, 5);
  EXPECT_EQ(codes(m, 3), "paused");
  const auto out = m.step(2, Resume{});
  EXPECT_TRUE(admitted(out, 2));
  EXPECT_EQ(codes(m, 3), "running_job job:2");
  EXPECT_EQ(codes(m, 1), "order job:3");
}

TEST(Planner, ASmallJobPassesOnlyBesideWhatTheBigOneNeeds) {
  Machine m;
  m.gpu(24, 0.4);
  m.look(0);
  m.submit(1, 1, {{"gpu", g(12)}});
  m.step(1, Started{1, {71}});
  m.gpus[0].used = g(12.4);
  m.gpus[0].processes = std::vector<DeviceProcess>{{71, g(12)}};
  m.process(71, "train", 1);
  m.look(2);
  m.submit(3, 2, {{"gpu", g(20)}});
  EXPECT_EQ(codes(m, 2), "running_job job:1");
  EXPECT_TRUE(admitted(m.submit(3, 3, {{"gpu", g(2)}}), 3));   // 20 + 2 fit together once job 1 has ended
  EXPECT_FALSE(admitted(m.submit(3, 4, {{"gpu", g(2)}}), 4));  // 20 + 2 + 2 do not
  EXPECT_EQ(codes(m, 4), "order job:2");
  EXPECT_TRUE(admitted(m.submit(3, 5, {{"ram", g(2)}}), 5));
}

TEST(Planner, SmallJobsDoNotKeepABigOneWaitingForEver) {
  Machine m;
  m.gpu(24, 0.4);
  m.look(0);
  m.submit(0, 1, {{"gpu", g(6)}});
  m.submit(0, 2, {{"gpu", g(22)}});
  Seconds t = 1;
  for (JobId id = 3; id < 60; ++id, t += 1) { EXPECT_FALSE(admitted(m.submit(t, id, {{"gpu", g(6)}}), id)); }
  EXPECT_TRUE(admitted(m.step(t, Exit{1, 0}), 2));
}

TEST(Planner, DependenciesWaitForAGoodEnd) {
  Machine m;
  m.look(0);
  m.submit(0, 1, {});
  m.submit(0, 2, {}, 0, {}, {}, {1});
  EXPECT_EQ(codes(m, 2), "dependency job:1");
  EXPECT_TRUE(admitted(m.step(1, Exit{1, 0}), 2));
  m.submit(2, 3, {}, 0, {}, {}, {2});
  EXPECT_FALSE(admitted(m.step(3, Exit{2, 1}), 3));
  EXPECT_EQ(codes(m, 3), "dependency job:2");
}

TEST(Planner, HeldJobsAreLeftAloneAndReserveNothing) {
  Machine m;
  m.gpu(24, 0.4);
  m.look(0);
  m.step(0, Pause{});
  m.submit(0, 1, {{"gpu", g(20)}});
  m.step(0, Hold{1});
  const auto out = m.step(1, Resume{});
  EXPECT_FALSE(admitted(out, 1));
  EXPECT_TRUE(admitted(m.submit(1, 2, {{"gpu", g(20)}}), 2));
  EXPECT_EQ(codes(m, 1), "held");
}

TEST(Planner, ACancelledJobIsGoneAndARunningOneHoldsItsPromiseUntilItsExit) {
  Machine m;
  m.gpu(24, 0.4);
  m.look(0);
  m.submit(0, 1, {{"gpu", g(20)}});
  m.submit(0, 2, {{"gpu", g(20)}});
  m.step(1, Cancel{1});
  EXPECT_EQ(codes(m, 2), "running_job job:1");
  EXPECT_TRUE(admitted(m.step(2, Exit{1, std::nullopt}), 2));
  m.submit(3, 3, {{"gpu", g(20)}});
  m.step(3, Cancel{3});
  EXPECT_EQ(codes(m, 3), "-");
}

TEST(Planner, AnAdoptedJobIsCountedAndNeverAdmittedAgain) {
  Machine m;
  m.step(0, Pause{});
  m.submit(0, 1, {{"gpu0", g(20)}});
  m.step(0, Started{1, {71}});
  m.submit(0, 2, {});
  m.step(0, Started{2, {72}});
  m.step(0, Resume{});
  m.gpu(24, 0.4);
  m.look(1);
  m.submit(2, 3, {{"gpu", g(10)}});
  EXPECT_EQ(codes(m, 3), "running_job job:1");
  EXPECT_FALSE(admitted(m.all, 1));
  EXPECT_FALSE(admitted(m.all, 2));
}

TEST(Planner, AnyGpuPrefersACardWithoutAJob) {
  Machine m;
  m.gpu(24, 0.4);
  m.gpu(48, 0.4);
  m.look(0);
  EXPECT_EQ(only<Admit>(m.submit(0, 1, {{"gpu", g(4)}})).at(0).pool, "gpu0");
  EXPECT_EQ(only<Admit>(m.submit(0, 2, {{"gpu", g(4)}})).at(0).pool, "gpu1");
  EXPECT_EQ(only<Admit>(m.submit(0, 3, {{"gpu", g(30)}})).at(0).pool, "gpu1");
}

TEST(Planner, WaitsAreSaidOnceUntilTheyChange) {
  Machine m;
  m.gpu(24, 20, {{9, g(19)}});
  m.process(9, "game", 1);
  m.look(0);
  EXPECT_EQ(only<Wait>(m.submit(0, 1, {{"gpu", g(10)}})).size(), 1U);
  for (int t = 1; t < 10; ++t) EXPECT_TRUE(only<Wait>(m.look(t)).empty());
  EXPECT_EQ(codes(m, 1), "other_process process:game");
  const auto reason = m.engine.reason(1);
  ASSERT_TRUE(reason);
  EXPECT_EQ(reason->held, g(19));
  EXPECT_EQ(reason->short_by, g(10) - (g(4) - Bytes{536870912}));
}

}  // namespace
}  // namespace jipsa::test
