// Whatever a call has reported as done is there after the process was killed at any moment.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <random>
#include <set>
#include <thread>

#include "folder.h"

namespace jipsa::test {
namespace {

struct Report {
  JobId id;
  std::int64_t saved;  // 1: this job was also saved as running
};

// Adds and saves until killed, and says so on `out` after each call has returned.
[[noreturn]] void work(const std::string& dir, int out) {
  auto store = Store::open(dir);
  if (!store) ::_exit(3);
  const std::string env(3000, 'e');
  for (;;) {
    auto record = small_job("일");
    record.env = {"E=" + env};
    const auto id = (*store)->add(record);
    if (!id) ::_exit(4);
    Report report{*id, 0};
    if (::write(out, &report, sizeof report) != sizeof report) ::_exit(5);
    record.job.id = *id;
    record.state = JobState::running;
    if (!(*store)->save(record)) ::_exit(6);
    report.saved = 1;
    if (::write(out, &report, sizeof report) != sizeof report) ::_exit(5);
  }
}

std::vector<Report> run_and_kill(const std::string& dir, std::chrono::microseconds after) {
  int ends[2];
  if (::pipe(ends) != 0) throw std::runtime_error("pipe");
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(ends[0]);
    work(dir, ends[1]);
  }
  ::close(ends[1]);
  // The reader must keep up, or the pipe would hold the child back; the killing is a thread's.
  std::thread killer([&] {
    std::this_thread::sleep_for(after);
    ::kill(child, SIGKILL);
  });
  std::vector<Report> reports;
  Report report{};
  while (::read(ends[0], &report, sizeof report) == static_cast<ssize_t>(sizeof report)) reports.push_back(report);
  killer.join();
  int status = 0;
  ::waitpid(child, &status, 0);
  ::close(ends[0]);
  EXPECT_TRUE(WIFSIGNALED(status)) << "the child ended by itself: " << WEXITSTATUS(status);
  return reports;
}

TEST(Crash, EveryReportedCallIsThereAfterKill) {
  Folder folder;
  std::mt19937 random(20261028);
  std::uniform_int_distribution<int> delay(0, 120'000);
  std::set<JobId> seen;
  std::size_t reported = 0;
  for (int round = 0; round < 30; ++round) {
    const auto reports = run_and_kill(folder.path(), std::chrono::microseconds(delay(random)));
    reported += reports.size();
    auto store = Store::open(folder.path());
    ASSERT_TRUE(store) << "round " << round << ": " << store.error().what;
    for (const auto& report : reports) {
      if (report.saved == 0) { ASSERT_TRUE(seen.insert(report.id).second) << "id " << report.id << " was given twice"; }
      const auto found = (*store)->find(report.id);
      ASSERT_TRUE(found && *found) << "round " << round << ": job " << report.id << " was reported and is gone";
      if (report.saved == 1) { EXPECT_EQ((*found)->state, JobState::running) << "job " << report.id; }
      EXPECT_EQ((*found)->env.size(), 1U);
    }
  }
  EXPECT_GT(reported, 30U);  // the rounds did reach the loop
}

TEST(Crash, WhileItIsCreatedLeavesNothingInTheWay) {
  std::mt19937 random(7);
  std::uniform_int_distribution<int> delay(0, 15'000);
  for (int round = 0; round < 20; ++round) {
    Folder folder;
    const pid_t child = ::fork();
    if (child == 0) ::_exit(Store::open(folder.path()) ? 0 : 1);
    std::this_thread::sleep_for(std::chrono::microseconds(delay(random)));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    auto store = Store::open(folder.path());
    ASSERT_TRUE(store) << "round " << round << ": " << store.error().what;
    EXPECT_EQ((*store)->add(small_job()).value(), 1);
  }
}

TEST(Crash, IdsAreNotGivenAgainAfterReopening) {
  Folder folder;
  EXPECT_EQ(opened(folder.path())->add(small_job()).value(), 1);
  EXPECT_EQ(opened(folder.path())->add(small_job()).value(), 2);
  auto store = opened(folder.path());
  auto bad = small_job();
  bad.command = {std::string(1, '\0')};
  EXPECT_FALSE(store->add(bad));
  EXPECT_EQ(store->add(small_job()).value(), 3);
}

}  // namespace
}  // namespace jipsa::test
