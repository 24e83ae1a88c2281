// Whose child is whose, without a pass over all of /proc.
#pragma once

#include <string>
#include <vector>

#include "core/model.h"

namespace jipsa {

// `root` and all its living descendants, root first and parents before children; empty if root is gone or a zombie without
// children. Uses the kernel's lists of children where they exist: some microseconds a process. A process born during the walk may
// be missed.
std::vector<Pid> list_tree(Pid root, const std::string& proc = "/proc");

}  // namespace jipsa
