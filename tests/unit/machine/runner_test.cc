#include "machine/runner.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runner_fixture.h"

namespace jipsa {
namespace {

using How = JobEnd::How;

INSTANTIATE_TEST_SUITE_P(Cgroups, RunnerTest, ::testing::Values(true, false),
                         [](const auto& param) { return param.param ? "WithCgroups" : "Without"; });

TEST_P(RunnerTest, ExitCodesAreTheJobsOwn) {
  for (const int code : {0, 1, 3, 127, 255}) {
    const JobEnd end = run(shell(code + 1, "exit " + std::to_string(code)));
    EXPECT_EQ(end.how, How::exited);
    EXPECT_EQ(end.value, code);
    EXPECT_GT(end.ended_wall_ms, 1'500'000'000'000);
  }
}

TEST_P(RunnerTest, SignalsAreToldFromExitCodes) {
  for (const int sig : {SIGKILL, SIGSEGV, SIGTERM, SIGHUP}) {
    const JobEnd end = run(shell(sig, "kill -" + std::to_string(sig) + " $$; sleep 60"));
    EXPECT_EQ(end.how, How::signalled);
    EXPECT_EQ(end.value, sig);
  }
}

TEST_P(RunnerTest, StartedComesBeforeEndedAndNamesTheProcess) {
  const auto pids = steward->runner->start(shell(7, "echo $$ > pid"));
  ASSERT_TRUE(pids) << pids.error().what;
  EXPECT_GT(pids->shim, 0);
  EXPECT_GT(pids->shim_start, 0);
  EXPECT_EQ(steward->end_of(7).how, How::exited);
  ASSERT_EQ(steward->order.size(), 2U);
  EXPECT_EQ(steward->order[0].second, "started");
  EXPECT_EQ(steward->started[7].shim, pids->shim);
  EXPECT_EQ(steward->started[7].pid, written_pid("pid"));
}

TEST_P(RunnerTest, OutputIsAppendedInOrderAndPrivate) {
  temp.put("out-1", "before\n");
  EXPECT_EQ(run(shell(1, "echo one; echo two >&2; echo three")).value, 0);
  EXPECT_EQ(output(1), "before\none\ntwo\nthree\n");
  EXPECT_EQ(run(shell(2, "echo new")).value, 0);
  struct stat info{};
  ASSERT_EQ(stat(temp.path("out-2").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600U);
}

TEST_P(RunnerTest, InputArrivesByteForByte) {
  std::string text = "\xEC\x98\x81\xEC\x83\x81 \xF0\x9F\x8E\xAC\r\n";
  text += std::string("\0\xff\xfe", 3);
  for (int i = 0; i < 200000; ++i) text += static_cast<char>(i * 7 % 256);
  JobStart start = job(1, {"cat"});
  start.input = text;
  EXPECT_EQ(run(start).value, 0);
  EXPECT_EQ(output(1), text);
  start = job(2, {"cat"});
  start.input = "";
  EXPECT_EQ(run(start).value, 0);
  EXPECT_EQ(output(2), "");
  EXPECT_EQ(run(job(3, {"cat"})).value, 0);  // no input: /dev/null, not the daemon's own
  EXPECT_EQ(output(3), "");
}

TEST_P(RunnerTest, ArgumentsAndEnvironmentArriveAsTheyAre) {
  JobStart start = job(1, {"env"});
  start.env = {"PATH=/usr/bin:/bin", "이름=영상 ", "EMPTY=", "TWO=a\nb"};
  EXPECT_EQ(run(start).value, 0);
  EXPECT_EQ(output(1), "PATH=/usr/bin:/bin\n이름=영상 \nEMPTY=\nTWO=a\nb\n");
  EXPECT_EQ(run(job(2, {"printf", "[%s]", "", " a b ", "$x", "한"})).value, 0);
  EXPECT_EQ(output(2), "[][ a b ][$x][한]");
}

TEST_P(RunnerTest, TheJobHasItsOwnSessionAndNothingOfTheDaemonsOpen) {
  const int leak = open("/dev/null", O_RDONLY);  // without O_CLOEXEC, as a careless library would
  const char* script =
      "for f in 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do [ -e /proc/$$/fd/$f ] && echo open $f; done\n"
      "ps -o pid=,sid=,pgid= -p $$ | tr -s ' '; grep -E 'Sig(Blk|Ign)' /proc/self/status; echo $$ > pid";
  EXPECT_EQ(run(shell(1, script)).value, 0);
  close(leak);
  const std::string p = std::to_string(written_pid("pid"));
  EXPECT_EQ(output(1).find("open"), std::string::npos) << output(1);
  EXPECT_NE(output(1).find(p + " " + p + " " + p), std::string::npos) << output(1);
  EXPECT_NE(output(1).find("SigBlk:\t0000000000000000"), std::string::npos) << output(1);
  EXPECT_NE(output(1).find("SigIgn:\t0000000000000000"), std::string::npos) << output(1);
}

TEST_P(RunnerTest, TheCommandIsLookedUpInTheJobsPath) {
  temp.put("own/tool", "#!/bin/sh\necho mine $1\n");
  std::filesystem::permissions(temp.path("own/tool"), std::filesystem::perms::owner_all);
  JobStart start = job(1, {"tool", "x"});
  start.env = {"PATH=/nowhere:" + temp.path("own")};
  EXPECT_EQ(run(start).value, 0);
  EXPECT_EQ(output(1), "mine x\n");
  EXPECT_EQ(run(job(2, {"./own/tool", "y"})).value, 0);  // relative to the job's folder
  EXPECT_EQ(output(2), "mine y\n");
  temp.put("own/plain", "echo no first line $1\n");  // goes to the shell, as from a shell
  std::filesystem::permissions(temp.path("own/plain"), std::filesystem::perms::owner_all);
  EXPECT_EQ(run(job(3, {temp.path("own/plain"), "z"})).value, 0);
  EXPECT_EQ(output(3), "no first line z\n");
}

TEST_P(RunnerTest, WhatCanNotBeStartedSaysExactlyWhy) {
  const auto error_of = [&](JobStart start) {
    const JobEnd end = run(start);
    EXPECT_EQ(end.how, How::not_started) << end.error;
    EXPECT_FALSE(steward->started.contains(start.id));
    return end.error;
  };
  EXPECT_EQ(error_of(job(1, {"no-such-tool"})), "exec no-such-tool: No such file or directory (it is not in the job's PATH)");
  EXPECT_EQ(error_of(job(2, {"/no/such"})), "exec /no/such: No such file or directory");
  EXPECT_EQ(error_of(job(3, {"/tmp"})), "exec /tmp: Is a directory");
  temp.put("text", "not a program");
  EXPECT_EQ(error_of(job(4, {temp.path("text")})), "exec " + temp.path("text") + ": Permission denied");
  JobStart start = shell(5, "true");
  start.dir = temp.path("gone");
  EXPECT_EQ(error_of(start), "chdir " + temp.path("gone") + ": No such file or directory");
  start = shell(6, "true");
  start.output = temp.path("gone/out");
  EXPECT_EQ(error_of(start), "open output " + temp.path("gone/out") + ": No such file or directory");
  start = shell(7, "true");
  start.output = temp.path();
  EXPECT_EQ(error_of(start), "open output " + temp.path() + ": Is a directory");
  EXPECT_EQ(error_of(job(8, {"true", std::string(300000, 'x')})), "exec true: Argument list too long");
  start = shell(9, "true");
  for (int i = 0; i < 100; ++i) start.env.push_back("V" + std::to_string(i) + "=" + std::string(100000, 'v'));
  EXPECT_EQ(error_of(start), "exec sh: Argument list too long");
  EXPECT_EQ(error_of(job(10, {""})), "exec : No such file or directory");
  temp.put("script", "#!/no/interpreter\n");
  std::filesystem::permissions(temp.path("script"), std::filesystem::perms::owner_all);
  EXPECT_EQ(
      error_of(job(11, {temp.path("script")})),
      "exec " + temp.path("script") + ": No such file or directory (the file is there; the interpreter that it names is not)");
  start = shell(12, "true");
  start.dir = "";
  EXPECT_EQ(error_of(start), "chdir : No such file or directory");
}

TEST_P(RunnerTest, WordsThatNoSystemCallCanTakeAreRefused) {
  EXPECT_EQ(steward->runner->start(job(1, {})).error().code, Code::bad_input);
  EXPECT_EQ(steward->runner->start(job(2, {"echo", std::string("a\0b", 3)})).error().code, Code::bad_input);
  JobStart start = shell(3, "true");
  start.env.push_back(std::string("A=\0", 3));
  EXPECT_EQ(steward->runner->start(start).error().code, Code::bad_input);
  EXPECT_EQ(run(shell(2, "true")).how, How::exited);  // and the id is still good
}

TEST_P(RunnerTest, AMissingShimIsAnErrorOfStart) {
  Steward other(state, GetParam(), "/no/such/shim");
  const auto pids = other.runner->start(shell(1, "true"));
  ASSERT_FALSE(pids);
  EXPECT_EQ(pids.error().code, Code::io);
  EXPECT_EQ(pids.error().what, "start /no/such/shim: No such file or directory");
  EXPECT_EQ(*other.runner->adopt(1), Runner::Found::never_started);
}

TEST_P(RunnerTest, AJobRunsOnceAtATime) {
  ASSERT_TRUE(steward->runner->start(shell(1, "sleep 60")));
  EXPECT_EQ(steward->runner->start(shell(1, "true")).error().code, Code::conflict);
  Steward other(state, GetParam());
  EXPECT_EQ(other.runner->start(shell(1, "true")).error().code, Code::conflict);
  steward->runner->stop(1, 0ms);
  EXPECT_EQ(steward->end_of(1).how, How::signalled);
}

TEST_P(RunnerTest, TwoHundredQuickJobs) {
  for (JobId id = 1; id <= 200; ++id) {
    const JobEnd end = run(job(id, {"true"}));
    ASSERT_EQ(end.how, How::exited) << id << ": " << end.error;
    ASSERT_EQ(end.value, 0);
    steward->runner->forget(id);
  }
  EXPECT_TRUE(std::filesystem::is_empty(state + "/run"));
}

TEST_P(RunnerTest, ManyAtOnce) {
  for (JobId id = 1; id <= 40; ++id) ASSERT_TRUE(steward->runner->start(shell(id, "exit " + std::to_string(id))));
  ASSERT_TRUE(steward->run_until([&] { return steward->ended.size() == 40; }));
  for (JobId id = 1; id <= 40; ++id) EXPECT_EQ(steward->ended[id].value, id);
}

TEST_P(RunnerTest, AnEndedCallbackMayForgetAndStartTheNext) {
  Runner* runner = nullptr;
  auto loop = *Loop::make();
  JobId last = 0;
  Runner::Events events;
  events.ended = [&](JobId id, const JobEnd&) {
    runner->forget(id);
    last = id;
    if (id == 20) return loop->stop();
    ASSERT_TRUE(runner->start(job(id + 1, {"true"})));
  };
  Runner own(*loop, state, JIPSA_BIN "/jipsa-shim", events, GetParam());
  runner = &own;
  ASSERT_TRUE(own.start(job(1, {"true"})));
  loop->run();
  EXPECT_EQ(last, 20);
}

TEST_P(RunnerTest, ProcessesListsTheWholeTreeWithoutTheShim) {
  ASSERT_TRUE(
      steward->runner->start(shell(1, "sleep 60 & setsid sh -c 'echo $$ > far; sleep 60 & wait' & echo $$ > main; wait")));
  ASSERT_TRUE(steward->has_started(1));
  const Pid main = written_pid("main"), far = written_pid("far");
  ASSERT_TRUE(within(20s, [&] { return steward->runner->processes(1).size() == 4; })) << steward->runner->processes(1).size();
  const auto pids = steward->runner->processes(1);
  EXPECT_NE(std::ranges::find(pids, main), pids.end());
  EXPECT_NE(std::ranges::find(pids, far), pids.end());
  EXPECT_EQ(std::ranges::find(pids, steward->started[1].shim), pids.end());
  EXPECT_TRUE(steward->runner->processes(99).empty());
  steward->runner->stop(1, 0ms);
  steward->end_of(1);
  EXPECT_TRUE(steward->runner->processes(1).empty());
  EXPECT_FALSE(lives(far));
}

}  // namespace
}  // namespace jipsa
