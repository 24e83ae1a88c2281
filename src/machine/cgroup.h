// A cgroup (version 2) for each job, below the daemon's own, where this machine lets us.
#pragma once

#include <string>
#include <vector>

#include "core/model.h"

namespace jipsa {

class Cgroups {
 public:
  Cgroups() = default;  // none
  // Looks for a version 2 hierarchy and the daemon's place in it. `state_dir` must exist: its inode makes the folder's name our
  // own.
  static Cgroups find(const std::string& state_dir, const std::string& proc = "/proc");
  ~Cgroups();  // removes what no job is left in
  Cgroups(Cgroups&&) noexcept = default;
  Cgroups& operator=(Cgroups&&) noexcept = default;

  // The folder of a job's own cgroup; empty where none can be made: then the job runs without.
  [[nodiscard]] std::string make(JobId id) const;
  [[nodiscard]] std::string path(JobId id) const;  // empty: no cgroups here

 private:
  std::string base_;  // empty: no cgroups here
};

// The processes in a cgroup and in those below it. Empty also if it is gone.
std::vector<Pid> cgroup_processes(const std::string& path);

// KILL to all of them at once, those being born too. False: this kernel can't (before 5.14), or it is gone.
bool cgroup_kill(const std::string& path);

// Removes it with those below it. False: something lives in it.
bool cgroup_remove(const std::string& path);

}  // namespace jipsa
