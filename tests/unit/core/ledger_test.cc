#include "machine.h"

namespace jipsa::test {
namespace {

Bytes m(std::int64_t n) { return mib(n); }

// Numbers in these tests are those of public bug reports about other tools.
TEST(Ledger, ReserveIsNobodysAndNotUnexplained) {
  Machine machine;
  Pool& gpu = machine.gpu(0, 0, {{11420, m(11420)}});
  gpu.total = m(23028);
  gpu.reserved = m(513);
  gpu.used = m(11448);
  gpu.free = m(11067);
  machine.process(11420, "trainer", 1);
  machine.look(0);
  EXPECT_EQ(machine.holds("gpu0", OwnerKind::process, "trainer"), m(11420));
  EXPECT_EQ(machine.holds("gpu0", OwnerKind::baseline), m(28));
  EXPECT_EQ(machine.engine.books()[0].unused, m(11067));
}

TEST(Ledger, ReserveInsideUsedIsTheDrivers) {
  Machine machine;
  Pool& gpu = machine.gpu(0, 0, {});
  gpu.total = m(8192);
  gpu.used = m(308);
  gpu.free = m(8192 - 308);
  gpu.reserved = m(308);
  machine.look(0);
  EXPECT_EQ(machine.holds("gpu0", OwnerKind::driver), m(308));
  EXPECT_EQ(machine.holds("gpu0", OwnerKind::unexplained), Bytes{});
}

TEST(Ledger, AProcessInBothListsCountsOnce) {
  Machine machine;
  machine.gpu(8, 2.5, {{199237, m(2254)}, {199237, m(2254)}});
  machine.process(199237, "blender", 1);
  machine.look(0);
  EXPECT_EQ(machine.holds("gpu0", OwnerKind::process, "blender"), m(2254));
}

TEST(Ledger, ARowWithoutAmountIsPresenceNotZero) {
  Machine machine;
  Pool& gpu = machine.gpu(0, 0, {{79, std::nullopt}});
  gpu.total = m(16376);
  gpu.used = m(14360);
  machine.process(79, "python3", 1);
  machine.look(0);
  const Claim* claim = machine.claim("gpu0", OwnerKind::process, "python3");
  ASSERT_NE(claim, nullptr);
  EXPECT_EQ(claim->bytes, m(14360 - 1024));  // all but the baseline
  EXPECT_EQ(claim->how, How::eliminated);
  EXPECT_EQ(claim->hi, m(14360));
}

TEST(Ledger, ClaimsBeyondWhatIsUsedAreCutAndSaySo) {
  Machine machine;
  machine.gpu(24, 22, {});
  TenantLook& t = machine.tenant("ollama", "ollama", 5);
  t.report = Report{"gpu0", {}, {}, {}, std::vector<LoadedModel>{{"a", g(24)}, {"b", g(24)}}};
  machine.look(0);
  const Claim* claim = machine.claim("gpu0", OwnerKind::tenant, "ollama");
  ASSERT_NE(claim, nullptr);
  EXPECT_EQ(claim->bytes, g(22));
  EXPECT_TRUE(claim->capped);
}

TEST(Ledger, AModelOfUnknownSizeIsNotOneOfNone) {
  Machine machine;
  machine.gpu(24, 15, {});
  TenantLook& t = machine.tenant("ollama", "ollama", 5);
  t.report = Report{"gpu0", {}, {}, {}, std::vector<LoadedModel>{{"a", g(4)}, {"b", std::nullopt}}};
  machine.look(0);
  EXPECT_EQ(machine.holds("gpu0", OwnerKind::tenant, "ollama"), g(14));
  EXPECT_EQ(machine.holds("gpu0", OwnerKind::unexplained), Bytes{});
}

TEST(Ledger, ADeadProcessHasALineOfItsOwn) {
  Machine machine;
  machine.gpu(24, 11, {{4711, m(10151)}});
  machine.look(0);
  EXPECT_EQ(machine.holds("gpu0", OwnerKind::process, "pid 4711"), m(10151));
}

TEST(Ledger, UnexplainedIsWhatNobodyCanHold) {
  Machine machine;
  machine.gpu(24, 11, {});
  machine.look(0);
  EXPECT_EQ(machine.holds("gpu0", OwnerKind::baseline), g(1));
  EXPECT_EQ(machine.holds("gpu0", OwnerKind::unexplained), g(10));
}

TEST(Ledger, TheBaselineIsTheLeastThatWasSeenUnowned) {
  Machine machine;
  machine.gpu(24, 0.4, {});
  machine.look(0);
  machine.gpus[0].used = g(3);
  machine.look(1);
  EXPECT_EQ(machine.holds("gpu0", OwnerKind::baseline), g(0.4));
  EXPECT_EQ(machine.holds("gpu0", OwnerKind::unexplained), *machine.gpus[0].used - g(0.4));
}

TEST(Ledger, TwoWithoutAmountsAreSharedUntilOneWorks) {
  Machine machine;
  machine.gpu(32, 9, {{1, std::nullopt}, {2, std::nullopt}});
  machine.process(1, "python3", 1);
  machine.process(2, "xtts", 1);
  machine.tenant("comfyui", "comfyui", 1);
  machine.tenant("voice", "http", 2);
  machine.look(0);
  const Claim* claim = machine.claim("gpu0", OwnerKind::tenant, "comfyui");
  ASSERT_NE(claim, nullptr);
  EXPECT_EQ(claim->how, How::shared);
  EXPECT_EQ(claim->lo, Bytes{});
  EXPECT_GE(claim->hi, g(8));
  machine.tenants[1].running = 1;
  machine.gpus[0].used = g(13);
  machine.look(1);
  EXPECT_GE(machine.claim("gpu0", OwnerKind::tenant, "voice")->lo, g(4));
}

TEST(Ledger, HostMemoryIsWhatCantBeTakenBack) {
  Machine machine;
  Process& p = machine.process(1, "server", 8);
  p.rss_file = g(20);
  p.rss_shmem = g(2);
  machine.look(0);
  EXPECT_EQ(machine.holds("ram", OwnerKind::process, "server"), g(10));
  EXPECT_EQ(machine.holds("ram", OwnerKind::baseline), g(4));
}

TEST(Ledger, SharedPagesDontMakeMoreThanThereIs) {
  Machine machine;
  for (Pid pid = 1; pid <= 3; ++pid) machine.process(pid, "worker", 0).rss_shmem = g(10);
  machine.look(0);  // 30 GiB in three processes, 14 used: conservation is checked by the machine
  EXPECT_EQ(machine.holds("ram", OwnerKind::process, "worker"), g(14));
}

TEST(Ledger, AReusedPidIsNotTheTenant) {
  Machine machine;
  machine.process(1, "python3", 8);
  machine.tenant("comfyui", "comfyui", 1);
  machine.look(0);
  EXPECT_EQ(machine.holds("ram", OwnerKind::tenant, "comfyui"), g(8));
  machine.processes[0].start = 99;
  machine.processes[0].name = "browser";
  machine.tenants[0].pid.reset();
  machine.tenants[0].reachable = false;
  machine.look(1);
  EXPECT_EQ(machine.holds("ram", OwnerKind::tenant, "comfyui"), Bytes{});
  EXPECT_EQ(machine.holds("ram", OwnerKind::process, "browser"), g(8));
}

TEST(Ledger, AChildBelongsToWhoseTreeItIsIn) {
  Machine machine;
  machine.gpu(24, 7, {{11, g(6)}});
  machine.process(11, "runner", 1).owner = "tenant:ollama";
  machine.tenant("ollama", "ollama", 10);
  machine.look(0);
  EXPECT_EQ(machine.holds("gpu0", OwnerKind::tenant, "ollama"), g(6));
}

TEST(Ledger, APoolThatIsNotListedAnyMoreIsNotMeasured) {
  Machine machine;
  machine.gpu(24, 1);
  machine.look(0);
  machine.gpus.clear();
  machine.look(1);
  EXPECT_FALSE(machine.engine.books()[0].used);
  machine.submit(2, 1, {{"gpu", g(1)}});
  EXPECT_EQ(codes(machine, 1), "stale");
}

}  // namespace
}  // namespace jipsa::test
