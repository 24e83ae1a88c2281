// Watching a release: did memory move, and can it still be expected to? An answer is a receipt, only measured memory is a
// verdict.
#pragma once

#include <vector>

#include "core/world.h"

namespace jipsa {

// Begins watching. `lacks`: what the job lacks, by pool index; empty: everything above the floor is asked for.
struct Lack {
  int pool = kNoPool;
  Bytes bytes;
};
void begin_watch(World& world, int tenant, std::optional<JobId> job, bool by_hand, const std::vector<Lack>& lacks);

// After the books of a look are made: gives every verdict that has become certain.
void judge_releases(World& world, std::vector<Output>& out);

// The server's answer. A refusal and a missing answer are verdicts; a yes is not.
void note_answer(World& world, const Released& answer, std::vector<Output>& out);

}  // namespace jipsa
