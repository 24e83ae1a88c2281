// Telling apart several owners on a card whose amounts the driver does not give: by who was at work while it grew or fell.
#pragma once

#include <vector>

#include "core/world.h"

namespace jipsa {

// Takes the change of `rest` (what the candidates hold together) since the last measured look into the traces.
void follow(const World& world, PoolMemory& memory, const std::vector<Owner>& candidates, Bytes rest);

// How `rest` is shared among the candidates, by the traces.
struct Shares {
  How how = How::eliminated;  // eliminated: one candidate; traced: told apart; shared: not
  std::vector<Bytes> bytes, lo, hi;
};
Shares share_out(const PoolMemory& memory, const std::vector<Owner>& candidates, Bytes rest);

}  // namespace jipsa
