// What is left of a job when its first process has ended.
#pragma once

#include "shim/files.h"

namespace jipsa::shim {

// Ends every process below this one, and those in `cgroup` (empty: none): TERM, then KILL after 2 s. Returns when all are gone,
// at once if nothing is left; gives up on processes that KILL does not end within half a minute (stuck in a driver).
void end_rest(const char* cgroup);

}  // namespace jipsa::shim
