#include "daemon/pools.h"

#include <gtest/gtest.h>

namespace jipsa {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::chrono::seconds kMaxAge{3};

GpuReading card(const std::string& uuid, unsigned index, Bytes total, Bytes used) {
  GpuReading gpu;
  gpu.uuid = uuid;
  gpu.index = index;
  gpu.total = total;
  gpu.used = used;
  return gpu;
}

DriverReading reading(std::int64_t at, std::vector<GpuReading> gpus) {
  DriverReading r;
  r.state = DriverReading::State::ok;
  r.steady_ns = at;
  r.gpus = std::move(gpus);
  return r;
}

DeviceReport device(std::optional<std::int64_t> index, Bytes total) {
  DeviceReport d;
  d.index = index;
  d.total = total;
  return d;
}

TEST(Pools, AnOldReadingIsUnknownNotTheLastValue) {
  Pools pools;
  pools.take(reading(10 * kSecond, {card("A", 0, gib(24), gib(3))}));
  EXPECT_EQ(pools.at(12 * kSecond, kMaxAge)[0].used, gib(3));
  const Pool old = pools.at(14 * kSecond, kMaxAge)[0];
  EXPECT_FALSE(old.used);
  EXPECT_EQ(old.total, gib(24));
  EXPECT_EQ(pools.trouble_of("gpu0", 14 * kSecond, kMaxAge), "stale");
}

TEST(Pools, ADriverThatFailsMakesEveryCardUnknown) {
  Pools pools;
  pools.take(reading(10 * kSecond, {card("A", 0, gib(24), gib(3))}));
  DriverReading failed;
  failed.state = DriverReading::State::failed;
  failed.trouble = "nvmlInit: 999";
  pools.take(failed);
  EXPECT_FALSE(pools.at(10 * kSecond, kMaxAge)[0].used);
  EXPECT_EQ(pools.trouble_of("gpu0", 10 * kSecond, kMaxAge), "nvmlInit: 999");
}

TEST(Pools, ACardThatIsGoneStaysListedAndKeepsItsId) {
  Pools pools;
  pools.take(reading(kSecond, {card("A", 0, gib(24), gib(3)), card("B", 1, gib(32), gib(4))}));
  pools.take(reading(2 * kSecond, {card("B", 0, gib(32), gib(5))}));
  const auto now = pools.at(2 * kSecond, kMaxAge);
  ASSERT_EQ(now.size(), 3U);
  EXPECT_EQ(now[0].id, "gpu0");
  EXPECT_FALSE(now[0].used);
  EXPECT_EQ(now[1].id, "gpu1");
  EXPECT_EQ(now[1].used, gib(5));
  EXPECT_EQ(pools.trouble_of("gpu0", 2 * kSecond, kMaxAge), "gone");
  EXPECT_EQ(now[2].id, "ram");
}

TEST(Pools, RememberedCardsKeepTheirIdsAndVanishIfTheDriverDoesNotNameThem) {
  Pools before;
  before.take(reading(kSecond, {card("A", 0, gib(24), gib(3)), card("B", 1, gib(32), gib(4))}));
  Pools pools;
  pools.remember(before.remembered());
  ASSERT_EQ(pools.at(kSecond, kMaxAge).size(), 3U);
  EXPECT_FALSE(pools.at(kSecond, kMaxAge)[0].used);
  EXPECT_EQ(pools.at(kSecond, kMaxAge)[0].total, gib(24));
  pools.take(reading(kSecond, {card("B", 0, gib(32), gib(4))}));
  const auto now = pools.at(kSecond, kMaxAge);
  ASSERT_EQ(now.size(), 2U);
  EXPECT_EQ(now[0].id, "gpu1");
}

TEST(Pools, AServersNumberIsBelievedOnlyForACardOfThatSize) {
  Pools pools;
  pools.take(reading(kSecond, {card("A", 0, gib(24), gib(3)), card("B", 1, gib(32), gib(4))}));
  EXPECT_EQ(pools.report_of({device(0, gib(24))}, {})->pool, "gpu0");
  EXPECT_EQ(pools.report_of({device(0, gib(32))}, {})->pool, "gpu1");  // it sees the second card alone
  EXPECT_FALSE(pools.report_of({device(0, gib(80))}, {}));
}

TEST(Pools, AmongCardsOfOneSizeTheOneThatListsTheServerIsMeant) {
  auto a = card("A", 0, gib(24), gib(3));
  auto b = card("B", 1, gib(24), gib(4));
  a.processes = std::vector<DeviceProcess>{};
  b.processes = std::vector<DeviceProcess>{{77, std::nullopt}};
  Pools pools;
  pools.take(reading(kSecond, {a, b}));
  EXPECT_EQ(pools.report_of({device(0, gib(24))}, 77)->pool, "gpu1");
  EXPECT_EQ(pools.report_of({device(0, gib(24))}, 78)->pool, "gpu0");
  EXPECT_FALSE(pools.report_of({device(std::nullopt, gib(24))}, 78));
}

TEST(Pools, AServerOnTheCpuSpeaksOfHostMemory) {
  DeviceReport d = device(std::nullopt, gib(64));
  d.host_memory = true;
  EXPECT_EQ(Pools().report_of({d}, {})->pool, "ram");
}

TEST(Pools, ListsOfBeforeAreKeptAWhileAndAreOutdatedByAJump) {
  auto listed = card("A", 0, gib(24), gib(3));
  listed.processes = std::vector<DeviceProcess>{{77, gib(2)}};
  Pools pools;
  pools.take(reading(kSecond, {listed}));
  pools.take(reading(2 * kSecond, {card("A", 0, gib(24), gib(3))}));
  EXPECT_EQ(pools.at(2 * kSecond, kMaxAge)[0].processes->size(), 1U);
  EXPECT_FALSE(pools.lists_outdated());
  pools.take(reading(3 * kSecond, {card("A", 0, gib(24), gib(5))}));
  EXPECT_TRUE(pools.lists_outdated());
  pools.take(reading(60 * kSecond, {card("A", 0, gib(24), gib(3))}));
  EXPECT_FALSE(pools.at(60 * kSecond, kMaxAge)[0].processes);
}

}  // namespace
}  // namespace jipsa
