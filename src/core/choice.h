// Which idle servers to ask, or to restart, so that a job fits: the fewest, and of these the smallest. Internal to the planner.
#pragma once

#include <vector>

#include "core/watch.h"
#include "core/world.h"

namespace jipsa {

// How a tenant stands towards being asked now.
enum class Standing {
  askable,   // may be asked now
  soon,      // idle, but not for long enough yet
  watched,   // has been asked; being watched, or restarting
  unsafe,    // releasing would first copy more into host memory than there is
  kept,      // did not give it back when it was asked, and nothing has changed since
  reserved,  // its owner marked it `keep`, or nothing is decided about it before the next look
  driven,    // a job of the queue drives it
  busy,      // works, or does not say that it is idle
  stuck      // has work waiting, runs nothing, uses no CPU time
};
Standing standing(const World& world, int tenant);
bool restartable(const World& world, int tenant);

struct Chosen {
  int tenant = -1;
  bool restart = false;
  bool waits = false;  // `soon` or `watched`: nothing to do now
};
struct Choice {
  bool suffices = false;
  bool ready = false;  // every one of them can be asked, or has been
  std::vector<Chosen> tenants;
  Bytes total;  // what they hold together
};

// `lacks`: what the job lacks, by pool. `except`: a tenant that is not considered (the one that the job drives), or -1.
Choice choose(const World& world, const std::vector<Lack>& lacks, int except);

}  // namespace jipsa
