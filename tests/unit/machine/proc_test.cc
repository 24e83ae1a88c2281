// Literal trees of /proc, with what real machines have been seen to say.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <thread>

#include "machine/proc_file.h"
#include "machine/proc_tree.h"
#include "machine/sense.h"
#include "temp_folder.h"

namespace jipsa {
namespace {

// A stat line; `ticks`: utime, stime, cutime, cstime.
std::string stat_line(Pid pid, const std::string& name, Pid parent, std::int64_t start, const std::string& ticks = "0 0 0 0",
                      Pid session = 1, char state = 'S') {
  const std::string p = std::to_string(pid), s = std::to_string(session);
  return p + " (" + name + ") " + state + " " + std::to_string(parent) + " " + s + " " + s + " 0 -1 4194560 1 2 3 4 " + ticks +
         " 20 0 1 0 " + std::to_string(start) + " 1000 200 18446744073709551615 1 1 0\n";
}

class ProcTest : public ::testing::Test {
 protected:
  void put(Pid pid, const std::string& stat, const std::string& status = "") const {
    temp.put(std::to_string(pid) + "/stat", stat);
    if (!status.empty()) temp.put(std::to_string(pid) + "/status", status);
  }
  [[nodiscard]] std::string proc() const { return temp.path(); }
  TempFolder temp;
  double tick = 1.0 / static_cast<double>(sysconf(_SC_CLK_TCK));
};

TEST_F(ProcTest, AStatLineIsReadFromTheLastParenthesis) {
  for (const std::string& name :
       {std::string("python3"), std::string("a) R 1 (b"), std::string("((sd-pam))"), std::string(") "), std::string()}) {
    put(77, stat_line(77, name, 5, 123456, "100 20 3 4", 70, 'R'));
    const auto s = read_stat(77, proc());
    ASSERT_TRUE(s) << name;
    EXPECT_EQ(s->name, name);
    EXPECT_EQ(s->pid, 77);
    EXPECT_EQ(s->parent, 5);
    EXPECT_EQ(s->group, 70);
    EXPECT_EQ(s->session, 70);
    EXPECT_EQ(s->start, 123456);
    EXPECT_EQ(s->state, 'R');
    EXPECT_DOUBLE_EQ(s->cpu, 127 * tick);
  }
}

TEST_F(ProcTest, ANameCutWithinALetterStaysPrintable) {
  put(1, stat_line(1, "영상만들기\xEC\x98", 0, 1));
  EXPECT_EQ(read_stat(1, proc())->name, "영상만들기??");
  put(2, stat_line(2, "a\tb\x7f", 0, 1));
  EXPECT_EQ(read_stat(2, proc())->name, "a?b?");
}

TEST_F(ProcTest, BrokenStatLinesGiveNothing) {
  const std::string good = stat_line(3, "sh", 1, 9);
  for (std::size_t n = 0; n < good.find(" 9 1000"); ++n) {
    put(3, good.substr(0, n));
    EXPECT_FALSE(read_stat(3, proc())) << good.substr(0, n);
  }
  for (const char* bad : {"", "x", ")(", "3 (sh) S", "3 (sh) SS 1 1 1", "3 sh S 1", "99999999999999 (sh) S 1 1 1"}) {
    put(3, bad);
    EXPECT_FALSE(read_stat(3, proc())) << bad;
  }
  EXPECT_FALSE(read_stat(4, proc()));
}

TEST_F(ProcTest, AnyBytesAreReadWithoutACrash) {
  EXPECT_TRUE(rc::check([&](const std::string& bytes) {
    put(3, bytes);
    put(4, "4 (" + bytes + ") S " + bytes, bytes);
    (void)read_stat(3, proc());
    (void)read_process(4, proc());
    (void)printable(bytes);
    (void)find_kib(bytes, "RssAnon");
  }));
}

TEST_F(ProcTest, StatusFields) {
  put(9, stat_line(9, "comfy", 1, 50),
      "Name:\tcomfy\nVmRSS:\t  100 kB\nRssAnon:\t   20 kB\nRssFile:\t   30 kB\nRssShmem:\t   50 kB\nVmSwap:\t       0 kB\n");
  const auto p = read_process(9, proc());
  ASSERT_TRUE(p);
  EXPECT_EQ(p->name, "comfy");
  EXPECT_EQ(p->start, 50);
  EXPECT_EQ(p->rss_anon, Bytes{20 * 1024});
  EXPECT_EQ(p->rss_file, Bytes{30 * 1024});
  EXPECT_EQ(p->rss_shmem, Bytes{50 * 1024});
  EXPECT_EQ(p->swap, Bytes{0});
  EXPECT_EQ(p->owner, "");
  EXPECT_FALSE(p->anon_arena);
}

TEST_F(ProcTest, AKernelThreadHasUnknownMemoryAndNotNone) {
  put(2, stat_line(2, "kthreadd", 0, 1), "Name:\tkthreadd\nState:\tS (sleeping)\n");
  const auto p = read_process(2, proc());
  ASSERT_TRUE(p);
  EXPECT_FALSE(p->rss_anon);
  EXPECT_FALSE(p->rss_file);
  EXPECT_FALSE(p->rss_shmem);
  EXPECT_FALSE(p->swap);
}

TEST_F(ProcTest, AProcessThatVanishesBetweenTwoReadsGivesNothing) {
  put(9, stat_line(9, "sh", 1, 50));  // stat, but no status any more
  EXPECT_FALSE(read_process(9, proc()));
}

TEST_F(ProcTest, KibOfNonsenseIsUnknown) {
  EXPECT_FALSE(find_kib("RssAnon:\t-5 kB\n", "RssAnon"));
  EXPECT_FALSE(find_kib("RssAnon:\t99999999999999999999 kB\n", "RssAnon"));
  EXPECT_FALSE(find_kib("RssAnon:\t9223372036854775807 kB\n", "RssAnon"));
  EXPECT_FALSE(find_kib("RssAnon:\n", "RssAnon"));
  EXPECT_FALSE(find_kib("RssAnonymous: 5 kB\n", "RssAnon"));
  EXPECT_EQ(find_kib("X: 1 kB\nRssAnon: 7 kB", "RssAnon"), Bytes{7 * 1024});
}

TEST_F(ProcTest, ATreeAndItsTime) {
  put(10, stat_line(10, "serve", 1, 1, "10 0 5 5", 10));
  put(11, stat_line(11, "worker", 10, 2, "30 0 0 0", 10));
  put(12, stat_line(12, "grand", 11, 3, "0 7 0 0", 12));
  put(13, stat_line(13, "other", 1, 3, "99 0 0 0", 13));
  temp.put("uptime", "1 1\n");
  temp.put("99999999999/stat", "no pid");
  const ProcTable table = ProcTable::read(proc());
  EXPECT_EQ(table.tree(10), (std::vector<Pid>{10, 11, 12}));
  EXPECT_EQ(table.tree(12), (std::vector<Pid>{12}));
  EXPECT_TRUE(table.tree(14).empty());
  EXPECT_DOUBLE_EQ(table.tree_cpu(10), 57 * tick);
  EXPECT_DOUBLE_EQ(table.tree_cpu(14), 0);
  EXPECT_EQ(table.session(10), (std::vector<Pid>{10, 11}));
  ASSERT_NE(table.find(12), nullptr);
  EXPECT_EQ(table.find(12)->name, "grand");
  EXPECT_EQ(table.find(14), nullptr);
  EXPECT_EQ(list_tree(10, proc()), (std::vector<Pid>{10, 11, 12}));  // a kernel without lists of children

  put(10, stat_line(10, "serve", 1, 1, "10 0 5 5", 10), "RssAnon: 1 kB\n");
  EXPECT_NEAR(*read_process(10, proc())->cpu, 57 * tick, 1e-9);
  EXPECT_NEAR(*read_process(10, table, proc())->cpu, 57 * tick, 1e-9);
  put(10, stat_line(10, "reused", 1, 8), "RssAnon: 1 kB\n");
  EXPECT_FALSE(read_process(10, table, proc())->cpu);
}

TEST_F(ProcTest, TheKernelsListsOfChildrenAreUsedWhereTheyAre) {
  put(10, stat_line(10, "serve", 1, 1));
  put(11, stat_line(11, "a", 10, 2));
  put(12, stat_line(12, "b", 10, 2));
  temp.put("10/task/10/children", "11 ");
  temp.put("10/task/15/children", "12 ");  // of another thread
  temp.put("11/task/11/children", "");
  temp.put("12/task/12/children", "10 ");  // never true, and no reason to go round for ever
  auto tree = list_tree(10, proc());
  std::ranges::sort(tree);
  EXPECT_EQ(tree, (std::vector<Pid>{10, 11, 12}));
}

TEST_F(ProcTest, ParentsInARingDoNotHang) {
  put(10, stat_line(10, "a", 11, 1));
  put(11, stat_line(11, "b", 10, 1));
  EXPECT_EQ(ProcTable::read(proc()).tree(10), (std::vector<Pid>{10, 11}));
}

TEST_F(ProcTest, HostMemory) {
  temp.put(
      "meminfo",
      "MemTotal:       65747884 kB\nMemFree:         1000000 kB\nMemAvailable:   40000000 kB\nSwapTotal: 0 kB\nSwapFree: 0 kB\n");
  HostMemory m = read_host_memory(proc());
  EXPECT_EQ(m.total, Bytes{65747884LL * 1024});
  EXPECT_EQ(m.available, Bytes{40000000LL * 1024});
  EXPECT_EQ(m.swap_total, Bytes{0});
  EXPECT_EQ(m.swap_free, Bytes{0});
  temp.put("meminfo", "MemTotal: 100 kB\nMemFree: 50 kB\nBuffers: 5 kB\nCached: 9 kB\n");  // before Linux 3.14
  m = read_host_memory(proc());
  EXPECT_EQ(m.total, Bytes{100 * 1024});
  EXPECT_FALSE(m.available);
  EXPECT_FALSE(read_host_memory(temp.path("no")).total);
}

TEST_F(ProcTest, BootId) {
  temp.put("sys/kernel/random/boot_id", "6f1b-22\n");
  EXPECT_EQ(read_boot_id(proc()), "6f1b-22");
  EXPECT_EQ(read_boot_id(temp.path("no")), "");
}

TEST(ThisMachine, KnowsItselfAndItsChildren) {
  const auto self = read_stat(getpid());
  ASSERT_TRUE(self);
  EXPECT_EQ(self->parent, getppid());
  EXPECT_EQ(self->session, getsid(0));
  EXPECT_GT(self->start, 0);
  const auto p = read_process(getpid());
  ASSERT_TRUE(p);
  EXPECT_GT(p->rss_anon->count(), 0);
  EXPECT_GT(read_host_memory().total->count(), 0);
  EXPECT_EQ(read_boot_id().size(), 36U);
  const pid_t child = fork();
  if (child == 0) {
    pause();
    _exit(0);
  }
  EXPECT_EQ(list_tree(child), (std::vector<Pid>{child}));
  const auto tree = ProcTable::read().tree(getpid());
  EXPECT_EQ(tree.front(), getpid());
  EXPECT_NE(std::ranges::find(tree, child), tree.end());
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_FALSE(read_stat(child));
  EXPECT_FALSE(read_process(child));
  EXPECT_TRUE(list_tree(child).empty());
}

}  // namespace
}  // namespace jipsa
