// What must survive a crash: jobs, releases, the engine's state. SQLite, WAL, synchronous FULL, STRICT tables.
// One thread. Every call that returns success is on disk, unless it says otherwise.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/decision.h"
#include "core/model.h"
#include "core/result.h"

namespace jipsa {

enum class JobState { waiting, held, starting, running, succeeded, failed, cancelled, lost };
const char* name(JobState);
bool is_final(JobState);

// A job as it was submitted and what became of it. Times are wall clock, milliseconds since 1970.
struct JobRecord {
  Job job;                           // id, name, needs, priority, tenant, bundle, after
  std::vector<std::string> command;  // argv as it will be executed
  std::string dir;
  std::vector<std::string> env;  // "K=V", whole environment of the job
  std::string launcher, text;    // instruction jobs: the launcher's name and the text, UTF-8 as given
  JobState state = JobState::waiting;
  std::string gpu_pool;                   // where it was admitted
  std::optional<std::int64_t> exit_code;  // exit status; empty if a signal ended it or it is not known
  std::optional<std::int64_t> signal;
  std::string note;    // why it is cancelled, failed to start, or lost: a stable code such as "dependency:41"
  std::string output;  // absolute path of its output file
  std::int64_t submitted_ms = 0;
  std::optional<std::int64_t> started_ms, ended_ms;
  std::optional<Pid> shim_pid, pid;
  std::optional<std::int64_t> shim_start;  // start time in ticks, to tell a reused pid
  std::string boot_id;
};

struct ReleasePool {
  std::string pool;
  std::optional<Bytes> before, after;
  std::string verdict;  // empty until it is given
  std::optional<double> settled_s;
};
struct ReleaseRecord {
  std::int64_t id = 0;
  std::string tenant;
  std::int64_t asked_ms = 0;
  std::optional<JobId> job;
  std::string asked_by;  // "queue" or "person"
  std::vector<ReleasePool> pools;
  bool restart = false;  // a restart rather than a release
  std::string error;     // the answer's error, if any
};

class Store {
 public:
  // Opens or creates DIR/jipsa.db. A database that is damaged, of a newer version, or not ours is left untouched:
  // Code::unreadable with the path and the mend. Code::io for a read-only or full disk.
  static Result<std::unique_ptr<Store>> open(const std::string& dir);
  ~Store();
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  // A job's id is the store's to give: record.job.id is not looked at. Code::bad_input for a NUL byte in command or env.
  Result<JobId> add(JobRecord record);
  // State, gpu_pool, exit, note, started, ended, pids, boot, output; the rest stays as it was added. Code::not_found.
  Result<void> save(const JobRecord& record);
  // Several saves in one transaction: an exit and the next job's intent cost one sync.
  Result<void> save_all(const std::vector<JobRecord>& records);
  Result<std::optional<JobRecord>> find(JobId id) const;
  Result<std::vector<JobRecord>> unfinished() const;  // all that are not final, by id
  // The newest finished ones, newest first; without env and text.
  Result<std::vector<JobRecord>> recent(std::int64_t limit) const;

  // The newest 100,000 releases are kept.
  Result<std::int64_t> add_release(const ReleaseRecord& record);
  Result<void> save_release(const ReleaseRecord& record);
  // Newest first; tenant empty: all.
  Result<std::vector<ReleaseRecord>> releases(std::int64_t limit, const std::string& tenant) const;
  struct ReleaseSummary {
    std::string tenant, pool, verdict;
    std::int64_t count = 0;
    Bytes freed;
  };
  // By tenant, pool and verdict: releases with a verdict, restarts left out. `freed` is before - after where both are known,
  // added up.
  Result<std::vector<ReleaseSummary>> release_summary() const;

  // Small durable values: the engine's state, whether the queue is paused, the boot it was written in.
  Result<void> put(const std::string& key, const std::string& value);
  Result<std::optional<std::string>> get(const std::string& key) const;

 private:
  Store();
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace jipsa
