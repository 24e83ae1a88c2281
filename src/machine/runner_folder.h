// One job's folder DIR/run/<id>/ as the daemon sees it.
#pragma once

#include <optional>
#include <string>

#include "machine/fd.h"
#include "machine/runner.h"

namespace jipsa {

struct RunRecord {  // the file `pids`
  JobPids pids;
  std::int64_t job_start = 0;
  std::string boot;
  std::string cgroup;  // the job's own; empty: it has none
};

class JobFolder {
 public:
  JobFolder(const std::string& state_dir, JobId id);

  [[nodiscard]] const std::string& path() const { return path_; }

  // Makes the folder, clears away what an earlier try has left there, and returns the locked lock file.
  [[nodiscard]] Result<Fd> claim() const;
  [[nodiscard]] Result<void> write_spec(const JobStart& job, const std::string& cgroup, const std::string& boot) const;

  enum class Lock { absent, open, held };
  [[nodiscard]] Lock lock() const;
  [[nodiscard]] std::optional<RunRecord> record() const;  // empty: no such file, or not a whole one
  [[nodiscard]] std::optional<JobEnd> end() const;
  void remove() const;

 private:
  std::string path_;
};

}  // namespace jipsa
