// How much room a pool has: now, for a job that is next, and in the long run
// beside those that wait. Internal to the planner.
#pragma once

#include <vector>

#include "core/world.h"

namespace jipsa {

struct Room {
  bool measured = false;
  std::optional<Bytes> ever;  // the most that a job can ever have here; empty: total not known
  Bytes now;                  // unused, less headroom, less what admitted jobs were promised and
                              // have not taken; may be below 0
  Bytes firm;                 // of the pool, what stays whatever jobs and servers do: baseline,
                              // driver, floors
  Bytes outsiders;            // processes outside the queue and unexplained memory: they
                              // stay, unless a waiting job can only start without them
  Bytes passers;              // promised to jobs that were let past one that waits
  int own_jobs = 0;           // admitted jobs with a need here
  // What jobs of higher rank that wait in this turn have reserved:
  Bytes reserved;
  bool lacking = false;  // one of them lacks memory here
  bool closed = false;   // so many of them wait that nobody behind may take anything here
  const Entry* first = nullptr;

  // What a job may take here without delaying those. Kept, because thousands of
  // jobs ask between two changes; `settle` after a change.
  Bytes allowed;
  void settle();
  // The room there is for jobs that wait, once what can go has gone.
  [[nodiscard]] Bytes later(Bytes need) const;
};

std::vector<Room> measure_rooms(const World& world);

// What the job would add to a pool: its need, less what its server already
// holds of the same bundle.
Bytes effective_need(const World& world, const Entry& entry, int pool, Bytes need);

// What an admitted job may still take.
Bytes outstanding(const World& world, const Entry& entry, const CompiledNeed& need);

// Before an admitted job that drives a server is taken out: what of its
// promises no look has shown.
void keep_unseen(World& world, const Entry& entry);

Bytes headroom_of(const Policy& policy, PoolKind kind);

}  // namespace jipsa
