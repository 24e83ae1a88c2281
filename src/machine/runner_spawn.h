// Starting the program jipsa-shim.
#pragma once

#include <string>

#include "machine/fd.h"
#include "machine/runner.h"

namespace jipsa {

struct Spawned {
  Pid pid = 0;
  Fd pidfd;   // readable when the shim has ended
  Fd status;  // what it says of the start; see shim_protocol.h
};

// `folder`: the job's, with a spec in it. `lock`: its locked lock file, which the shim inherits.
Result<Spawned> spawn_shim(const std::string& shim, const std::string& folder, const Fd& lock);

// Readable when the process has ended. By system call: glibc 2.36 declares its wrapper in a way that C++ can't link.
Fd open_pidfd(Pid pid);

// Takes the end of a shim that was a child of this process; of others nothing is to be taken.
void reap(const Fd& pidfd);

}  // namespace jipsa
