// The job's own process: from fork to exec.
#pragma once

#include <sys/types.h>

#include "shim/files.h"

namespace jipsa::shim {

// What kept the job from being executed, as its process tells the shim.
struct Failure {
  enum Call : int { none = 0, input, output, chdir, exec };
  enum Hint : int { nothing = 0, not_in_path, no_interpreter };
  int call = none;
  int error = 0;
  int hint = nothing;
};

struct Child {
  pid_t pid = -1;
  int channel = -1;  // the shim's end: release() through it
  bool in_cgroup = false;
};

// Forks the job's process, in spec.cgroup where that is possible. It waits for release(), and ends if the shim does before.
Child fork_child(const Spec& spec);

// Lets it go on, and waits until it has been executed (call none) or has failed.
Failure release(const Child& child);

// "chdir /x: No such file or directory"
void describe(const Failure& failure, const Spec& spec, char* text, std::size_t size);

}  // namespace jipsa::shim
