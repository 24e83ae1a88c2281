// What should happen now? Goes through the queue in order of rank: admits what fits, asks idle servers, and says why the others
// wait.
#pragma once

#include <vector>

#include "core/world.h"

namespace jipsa {

// Decides on everything that can be decided with what is known, and appends the decisions.
void plan(World& world, std::vector<Output>& out);

// A job that drives a tenant has ended: is its bundle to be released?
void end_bundle(World& world, const Entry& ended);

// A person asks for a release. Nothing happens if it works, is driven by a job, is being watched, or would have no room for the
// copy.
void ask_by_hand(World& world, int tenant, std::vector<Output>& out);

Reason explain(const World& world, const Entry& entry);

}  // namespace jipsa
