// What NVML's structures mean, against numbers that people reported of real cards and drivers.
#include "machine/driver_layout.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <array>
#include <cstring>

namespace jipsa::nvml {
namespace {

constexpr std::uint64_t all_ones = ~std::uint64_t{0};
constexpr std::array<std::size_t, 2> plain_then_wide = {plain_row, wide_row};
constexpr std::array<std::size_t, 1> narrow = {narrow_row};

std::uint64_t m(std::uint64_t n) { return n << 20; }

MemoryV2 v2(std::uint64_t total, std::uint64_t reserved, std::uint64_t free, std::uint64_t used) {
  return {memory_v2_version, total, reserved, free, used};
}

struct Entry {
  std::uint32_t pid;
  std::uint64_t used;
  std::uint32_t instance = 0xFFFFFFFF;
};

// Entries as a driver writes them at that size, with room behind as our own buffer has.
std::vector<std::byte> bytes_of(const std::vector<Entry>& entries, std::size_t stride) {
  std::vector<std::byte> buffer((entries.size() + 2) * wide_row);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    std::byte* at = buffer.data() + i * stride;
    std::memcpy(at, &entries[i].pid, 4);
    std::memcpy(at + 8, &entries[i].used, 8);
    if (stride > narrow_row) {
      std::memcpy(at + 16, &entries[i].instance, 4);
      std::memcpy(at + 20, &entries[i].instance, 4);
    }
  }
  return buffer;
}

TEST(DriverMemory, UsedApartFromReserve) {  // A10G: nvidia-smi and v2 say 11448, v1 said 11961
  const MemoryBooks books = books_of(v2(m(23028), m(513), m(11067), m(11448)));
  EXPECT_EQ(books.total, mib(23028));
  EXPECT_EQ(books.used, mib(11448));
  EXPECT_EQ(books.reserved, mib(513));
  EXPECT_EQ(books.free, mib(11067));
  EXPECT_EQ(*books.used - mib(11420), mib(28));  // what no process accounts for
  EXPECT_EQ(books.trouble, "");
}

TEST(DriverMemory, UsedCountingReserveIsTakenApart) {
  const MemoryBooks books = books_of(v2(m(23028), m(513), m(11067), m(11961)));
  EXPECT_EQ(books.used, mib(11448));
  EXPECT_EQ(books.reserved, mib(513));
  EXPECT_EQ(books.free, mib(11067));
}

TEST(DriverMemory, IdleCardUsesNothing) {  // 308 MB "used" on an idle card was the reserve
  const MemoryBooks books = books_of(v2(m(8192), m(308), m(7884), 0));
  EXPECT_EQ(books.used, Bytes{0});
  EXPECT_EQ(books.reserved, mib(308));
}

TEST(DriverMemory, OlderCallLeavesReserveUnknown) {
  const MemoryBooks books = books_of(MemoryV1{24146608128, 22889365504, 1257242624});
  EXPECT_EQ(books.used, Bytes{1257242624});
  EXPECT_EQ(books.free, Bytes{22889365504});
  EXPECT_FALSE(books.reserved);
  // An idle card of the same kind shows what the reserve is, and one graphics process accounts for the rest.
  EXPECT_EQ(*books.used - Bytes{541917184} - Bytes{706740224}, Bytes{8585216});
}

TEST(DriverMemory, SumsThatDoNotCloseAreUnknown) {
  for (const MemoryBooks& books : {books_of(v2(m(1000), m(10), m(100), m(100))), books_of(MemoryV1{m(1000), m(100), m(100)}),
                                   books_of(v2(m(1000), all_ones, m(100), m(100)))}) {
    EXPECT_EQ(books.trouble, "memory_sums");
    EXPECT_EQ(books.total, mib(1000));
    EXPECT_FALSE(books.used || books.free || books.reserved);
  }
}

TEST(DriverMemory, NoTotalIsNotZero) {
  EXPECT_EQ(books_of(v2(0, 0, 0, 0)).trouble, "not_supported");
  EXPECT_FALSE(books_of(MemoryV1{}).total);
  EXPECT_FALSE(books_of(v2(all_ones, 0, 0, 0)).total);
}

TEST(DriverMemory, BooksAlwaysClose) {
  EXPECT_TRUE(rc::check("total = used + reserved + free, none negative, or unknown", [] {
    const auto total = *rc::gen::inRange<std::int64_t>(0, std::int64_t{1} << 40);
    const auto piece = rc::gen::inRange<std::int64_t>(0, std::int64_t{1} << 40);
    const auto u64 = [](std::int64_t n) { return static_cast<std::uint64_t>(n); };
    const auto reserved = *piece, used = *piece, noise = *rc::gen::inRange<std::int64_t>(-(20 << 20), 20 << 20);
    const auto free = total - used - (*rc::gen::arbitrary<bool>() ? reserved : 0) + noise;
    const MemoryBooks books = books_of(v2(u64(total), u64(reserved), u64(free), u64(used)));
    if (!books.used) return;
    RC_ASSERT(*books.used + *books.free + *books.reserved == *books.total);
    RC_ASSERT(*books.used >= Bytes{0} && *books.free >= Bytes{0} && *books.reserved >= Bytes{0});
  }));
}

TEST(DriverRows, SentinelIsPresenceWithoutAmount) {  // total 16376, used 14360, row (79, ~0)
  const auto rows = decode_rows(bytes_of({{79, all_ones}}, plain_row), 1, plain_then_wide, false, mib(16376));
  ASSERT_TRUE(rows);
  EXPECT_EQ(merge_rows(*rows), (std::vector<DeviceProcess>{{79, std::nullopt}}));
}

TEST(DriverRows, SameProcessInTwoListsCountsOnce) {  // pid 199237, 2254 MiB, compute and graphics
  const std::vector<ProcessRow> rows = {{199237, mib(2254)}, {199237, mib(2254)}, {7, std::nullopt}, {7, mib(3)}};
  EXPECT_EQ(merge_rows(rows), (std::vector<DeviceProcess>{{7, mib(3)}, {199237, mib(2254)}}));
}

TEST(DriverRows, InstancesAddUpAndOneUnknownMakesTheSumUnknown) {
  const std::vector<ProcessRow> rows = {
      {5, mib(10), 1, 0}, {5, mib(20), 2, 0}, {5, mib(8), 2, 0}, {6, mib(1), 1, 0}, {6, std::nullopt, 2, 0}};
  EXPECT_EQ(merge_rows(rows), (std::vector<DeviceProcess>{{5, mib(30)}, {6, std::nullopt}}));
}

TEST(DriverRows, WideRowsUnderThePlainName) {  // used 21305, rows 15180, 4 and 6100 of which one was lost
  const auto buffer = bytes_of({{100, m(15180)}, {200, m(4)}, {300, m(6100)}}, wide_row);
  const auto rows = decode_rows(buffer, 3, plain_then_wide, false, mib(24564));
  ASSERT_TRUE(rows);
  const auto merged = merge_rows(*rows);
  EXPECT_EQ(merged, (std::vector<DeviceProcess>{{100, mib(15180)}, {200, mib(4)}, {300, mib(6100)}}));
  EXPECT_EQ(mib(21305) - *merged[0].bytes - *merged[1].bytes - *merged[2].bytes, mib(21));
}

TEST(DriverRows, WrongStrideAloneIsRejected) {  // pid and memory swapped
  const std::array<std::size_t, 1> only_plain = {plain_row}, only_wide = {wide_row};
  const auto wide = bytes_of({{4242, m(500)}, {4243, m(700)}}, wide_row);
  EXPECT_FALSE(decode_rows(wide, 2, only_plain, false, mib(24564)));
  const auto plain = bytes_of({{4242, m(500)}, {4243, m(700)}}, plain_row);
  EXPECT_FALSE(decode_rows(plain, 2, only_wide, false, mib(24564)));
  EXPECT_TRUE(decode_rows(plain, 2, plain_then_wide, false, mib(24564)));
}

TEST(DriverRows, WideRowsWithoutAmountsAreToldApartToo) {  // the amounts look like instance ids at the other stride
  const auto rows = decode_rows(bytes_of({{5, all_ones}, {6, all_ones}}, wide_row), 2, plain_then_wide, false, mib(16376));
  ASSERT_TRUE(rows);
  EXPECT_EQ(merge_rows(*rows), (std::vector<DeviceProcess>{{5, std::nullopt}, {6, std::nullopt}}));
}

TEST(DriverRows, AnySetOfRowsSurvivesEitherStride) {
  EXPECT_TRUE(rc::check([] {
    const auto stride = *rc::gen::element(plain_row, wide_row);
    std::vector<Entry> entries;
    std::vector<ProcessRow> expected;
    const int count = *rc::gen::inRange(0, 6);
    for (int i = 0; i < count; ++i) {
      const auto pid = *rc::gen::inRange<std::uint32_t>(1, 4194304);
      const bool known = *rc::gen::arbitrary<bool>();
      const auto used = *rc::gen::inRange<std::int64_t>(0, std::int64_t{1} << 34);
      entries.push_back({pid, known ? static_cast<std::uint64_t>(used) : all_ones});
      expected.push_back({static_cast<Pid>(pid), known ? std::optional{Bytes{used}} : std::nullopt});
    }
    const auto rows = decode_rows(bytes_of(entries, stride), entries.size(), plain_then_wide, false, gib(32));
    RC_ASSERT(rows.has_value());
    RC_ASSERT(*rows == expected);
  }));
}

TEST(DriverRows, MoreThanTheCardHasIsNoAmount) {
  EXPECT_FALSE(decode_rows(bytes_of({{1, m(20000)}}, plain_row), 1, plain_then_wide, false, mib(16376)));
  EXPECT_FALSE(decode_rows(bytes_of({{1, m(20000)}}, narrow_row), 1, narrow, false, mib(16376)));
  EXPECT_TRUE(decode_rows(bytes_of({{1, m(2000)}, {2, m(10)}}, narrow_row), 2, narrow, false, mib(16376)));
}

TEST(DriverRows, InstanceIdsAreFineWithMig) {
  const auto buffer = bytes_of({{1, m(10), 3}}, plain_row);
  EXPECT_FALSE(decode_rows(buffer, 1, plain_then_wide, false, mib(1000)));
  EXPECT_TRUE(decode_rows(buffer, 1, plain_then_wide, true, mib(1000)));
}

TEST(DriverRows, MoreRowsThanTheBufferHolds) {
  const auto buffer = bytes_of({{1, m(10)}}, plain_row);
  EXPECT_FALSE(decode_rows(buffer, 1000, plain_then_wide, false, mib(1000)));
}

TEST(DriverCodes, HaveNames) {
  EXPECT_EQ(trouble_of(0), "");
  EXPECT_EQ(trouble_of(15), "lost");
  EXPECT_EQ(trouble_of(18), "version_mismatch");
  EXPECT_EQ(trouble_of(999), "error_999");
}

}  // namespace
}  // namespace jipsa::nvml
