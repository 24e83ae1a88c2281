// The processes of one job: listing them and signalling all of them.
#pragma once

#include <vector>

#include "machine/runner_folder.h"

namespace jipsa {

// All that live now, the shim excluded: in the job's cgroup, below its shim, and, if the shim is dead, below the job's first
// process and in its session.
std::vector<Pid> job_processes(const RunRecord& job, const std::string& boot);

// Signals all of them, those born meanwhile too, as far as a few rounds reach. How many were alive at the first look.
std::size_t signal_job(const RunRecord& job, const std::string& boot, int sig);

}  // namespace jipsa
