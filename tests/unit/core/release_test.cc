#include "machine.h"

namespace jipsa::test {
namespace {

// A card of 32 GiB on which an idle ComfyUI, measured, holds `held`; it uses no CPU time while idle.
Machine with_comfyui(double held, Policy policy = {}) {
  Machine m(std::move(policy));
  m.gpu(32, held + 0.5, {{1, g(held)}});
  m.process(1, "python3", 4, 100);
  m.tenant("comfyui", "comfyui", 1);
  m.look(0);
  m.look(1);
  return m;
}

void hold(Machine& m, double held) {
  m.gpus[0].used = g(held + 0.5);
  m.gpus[0].processes = std::vector<DeviceProcess>{{1, g(held)}};
}

Policy automatic() {
  Policy p;
  p.tenants["comfyui"].restart = RestartLeave::automatic;
  p.tenants["comfyui"].floor["gpu0"] = g(0.5);
  return p;
}

std::string run(Machine& m, Seconds from, Seconds to, Seconds every = 0.5) {
  std::string text;
  for (Seconds t = from; t <= to; t += every) {
    const std::string v = verdicts(m.look(t));
    if (!v.empty()) text += (text.empty() ? "" : ",") + v;
  }
  return text;
}

TEST(Release, PartialWhenSomeStaysAboveTheFloor) {
  Policy p;
  p.tenants["comfyui"].floor["gpu0"] = g(0.5);
  Machine m = with_comfyui(16, p);
  m.submit(2, 1, {{"gpu", g(30)}});
  m.step(2.1, Released{"comfyui", true, 200, {}});
  hold(m, 2.9);
  m.processes[0].cpu = 101;
  EXPECT_EQ(run(m, 2.5, 33), "gpu0:partial");
  EXPECT_EQ(codes(m, 1), "kept tenant:comfyui");
  EXPECT_EQ(only<Release>(m.all).size(), 1U);
}

TEST(Release, ARefusalIsAVerdictAtOnceAndIsNotRepeated) {
  Machine m = with_comfyui(16);
  m.submit(2, 1, {{"gpu", g(25)}});
  EXPECT_EQ(verdicts(m.step(2.1, Released{"comfyui", false, 405, "no such route"})), "gpu0:refused");
  run(m, 2.5, 300);
  EXPECT_EQ(only<Release>(m.all).size(), 1U);
  EXPECT_EQ(codes(m, 1), "kept tenant:comfyui");
  EXPECT_TRUE(only<Restart>(m.all).empty());
  run(m, 300, 610, 5);
  EXPECT_EQ(only<Release>(m.all).size(), 2U);  // after the cooldown, once more
}

TEST(Release, ARequestWithoutAnswerMayStillBeCarriedOut) {
  Machine m = with_comfyui(16);
  m.submit(2, 1, {{"gpu", g(25)}});
  EXPECT_EQ(verdicts(m.step(7, Released{"comfyui", false, std::nullopt, "timed out"})), "gpu0:unreachable");
  hold(m, 0.4);
  const auto out = m.look(12);
  EXPECT_EQ(verdicts(out), "gpu0:late");
  EXPECT_TRUE(admitted(out, 1));
}

TEST(Release, ADeadWorkerIsToldFromMemoryThatIsKept) {
  Machine m = with_comfyui(16, automatic());
  m.submit(2, 1, {{"gpu", g(25)}});
  m.step(2.1, Released{"comfyui", true, 200, {}});
  EXPECT_EQ(run(m, 2.5, 18), "gpu0:not_acted");
  EXPECT_EQ(only<Restart>(m.all).size(), 1U);
}

TEST(Release, CpuTimeOfAnsweringOurLooksIsNoSignOfActing) {
  Machine m = with_comfyui(16);
  for (int t = 2; t < 10; ++t) {  // 2 % of a core while idle
    m.processes[0].cpu = 100 + 0.02 * t;
    m.look(t);
  }
  m.submit(10, 1, {{"gpu", g(25)}});
  m.step(10.1, Released{"comfyui", true, 200, {}});
  std::string seen;
  for (int t = 11; t < 28; ++t) {
    m.processes[0].cpu = 100 + 0.02 * t;
    seen += verdicts(m.look(t));
  }
  EXPECT_EQ(seen, "gpu0:not_acted");
}

TEST(Release, NoVerdictOnAPoolThatCannotBeRead) {
  Machine m = with_comfyui(16);
  m.submit(2, 1, {{"gpu", g(25)}});
  m.step(2.1, Released{"comfyui", true, 200, {}});
  m.processes[0].cpu = 101;
  m.look(2.5);
  m.gpus[0].used.reset();
  EXPECT_EQ(run(m, 3, 60), "");
  m.gpus[0].used = g(0.9);
  m.gpus[0].processes = std::vector<DeviceProcess>{{1, g(0.4)}};
  EXPECT_EQ(run(m, 61, 62), "gpu0:late");
}

TEST(Release, WhatIsLeftAfterAGoodOneIsItsFloor) {
  Machine m = with_comfyui(16);
  m.submit(2, 1, {{"gpu", g(25)}});
  m.step(2.1, Released{"comfyui", true, 200, {}});
  hold(m, 0.6);
  EXPECT_EQ(run(m, 2.5, 5), "gpu0:released");
  m.step(5, Exit{1, 0});
  ASSERT_EQ(m.engine.tenants().at(0).floor.count("gpu0"), 1U);
  EXPECT_EQ(m.engine.tenants().at(0).floor.at("gpu0"), g(0.6));
  // Nothing above the floor: it is not asked again, and the wait is not its doing.
  m.submit(6, 2, {{"gpu", g(31.3)}});
  EXPECT_EQ(only<Release>(m.all).size(), 1U);
}

TEST(Release, HostMemoryThatStayedWhenACardWasEmptiedIsNoFloor) {
  Machine m = with_comfyui(16);
  m.submit(2, 1, {{"gpu", g(25)}});
  m.step(2.1, Released{"comfyui", true, 200, {}});
  hold(m, 0.6);
  run(m, 2.5, 8);
  EXPECT_EQ(m.engine.tenants().at(0).floor.count("ram"), 0U);
}

TEST(Release, AKeptServerIsNotAsked) {
  Policy p;
  p.tenants["comfyui"].keep = true;
  Machine m = with_comfyui(16, p);
  m.submit(2, 1, {{"gpu", g(25)}});
  run(m, 2.5, 30);
  EXPECT_TRUE(only<Release>(m.all).empty());
  EXPECT_EQ(codes(m, 1), "leftover tenant:comfyui");
}

TEST(Release, AServerThatDoesNotSayWhetherItIsIdleIsNotAsked) {
  Machine m = with_comfyui(16);
  m.tenants[0].running.reset();
  m.look(2);
  m.submit(3, 1, {{"gpu", g(25)}});
  run(m, 3, 30);
  EXPECT_TRUE(only<Release>(m.all).empty());
}

TEST(Release, UnsafeWithLeaveIsARestart) {
  Machine m = with_comfyui(22, automatic());
  m.ram.available = g(9);
  m.look(2);
  m.submit(3, 1, {{"gpu", g(20)}});
  EXPECT_TRUE(only<Release>(m.all).empty());
  ASSERT_EQ(only<Restart>(m.all).size(), 1U);
  run(m, 4, 60);
  EXPECT_EQ(only<Restart>(m.all).size(), 1U);
}

TEST(Release, AFailedRestartIsNotRepeatedAtOnce) {
  Machine m = with_comfyui(22, automatic());
  m.ram.available = g(9);
  m.look(2);
  m.submit(3, 1, {{"gpu", g(20)}});
  m.step(20, Restarted{"comfyui", false});
  run(m, 21, 300, 1);
  EXPECT_EQ(only<Restart>(m.all).size(), 1U);
}

TEST(Release, ADrivenServerIsNotAskedBetweenItsPrompts) {
  Machine m = with_comfyui(4);
  m.submit(2, 1, {{"gpu", g(16)}}, 0, "comfyui", "video");
  hold(m, 16);
  m.look(3);
  m.submit(4, 2, {{"gpu", g(20)}});
  run(m, 4, 60);
  EXPECT_TRUE(only<Release>(m.all).empty());
  EXPECT_EQ(codes(m, 2), "running_job job:1");
}

TEST(Release, ASecondServerIsAskedOnlyWhenTheFirstDidNotSuffice) {
  Machine m;
  m.gpu(24, 20.5, {{1, g(12)}, {2, g(8)}});
  m.process(1, "python3", 2, 10);
  m.process(2, "python3", 2, 10);
  m.tenant("a", "http", 1);
  m.tenant("b", "http", 2);
  m.look(0);
  m.submit(1, 1, {{"gpu", g(10)}});  // lacks 7: b, the smaller, suffices
  ASSERT_EQ(only<Release>(m.all).size(), 1U);
  EXPECT_EQ(only<Release>(m.all).at(0).tenant, "b");
  m.step(1.1, Released{"b", false, 500, "no"});
  ASSERT_EQ(only<Release>(m.all).size(), 2U);
  EXPECT_EQ(only<Release>(m.all).at(1).tenant, "a");
}

TEST(Release, TwoTogetherWhenNeitherSuffices) {
  Machine m;
  m.gpu(24, 20.5, {{1, g(10)}, {2, g(10)}});
  m.process(1, "python3", 2);
  m.process(2, "python3", 2);
  m.tenant("a", "http", 1);
  m.tenant("b", "http", 2);
  m.look(0);
  m.submit(1, 1, {{"gpu", g(18)}});
  EXPECT_EQ(only<Release>(m.all).size(), 2U);
}

TEST(Release, NobodyIsAskedWhenItWouldNotHelp) {
  Machine m;
  m.gpu(24, 22, {{1, g(4)}, {9, g(17)}});
  m.process(1, "python3", 2);
  m.process(9, "game", 2);
  m.tenant("a", "http", 1);
  m.look(0);
  m.submit(1, 1, {{"gpu", g(10)}});
  EXPECT_TRUE(only<Release>(m.all).empty());
  EXPECT_EQ(codes(m, 1), "other_process process:game");
}

TEST(Release, ByHandIgnoresGraceAndCooldownButNotWork) {
  Machine m = with_comfyui(16);
  EXPECT_EQ(only<Release>(m.step(2, Ask{"comfyui"})).size(), 1U);
  EXPECT_TRUE(only<Release>(m.step(3, Ask{"comfyui"})).empty());  // being watched
  m.step(3.1, Released{"comfyui", false, 405, {}});
  EXPECT_EQ(only<Release>(m.step(4, Ask{"comfyui"})).size(), 1U);
  m.step(4.1, Released{"comfyui", false, 405, {}});
  m.tenants[0].running = 1;
  m.look(5);
  EXPECT_TRUE(only<Release>(m.step(6, Ask{"comfyui"})).empty());
}

TEST(Release, AtTheEndOfABundleAsSoonAsALookShowsItIdle) {
  Machine m = with_comfyui(0.5);
  m.submit(2, 1, {{"gpu", g(16)}}, 0, "comfyui", "video");
  m.tenants[0].running = 1;
  m.tenants[0].last_used.reset();
  hold(m, 16);
  m.look(3);
  EXPECT_TRUE(only<Release>(m.step(4, Exit{1, 0})).empty());  // the last look still showed it at work
  m.tenants[0].running = 0;
  const auto out = only<Release>(m.look(4.25));
  ASSERT_EQ(out.size(), 1U);
  EXPECT_FALSE(out[0].job);
  EXPECT_EQ(m.engine.tenants().at(0).left_by, 1);
}

TEST(Release, TheSameBundleFindsItsModelsThere) {
  Machine m = with_comfyui(0.5);
  m.submit(2, 1, {{"gpu", g(28)}}, 0, "comfyui", "video");
  m.submit(2, 2, {{"gpu", g(28)}}, 0, "comfyui", "video");
  hold(m, 28);
  m.look(3);
  EXPECT_TRUE(admitted(m.step(4, Exit{1, 0}), 2));
  EXPECT_TRUE(only<Release>(m.all).empty());
}

TEST(Release, WhatADriverTookBetweenTwoLooksIsNotFree) {
  Machine m = with_comfyui(0.5);
  m.submit(2, 1, {{"gpu", g(15)}}, 0, "comfyui", "video");
  const auto out = m.step(3, Exit{1, 0});  // it loaded 12 GiB and ended, and no look has seen that
  ASSERT_EQ(only<Release>(out).size(), 1U);
  EXPECT_FALSE(admitted(m.submit(3.1, 2, {{"gpu", g(25)}}), 2));
  hold(m, 12.5);
  EXPECT_FALSE(admitted(m.look(3.2), 2));
  m.step(3.3, Released{"comfyui", true, 200, {}});
  hold(m, 0.5);
  m.processes[0].cpu = 101;
  EXPECT_TRUE(admitted(m.look(4), 2));
  run(m, 4.5, 8);
  EXPECT_EQ(verdicts(m.all), "gpu0:released");
  EXPECT_EQ(only<Verdict>(m.all).at(0).before, g(12.5));
}

TEST(Release, AServerThatIsBeingKilledHasNotGivenAnythingBack) {
  Machine m;
  m.ram.available = g(20);
  m.process(1, "python3", 10, 100);
  m.tenant("comfyui", "comfyui", 1);
  m.look(0);
  m.submit(1, 1, {{"ram", g(24)}});
  m.step(1.1, Released{"comfyui", true, 200, {}});
  m.ram.available = g(30);
  m.processes[0].rss_anon.reset();  // its pid is still there, its memory is not
  m.processes[0].rss_shmem.reset();
  EXPECT_EQ(verdicts(m.look(1.5)), "");
  m.processes.clear();
  m.tenants[0].pid.reset();
  m.tenants[0].reachable = false;
  EXPECT_EQ(verdicts(m.look(2)), "ram:died");
  EXPECT_EQ(m.engine.tenants().at(0).floor.count("ram"), 0U);
}

TEST(Release, WorkSeenOnceIsNotWorkAtEveryLookAfterIt) {
  Machine m = with_comfyui(16);
  m.tenants[0].running = 1;
  m.look(2);
  for (Seconds t = 2.25; t < 4; t += 0.25)
    m.step(t, Observation{std::vector<Pool>{m.gpus[0], m.ram}, std::nullopt, std::nullopt});
  m.tenants[0].running = 0;
  m.tenants[0].last_used = 2.5;
  m.look(4);
  EXPECT_EQ(m.engine.tenants().at(0).idle_since, 2.5);
}

TEST(Release, TheIdleRateIsMeasuredBetweenReadingsOfTheProcesses) {
  Machine m = with_comfyui(16);
  const auto pools_only = [&](Seconds t) {
    m.step(t, Observation{std::vector<Pool>{m.gpus[0], m.ram}, std::nullopt, std::nullopt});
  };
  for (int t = 2; t < 12; ++t) {  // 6 % of a core while idle, read at every third look
    m.processes[0].cpu = 100 + 0.06 * t;
    t % 3 == 0 ? (void)m.look(t) : pools_only(t);
  }
  m.submit(12, 1, {{"gpu", g(25)}});
  m.step(12.1, Released{"comfyui", true, 200, {}});
  std::string seen;
  for (int t = 13; t < 30; ++t) {
    m.processes[0].cpu = 100 + 0.06 * t;
    if (t % 3 == 0) {
      seen += verdicts(m.look(t));
    } else {
      pools_only(t);
    }
  }
  EXPECT_EQ(verdicts(m.all), "gpu0:not_acted");
}

TEST(Release, ANewServerIsNotIdleSinceTheOldOne) {
  Machine m = with_comfyui(16);
  m.processes[0].pid = 2;
  m.tenants[0].pid = 2;
  m.tenants[0].last_used.reset();
  m.gpus[0].processes = std::vector<DeviceProcess>{{2, g(16)}};
  m.look(5);
  EXPECT_EQ(m.engine.tenants().at(0).idle_since, 5);
}

TEST(Release, WhatACardHoldsUnreadIsNotNothing) {
  Machine m = with_comfyui(16);
  m.gpus[0].used.reset();
  m.look(2);
  m.submit(3, 1, {{"ram", g(50)}});
  EXPECT_TRUE(only<Release>(m.all).empty());
  EXPECT_EQ(codes(m, 1), "unsafe tenant:comfyui");
}

TEST(Release, StateTakenUpAgainGoesOnWatching) {
  Machine m = with_comfyui(16);
  m.submit(2, 1, {{"gpu", g(25)}});
  m.step(2.1, Released{"comfyui", true, 200, {}});
  Machine n;
  n.engine = Engine(Policy{}, m.engine.state());
  n.gpus = m.gpus;
  n.processes = m.processes;
  n.tenants = m.tenants;
  n.step(3, Submit{Job{1, "job", {{"gpu", g(25)}}, 0, {}, {}, {}}});
  n.look(3);
  EXPECT_TRUE(only<Release>(n.all).empty());
  EXPECT_EQ(codes(n, 1), "releasing tenant:comfyui");
  hold(n, 0.5);
  EXPECT_EQ(run(n, 4, 5), "gpu0:released");
}

}  // namespace
}  // namespace jipsa::test
