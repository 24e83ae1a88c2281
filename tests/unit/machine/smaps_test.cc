// The C allocator's share of a process's memory.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <future>
#include <thread>
#include <vector>

#include "machine/sense.h"
#include "temp_folder.h"

namespace jipsa {
namespace {

class SmapsTest : public ::testing::Test {
 protected:
  void SetUp() override { temp.put("5/stat", "5 (x) S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 77 0 0\n"); }
  std::optional<Bytes> arena(const std::string& smaps) {
    temp.put("5/smaps", smaps);
    return read_anon_arena(5, temp.path());
  }
  static std::string map(const std::string& range, const std::string& access, int kib, const std::string& name = "",
                         int inode = 0) {
    return range + " " + access + " 00000000 00:00 " + std::to_string(inode) + "   " + name +
           "\nSize: 9999999 kB\nRss: " + std::to_string(kib + 4) + " kB\nAnonymous: " + std::to_string(kib) +
           " kB\nAnonHugePages: 8 kB\nVmFlags: rd wr\n";
  }
  TempFolder temp;
};

TEST_F(SmapsTest, HeapAndArenasAreCounted) {
  EXPECT_EQ(arena(map("55d0e0000000-55d0e0021000", "rw-p", 100, "[heap]") + map("7f0010000000-7f0012000000", "rw-p", 2000) +
                  map("7f0012000000-7f0014000000", "---p", 0)),
            Bytes{2100 * 1024});
  EXPECT_EQ(arena(map("7f0010000000-7f0014000000", "rw-p", 65536)), Bytes{65536 * 1024});  // a full one
  EXPECT_EQ(arena(map("7f0010000000-7f0012000000", "rw-p", 7, "[anon: glibc: malloc arena]") +
                  map("7f0012000000-7f0014000000", "---p", 0, "[anon: glibc: malloc arena]")),
            Bytes{7 * 1024});
}

TEST_F(SmapsTest, NeighboursThatMeltedIntoOneMapAreCounted) {
  EXPECT_EQ(arena(map("7f0010000000-7f0016000000", "rw-p", 90000) + map("7f0016000000-7f0018000000", "---p", 0)),
            Bytes{90000 * 1024});
}

TEST_F(SmapsTest, OtherMapsAreNot) {
  EXPECT_EQ(arena(map("7f0010000000-7f0050000000", "rw-p", 1000000)), Bytes{0});  // a large aligned allocation
  EXPECT_EQ(arena(map("7f0011000000-7f0012000000", "rw-p", 5000)), Bytes{0});     // not at a boundary
  EXPECT_EQ(arena(map("7f0010000000-7f0012000000", "rw-p", 5000)), Bytes{0});     // no rest behind it
  EXPECT_EQ(arena(map("7f0010000000-7f0012000000", "rw-p", 5000) + map("7f0012000000-7f0013000000", "---p", 0)), Bytes{0});
  EXPECT_EQ(arena(map("7f0010000000-7f0012000000", "rw-p", 5000) + map("7f0012001000-7f0014000000", "---p", 0)), Bytes{0});
  EXPECT_EQ(arena(map("7f0010000000-7f0014000000", "rw-p", 5000, "/model.safetensors", 12)), Bytes{0});
  EXPECT_EQ(arena(map("7f0010000000-7f0014000000", "rw-s", 5000)), Bytes{0});
  EXPECT_EQ(arena(map("7ffc10000000-7ffc10021000", "rw-p", 50, "[stack]")), Bytes{0});
}

TEST_F(SmapsTest, WhatCanNotBeReadIsUnknown) {
  EXPECT_FALSE(arena(""));  // a kernel thread
  EXPECT_FALSE(arena(map("7f0010000000-7f0014000000", "rw-p", 5) + "Anonymous: many kB\n"));
  EXPECT_FALSE(read_anon_arena(6, temp.path()));
}

// The allocator of this very machine: what a thread has freed and the allocator has kept shows as arena, a large block does not.
TEST(SmapsOfThisProcess, FreedMemoryThatTheAllocatorKeepsIsSeen) {
  constexpr std::size_t large = std::size_t{256} << 20;
  void* block = mmap(nullptr, large, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(block, MAP_FAILED);
  std::memset(block, 1, large);
  std::promise<void> filled, measured;
  std::jthread thread([&] {  // a thread of its own has an arena of its own
    std::vector<void*> pieces;
    for (int i = 0; i < 1600; ++i) {
      void* piece = std::malloc(64 << 10);
      std::memset(piece, 1, 64 << 10);
      pieces.push_back(piece);
    }
    for (std::size_t i = 0; i + 1 < pieces.size(); ++i)
      if (i % 16 != 0) std::free(pieces[i]);
    filled.set_value();
    measured.get_future().wait();
    for (std::size_t i = 0; i < pieces.size(); i += 16) std::free(pieces[i]);
    std::free(pieces.back());
  });
  filled.get_future().wait();
  const auto held = read_anon_arena(getpid());
  measured.set_value();
  munmap(block, large);
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer brings its own allocator";
#endif
  ASSERT_TRUE(held);
  EXPECT_GT(held->count(), std::int64_t{80} << 20);
  EXPECT_LT(held->count(), std::int64_t{200} << 20);
}

}  // namespace
}  // namespace jipsa
