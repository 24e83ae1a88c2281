// Real jobs under real shims, with a loop that runs until something has come true.
#pragma once

#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "machine/loop.h"
#include "machine/runner.h"
#include "machine/sense.h"
#include "temp_folder.h"

namespace jipsa {

using namespace std::chrono_literals;

inline bool lives(Pid pid) {
  const auto stat = read_stat(pid);
  return stat && stat->state != 'Z' && stat->state != 'X';
}

template <class Condition>
bool within(std::chrono::milliseconds time, Condition&& condition) {
  const auto until = std::chrono::steady_clock::now() + time;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > until) return false;
    std::this_thread::sleep_for(2ms);
  }
  return true;
}

// A daemon as far as Runner goes.
struct Steward {
  explicit Steward(const std::string& dir, bool cgroups, const std::string& shim = JIPSA_BIN "/jipsa-shim") {
    Runner::Events events;
    events.started = [this](JobId id, JobPids pids) {
      started[id] = pids;
      order.push_back({id, "started"});
    };
    events.ended = [this](JobId id, JobEnd end) {
      EXPECT_FALSE(ended.contains(id)) << "ended twice";
      ended[id] = std::move(end);
      order.push_back({id, "ended"});
    };
    runner = std::make_unique<Runner>(*loop, dir, shim, std::move(events), cgroups);
  }

  bool run_until(const std::function<bool()>& done, std::chrono::milliseconds most = 20s) {
    const auto until = std::chrono::steady_clock::now() + most;
    std::function<void()> check = [&] {
      if (done() || std::chrono::steady_clock::now() > until) return loop->stop();
      loop->after(1ms, check);
    };
    check();
    if (!done()) loop->run();
    return done();
  }

  const JobEnd& end_of(JobId id) {
    EXPECT_TRUE(run_until([&] { return ended.contains(id); })) << "job " << id << " did not end";
    return ended[id];
  }

  bool has_started(JobId id) {
    return run_until([&] { return started.contains(id) || ended.contains(id); }) && started.contains(id);
  }

  std::unique_ptr<Loop> loop = *Loop::make();
  std::map<JobId, JobPids> started;
  std::map<JobId, JobEnd> ended;
  std::vector<std::pair<JobId, std::string>> order;
  std::unique_ptr<Runner> runner;
};

// Once with cgroups, where this machine has any for us, and once without.
class RunnerTest : public ::testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    std::filesystem::create_directory(state);
    steward = std::make_unique<Steward>(state, GetParam());
  }

  JobStart job(JobId id, std::vector<std::string> command) const {
    return {id, std::move(command), {"PATH=/usr/bin:/bin"}, temp.path(), temp.path("out-" + std::to_string(id)), {}};
  }
  JobStart shell(JobId id, const std::string& script) const { return job(id, {"sh", "-c", script}); }

  JobEnd run(const JobStart& start) {
    const auto pids = steward->runner->start(start);
    if (!pids) return {JobEnd::How::lost, -1, pids.error().what, 0};
    return steward->end_of(start.id);
  }

  std::string output(JobId id) const { return temp.get("out-" + std::to_string(id)); }

  // The number that a job has written to a file, once it is there whole.
  Pid written_pid(const std::string& name) const {
    EXPECT_TRUE(within(20s, [&] { return temp.get(name).ends_with('\n'); })) << name << " was not written";
    return static_cast<Pid>(std::atoi(temp.get(name).c_str()));
  }

  TempFolder temp;
  std::string state = temp.path("state");
  std::unique_ptr<Steward> steward;
};

}  // namespace jipsa
