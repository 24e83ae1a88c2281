// Who most stands in the way of a job that lacks memory. Internal to the planner.
#pragma once

#include "core/choice.h"
#include "core/world.h"

namespace jipsa {

struct Blocker {
  WaitCode code = WaitCode::baseline;
  Owner owner;
  JobId job = 0;  // the owner, if a job
};

// An owner whose going alone would make the job fit, the largest of these; else the largest of all. The desktop and the driver,
// which nobody can ask to go, only if nobody else is large enough.
Blocker find_blocker(const World& world, const Lack& lack);

WaitCode code_of(const World& world, int tenant);

}  // namespace jipsa
