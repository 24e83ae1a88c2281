// The files of a job's folder, as the shim sees them: plain system calls, no allocation but for the spec.
#pragma once

#include <sys/types.h>

#include <cstdint>

namespace jipsa::shim {

struct Spec {
  const char* output = "";
  const char* dir = "";
  const char* input = "";
  const char* cgroup = "";
  const char* boot = "";
  char** args = nullptr;  // both end in a null pointer
  char** vars = nullptr;
};

// False: errno says why; EBADMSG if the file is not a whole spec.
bool read_spec(int folder, Spec& spec);

// The kernel's start time of a process; 0 if it is gone.
std::int64_t start_time(pid_t pid);

// Writes DIR/pids whole or not at all. False: errno says why.
bool write_pids(int folder, const Spec& spec, pid_t job, bool in_cgroup);

// Room for `end` is taken before the job starts: a job that fills the disk must not lose its own result.
int reserve_end(int folder);
bool write_end(int folder, int reserved, const char* how, int value, std::int64_t wall_ms, const char* error);

std::int64_t wall_ms();

}  // namespace jipsa::shim
