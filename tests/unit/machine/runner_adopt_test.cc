// Daemons and shims that are killed at any instant.
#include <fcntl.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runner_fixture.h"

namespace jipsa {
namespace {

using How = JobEnd::How;
using Found = Runner::Found;

class RunnerAdopt : public RunnerTest {
 protected:
  // Another process that is a daemon until it is killed after `life`, or, if that is 0, as soon as start() has returned.
  void daemon_that_dies(const JobStart& start, std::chrono::microseconds life) {
    const pid_t pid = fork();
    if (pid == 0) {
      Steward doomed(state, GetParam());
      if (!doomed.runner->start(start)) _exit(1);
      if (life == 0us) kill(getpid(), SIGKILL);
      doomed.run_until([] { return false; }, 60s);
      _exit(0);
    }
    if (life > 0us) {
      std::this_thread::sleep_for(life);
      kill(pid, SIGKILL);
    }
    int status = 0;
    ASSERT_EQ(waitpid(pid, &status, 0), pid);
    ASSERT_TRUE(WIFSIGNALED(status)) << status;
  }

  void restart() {
    steward.reset();
    steward = std::make_unique<Steward>(state, GetParam());
  }
};
INSTANTIATE_TEST_SUITE_P(Cgroups, RunnerAdopt, ::testing::Values(true, false),
                         [](const auto& param) { return param.param ? "WithCgroups" : "Without"; });

TEST_P(RunnerAdopt, AJobThatRunsOnIsFoundAndItsEndSeen) {
  daemon_that_dies(shell(1, "echo $$ > pid; while [ ! -e go ]; do sleep 0.02; done; exit 9"), 0us);
  const Pid pid = written_pid("pid");
  ASSERT_EQ(*steward->runner->adopt(1), Found::alive);
  EXPECT_EQ(*steward->runner->adopt(1), Found::alive);
  ASSERT_TRUE(steward->has_started(1));
  EXPECT_EQ(steward->started[1].pid, pid);
  EXPECT_FALSE(steward->runner->processes(1).empty());
  temp.put("go", "");
  const JobEnd& end = steward->end_of(1);
  EXPECT_EQ(end.how, How::exited);
  EXPECT_EQ(end.value, 9);
}

TEST_P(RunnerAdopt, AnAdoptedJobCanBeStopped) {
  daemon_that_dies(
      shell(1,
            "trap '' TERM; setsid sh -c 'trap \"\" TERM; echo $$ > far; sleep 60; sleep 60' & echo $$ > pid; sleep 60; sleep 60"),
      0us);
  const Pid pid = written_pid("pid"), far = written_pid("far");
  ASSERT_EQ(*steward->runner->adopt(1), Found::alive);
  steward->runner->stop(1, 50ms);
  EXPECT_EQ(steward->end_of(1).value, SIGKILL);
  EXPECT_FALSE(lives(pid));
  EXPECT_FALSE(lives(far));
}

TEST_P(RunnerAdopt, AnEndWithoutADaemonIsNotLost) {
  daemon_that_dies(shell(1, "exit 8"), 0us);
  ASSERT_TRUE(within(20s, [&] { return !temp.get("state/run/1/end").empty(); }));
  std::optional<Found> found;
  ASSERT_TRUE(within(20s, [&] {  // the shim may still be on its way out
    restart();
    found = *steward->runner->adopt(1);
    return found == Found::ended;
  }));
  EXPECT_TRUE(steward->ended.empty());  // it comes from the loop
  const JobEnd& end = steward->end_of(1);
  EXPECT_EQ(end.how, How::exited);
  EXPECT_EQ(end.value, 8);
  steward->runner->forget(1);
  EXPECT_FALSE(std::filesystem::exists(state + "/run/1"));
}

TEST_P(RunnerAdopt, ADaemonKilledAtAnyInstantStartsNoJobTwiceAndLosesNone) {
  std::map<Found, int> seen;
  for (JobId id = 1; id <= 60; ++id) {
    const std::string name = "runs-" + std::to_string(id);
    daemon_that_dies(shell(id, "echo ran >> " + name + "; sleep 0.02"), std::chrono::microseconds(1 + (id - 1) * 150));
    restart();
    const auto found = steward->runner->adopt(id);
    ASSERT_TRUE(found);
    ++seen[*found];
    if (*found == Found::never_started) {
      std::this_thread::sleep_for(5ms);
      EXPECT_EQ(temp.get(name), "") << "never started, but it ran";
      ASSERT_TRUE(steward->runner->start(shell(id, "echo ran >> " + name)));
    }
    ASSERT_NE(*found, Found::shim_died) << id;
    const JobEnd& end = steward->end_of(id);
    EXPECT_EQ(end.how, How::exited) << end.error;
    EXPECT_EQ(temp.get(name), "ran\n") << id;
  }
  EXPECT_GT(seen[Found::alive] + seen[Found::ended], 0);
}

TEST_P(RunnerAdopt, NothingThereWasNeverStarted) {
  EXPECT_EQ(*steward->runner->adopt(5), Found::never_started);
  std::filesystem::create_directory(state + "/run/6");
  EXPECT_EQ(*steward->runner->adopt(6), Found::never_started);
  temp.put("state/run/7/lock", "");
  temp.put("state/run/7/spec", "half");
  EXPECT_EQ(*steward->runner->adopt(7), Found::never_started);
  EXPECT_EQ(run(shell(7, "exit 2")).value, 2);  // and can be started after all
}

TEST_P(RunnerAdopt, AShimKilledUnderTheDaemonLosesTheJobAndEndsWhatIsLeft) {
  const auto pids = steward->runner->start(shell(1, "sleep 60 & echo $$ > pid; wait"));
  ASSERT_TRUE(pids);
  ASSERT_TRUE(steward->has_started(1));
  const Pid pid = written_pid("pid");
  kill(pids->shim, SIGKILL);
  const JobEnd& end = steward->end_of(1);
  EXPECT_EQ(end.how, How::lost);
  EXPECT_EQ(end.error, "jipsa-shim (pid " + std::to_string(pids->shim) + ") was killed; what was left of the job was ended");
  EXPECT_FALSE(lives(pid));
}

TEST_P(RunnerAdopt, AShimKilledWithTheDaemonIsFoundDeadAndTheRestEnded) {
  daemon_that_dies(shell(1, "sleep 60 & echo $! > child; echo $$ > pid; wait"), 0us);
  const Pid pid = written_pid("pid"), child = written_pid("child");
  const auto stat = read_stat(pid);
  ASSERT_TRUE(stat);
  kill(stat->parent, SIGKILL);
  ASSERT_TRUE(within(20s, [&] { return !lives(stat->parent); }));
  EXPECT_EQ(*steward->runner->adopt(1), Found::shim_died);
  EXPECT_FALSE(lives(pid));
  EXPECT_FALSE(lives(child));
  EXPECT_FALSE(steward->run_until([&] { return !steward->order.empty(); }, 50ms)) << "no events of a job that is lost";
}

TEST_P(RunnerAdopt, AShimKilledAtAnyInstantLeavesNothingAlive) {
  for (JobId id = 1; id <= 40; ++id) {
    const std::string name = "pid-" + std::to_string(id);
    const auto pids = steward->runner->start(shell(id, "echo $$ > " + name + "; exec sleep 60"));
    ASSERT_TRUE(pids);
    std::this_thread::sleep_for(std::chrono::microseconds((id - 1) * 60));
    kill(pids->shim, SIGKILL);
    const JobEnd& end = steward->end_of(id);
    EXPECT_TRUE(end.how == How::lost || end.how == How::not_started);
    if (end.how == How::not_started) { EXPECT_EQ(temp.get(name), "") << end.error; }
    if (const Pid pid = std::atoi(temp.get(name).c_str()); pid > 0) { EXPECT_FALSE(lives(pid)); }
  }
}

TEST_P(RunnerAdopt, AnotherBootsNumbersAreNotKilled) {
  const pid_t bystander = fork();
  if (bystander == 0) {
    execlp("sleep", "sleep", "60", nullptr);
    _exit(1);
  }
  const auto stat = read_stat(bystander);
  ASSERT_TRUE(stat);
  const std::string shim = "shim 1 1\n", job = "job " + std::to_string(bystander) + " ";
  temp.put("state/run/1/lock", "");
  temp.put("state/run/1/pids", "boot 00000000-0000\n" + shim + job + std::to_string(stat->start) + "\ncgroup \n");
  EXPECT_EQ(*steward->runner->adopt(1), Found::shim_died);
  EXPECT_TRUE(lives(bystander));
  temp.put("state/run/2/lock", "");  // this boot, but the number has been given to another process since
  temp.put("state/run/2/pids", "boot " + read_boot_id() + "\n" + shim + job + std::to_string(stat->start - 1) + "\ncgroup \n");
  EXPECT_EQ(*steward->runner->adopt(2), Found::shim_died);
  EXPECT_TRUE(lives(bystander));
  temp.put("state/run/3/lock", "");
  temp.put("state/run/3/pids", "boot " + read_boot_id() + "\n" + shim + job + std::to_string(stat->start) + "\ncgroup \n");
  EXPECT_EQ(*steward->runner->adopt(3), Found::shim_died);
  EXPECT_FALSE(lives(bystander));
  waitpid(bystander, nullptr, 0);
}

TEST_P(RunnerAdopt, TornFilesAfterAPowerCutAreNotTakenForResults) {
  for (const std::string& text : {std::string(), std::string(16, '\0'), std::string("exited"), std::string("exited 0 17"),
                                  std::string("exited x 17\n"), std::string("flew 0 17\n")}) {
    temp.put("state/run/1/lock", "");
    temp.put("state/run/1/end", text);
    EXPECT_EQ(*steward->runner->adopt(1), Found::never_started) << text;
  }
  for (const std::string& text :
       {std::string(), std::string("boot x\nshim 0 0\n"), std::string("boot x\nshim a b\njob 1 1\ncgroup \n")}) {
    temp.put("state/run/2/lock", "");
    temp.put("state/run/2/pids", text);
    EXPECT_EQ(*steward->runner->adopt(2), Found::never_started) << text;
  }
}

TEST_P(RunnerAdopt, AShimThatHasNotSaidItsNumberYetIsWaitedFor) {
  temp.put("state/run/1/lock", "");
  const int lock = open((state + "/run/1/lock").c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_EQ(flock(lock, LOCK_EX), 0);
  ASSERT_EQ(*steward->runner->adopt(1), Found::alive);
  EXPECT_FALSE(steward->run_until([&] { return !steward->order.empty(); }, 50ms));
  close(lock);
  const JobEnd& end = steward->end_of(1);
  EXPECT_EQ(end.how, How::not_started);
  EXPECT_EQ(end.error, "jipsa-shim ended before it started the job");
}

}  // namespace
}  // namespace jipsa
