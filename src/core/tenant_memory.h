// What each look teaches about the tenants: idle since when, restarted, stuck, and what its floor is.
#pragma once

#include "core/world.h"

namespace jipsa {

// Before the books of a look are made: identities, work and idleness.
void note_looks(World& world);

// After they are made: floors.
void learn_floors(World& world);

// From now on, until it works again, the least that the tenant is seen to hold in `pool` ("*": in any) is its floor.
void learn_floor_of(TenantMemory& memory, const std::string& pool);

// The tenant got what it holds from nobody that we know, from now on.
void forget_bundle(TenantMemory& memory);

}  // namespace jipsa
