// Whose memory is it? Makes a pool's books from one look and what is remembered of the looks before.
#pragma once

#include "core/world.h"

namespace jipsa {

// Rebuilds World::books for every pool from the newest look, and updates what is remembered for the next.
// Every measured pool's claims add up to its `used` exactly.
void keep_books(World& world);

}  // namespace jipsa
