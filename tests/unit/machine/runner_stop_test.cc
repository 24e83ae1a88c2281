// Ending a job, and what it leaves behind.
#include <sys/wait.h>
#include <unistd.h>

#include "runner_fixture.h"

namespace jipsa {
namespace {

using How = JobEnd::How;

class RunnerStop : public RunnerTest {};
INSTANTIATE_TEST_SUITE_P(Cgroups, RunnerStop, ::testing::Values(true, false),
                         [](const auto& param) { return param.param ? "WithCgroups" : "Without"; });

TEST_P(RunnerStop, TermComesFirst) {
  ASSERT_TRUE(steward->runner->start(shell(1, "trap 'echo asked; exit 5' TERM; echo $$ > pid; while :; do sleep 0.05; done")));
  written_pid("pid");
  steward->runner->stop(1, 20s);
  const JobEnd& end = steward->end_of(1);
  EXPECT_EQ(end.how, How::exited);
  EXPECT_EQ(end.value, 5);
  EXPECT_TRUE(output(1).ends_with("asked\n")) << output(1);
}

TEST_P(RunnerStop, KillFollowsAfterTheGrace) {
  ASSERT_TRUE(steward->runner->start(shell(1, "trap '' TERM; echo $$ > pid; while :; do sleep 0.05; done")));
  const Pid pid = written_pid("pid");
  const auto begin = std::chrono::steady_clock::now();
  steward->runner->stop(1, 300ms);
  const JobEnd& end = steward->end_of(1);
  EXPECT_GE(std::chrono::steady_clock::now() - begin, 290ms);
  EXPECT_EQ(end.how, How::signalled);
  EXPECT_EQ(end.value, SIGKILL);
  EXPECT_FALSE(lives(pid));
}

TEST_P(RunnerStop, GrandchildrenInSessionsOfTheirOwnThatIgnoreTermGoToo) {
  ASSERT_TRUE(
      steward->runner->start(shell(1,
                                   "setsid sh -c 'trap \"\" TERM HUP; echo $$ > far; while :; do sleep 0.05; done' &\n"
                                   "(setsid setsid sh -c 'trap \"\" TERM; echo $$ > orphan; while :; do sleep 0.05; done' &)\n"
                                   "trap '' TERM; echo $$ > main; while :; do sleep 0.05; done")));
  const Pid far = written_pid("far"), orphan = written_pid("orphan"), main = written_pid("main");
  steward->runner->stop(1, 100ms);
  EXPECT_EQ(steward->end_of(1).how, How::signalled);
  for (const Pid pid : {far, orphan, main}) EXPECT_FALSE(lives(pid)) << pid;
}

TEST_P(RunnerStop, AStoppedProcessIsAskedToo) {
  ASSERT_TRUE(steward->runner->start(shell(1, "trap 'exit 6' TERM; echo $$ > pid; while :; do sleep 0.05; done")));
  const Pid pid = written_pid("pid");
  kill(pid, SIGSTOP);
  steward->runner->stop(1, 20s);
  EXPECT_EQ(steward->end_of(1).value, 6);
}

TEST_P(RunnerStop, RightAfterStart) {
  for (JobId id = 1; id <= 20; ++id) {
    ASSERT_TRUE(steward->runner->start(shell(id, "sleep 60")));
    steward->runner->stop(id, 20s);
    const JobEnd& end = steward->end_of(id);
    EXPECT_EQ(end.how, How::signalled);
    EXPECT_EQ(end.value, SIGTERM);
  }
}

TEST_P(RunnerStop, ASecondStopMayBeLessPatient) {
  ASSERT_TRUE(steward->runner->start(shell(1, "trap '' TERM; echo $$ > pid; while :; do sleep 0.05; done")));
  written_pid("pid");
  steward->runner->stop(1, 1h);
  steward->runner->stop(1, 0ms);
  EXPECT_EQ(steward->end_of(1).value, SIGKILL);
  steward->runner->stop(1, 0ms);  // of a job that has ended: nothing
  steward->runner->stop(99, 0ms);
}

TEST_P(RunnerStop, AForkBomb) {
  ASSERT_TRUE(steward->runner->start(shell(1,
                                           "ulimit -u unlimited; echo $$ > pid; trap '' TERM\n"
                                           "f() { [ $1 -gt 5 ] && exec sleep 60; f $(($1+1)) & f $(($1+1)) & wait; }\nf 0")));
  written_pid("pid");
  ASSERT_TRUE(within(20s, [&] { return steward->runner->processes(1).size() > 20; }));
  std::set<Pid> seen;
  for (const Pid pid : steward->runner->processes(1)) seen.insert(pid);
  steward->runner->stop(1, 0ms);
  steward->end_of(1);
  for (const Pid pid : seen) EXPECT_FALSE(lives(pid));
}

TEST_P(RunnerStop, TheShimItselfIsDeafToTheUsualSignals) {
  const auto pids = steward->runner->start(shell(1, "echo $$ > pid; sleep 0.3; exit 4"));
  ASSERT_TRUE(pids);
  written_pid("pid");
  for (const int sig : {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGPIPE}) kill(pids->shim, sig);
  const JobEnd& end = steward->end_of(1);
  EXPECT_EQ(end.how, How::exited);
  EXPECT_EQ(end.value, 4);
}

TEST_P(RunnerStop, NothingOfAJobOutlivesIt) {
  const auto begin = std::chrono::steady_clock::now();
  const JobEnd end = run(shell(1, "(setsid sleep 60 & echo $! > polite); sleep 60 & exit 3"));
  EXPECT_EQ(end.how, How::exited);
  EXPECT_EQ(end.value, 3);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 10s);
  EXPECT_FALSE(lives(written_pid("polite")));
}

TEST_P(RunnerStop, NorWhatIgnoresTerm) {
  const JobEnd end = run(shell(
      1, "setsid sh -c 'trap \"\" TERM; echo $$ > far; while :; do sleep 0.05; done' & while [ ! -s far ]; do sleep 0.01; done"));
  EXPECT_EQ(end.how, How::exited);
  EXPECT_EQ(end.value, 0);
  EXPECT_FALSE(lives(written_pid("far")));
}

TEST_P(RunnerStop, TheCgroupIsGoneAfterTheEnd) {
  if (!GetParam()) GTEST_SKIP() << "without cgroups";
  ASSERT_TRUE(steward->runner->start(shell(1, "cat /proc/self/cgroup; echo $$ > pid; sleep 60")));
  written_pid("pid");
  const std::string pids = temp.get("state/run/1/pids");
  const std::string path = pids.substr(pids.find("cgroup ") + 7, pids.size() - pids.find("cgroup ") - 8);
  if (path.empty()) {
    steward->runner->stop(1, 0ms);
    steward->end_of(1);
    GTEST_SKIP() << "this machine has no cgroup for us";
  }
  EXPECT_TRUE(std::filesystem::exists(path));
  const std::string name = path.substr(path.rfind("/jipsa-"));
  EXPECT_NE(output(1).find(name), std::string::npos) << output(1);
  steward->runner->stop(1, 0ms);
  steward->end_of(1);
  EXPECT_FALSE(std::filesystem::exists(path));
  const std::string base = path.substr(0, path.rfind('/'));
  steward.reset();
  EXPECT_FALSE(std::filesystem::exists(base));
}

}  // namespace
}  // namespace jipsa
