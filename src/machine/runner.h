// Starting, finding and ending jobs. Each runs under its own jipsa-shim, which outlives the daemon.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/model.h"
#include "core/result.h"
#include "machine/loop.h"

namespace jipsa {

struct JobStart {
  JobId id = 0;
  std::vector<std::string> command;  // argv; argv[0] is looked up in the job's own PATH
  std::vector<std::string> env;
  std::string dir;
  std::string output;                // file for standard output and error, appended to
  std::optional<std::string> input;  // text for standard input; empty: /dev/null
};

struct JobPids {
  Pid shim = 0;
  std::int64_t shim_start = 0;
  Pid pid = 0;  // the job's first process; 0 until it is known
};

struct JobEnd {
  enum class How { exited, signalled, not_started, lost };
  How how = How::lost;
  int value = 0;      // exit status or signal number
  std::string error;  // not_started: "chdir /x: No such file or directory"; lost: what is known
  std::int64_t ended_wall_ms = 0;
};

// Files of a job live in DIR/run/<id>/: `lock` (held by the shim as long as it lives), `spec`, `pids`, `end`.
// The lock's open file is made before the shim is and handed to it, so that after a crash of the daemon at any instant exactly
// one of these holds: the lock is held (a shim lives), `end` exists (it ended), `pids` exists (the shim was killed), or none
// (never started).
class Runner {
 public:
  struct Events {
    std::function<void(JobId, JobPids)> started;  // the job's process has been executed; comes before exited and signalled
    std::function<void(JobId, JobEnd)> ended;     // once a job
  };
  // `state_dir` must exist. `use_cgroups` false: as on a machine that has none for us.
  Runner(Loop& loop, std::string state_dir, std::string shim_path, Events events, bool use_cgroups = true);
  ~Runner();  // jobs go on running
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;

  // The caller has written its intent to the store before. Returns when the shim process exists.
  Result<JobPids> start(const JobStart& job);

  enum class Found { alive, ended, never_started, shim_died };
  // After a daemon restart: what became of a job that was starting or running. alive: events follow as if this daemon had started
  // it. ended: `ended` follows from the loop. shim_died: what is left of its processes was ended; it is lost.
  Result<Found> adopt(JobId id);

  // TERM to every process of the job (cgroup, else the shim's tree and session), KILL after `grace`. `ended` follows.
  void stop(JobId id, std::chrono::milliseconds grace);

  [[nodiscard]] std::vector<Pid> processes(JobId id) const;  // all of the job's processes now, shim excluded
  void forget(JobId id);                                     // removes DIR/run/<id>; after the end is in the store

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace jipsa
