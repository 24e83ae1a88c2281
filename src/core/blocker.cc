#include "core/blocker.h"

#include <algorithm>
#include <charconv>

#include "core/room.h"

namespace jipsa {
namespace {

JobId to_job(const std::string& name) {
  JobId id = 0;
  std::from_chars(name.data(), name.data() + name.size(), id);
  return id;
}

struct Weighed {
  Owner owner;
  Bytes weight;
};

void weigh(std::vector<Weighed>& list, const Owner& owner, Bytes weight) {
  for (Weighed& w : list) {
    if (w.owner == owner) {
      w.weight += weight;
      return;
    }
  }
  list.push_back({owner, weight});
}

// What each owner keeps from the job: what it holds, less what it can't do without, plus what it was promised.
std::vector<Weighed> weigh_all(const World& world, int pool) {
  std::vector<Weighed> list;
  for (const Claim& claim : world.books[static_cast<std::size_t>(pool)].claims) {
    if (claim.owner.kind != OwnerKind::tenant) {
      weigh(list, claim.owner, claim.bytes);
      continue;
    }
    const int t = world.tenant_index(claim.owner.name);
    const Bytes left = t < 0 ? claim.bytes : world.leftover(t, pool).value_or(Bytes{});
    const JobId driver = t < 0 ? 0 : world.driver(t);
    // What a server holds while a job drives it is that job's.
    if (driver != 0) {
      weigh(list, {OwnerKind::job, std::to_string(driver)}, left);
    } else {
      weigh(list, claim.owner, left);
    }
  }
  for (const Entry* e : world.admitted) {
    for (const CompiledNeed& need : e->granted) {
      if (need.pool != pool) continue;
      const Owner owner{OwnerKind::job, std::to_string(e->job.id)};
      const Bytes more = e->tenant < 0 ? outstanding(world, *e, need) : Bytes{};
      weigh(list, owner, more);
      if (e->tenant < 0) continue;
      for (Weighed& w : list) {
        if (w.owner == owner) w.weight = std::max(w.weight, need.bytes);
      }
    }
  }
  return list;
}

WaitCode code_of(const World& world, const Owner& owner) {
  switch (owner.kind) {
    case OwnerKind::job:
      return WaitCode::running_job;
    case OwnerKind::process:
      return WaitCode::other_process;
    case OwnerKind::unexplained:
      return WaitCode::unexplained;
    case OwnerKind::baseline:
    case OwnerKind::driver:
      return WaitCode::baseline;
    case OwnerKind::tenant:
      break;
  }
  const int t = world.tenant_index(owner.name);
  return t < 0 ? WaitCode::leftover : code_of(world, t);
}

}  // namespace

WaitCode code_of(const World& world, int tenant) {
  switch (standing(world, tenant)) {
    case Standing::askable:
    case Standing::soon:
      return WaitCode::leftover;
    case Standing::watched:
      return WaitCode::releasing;
    case Standing::unsafe:
      return WaitCode::unsafe;
    case Standing::kept:
      return WaitCode::kept;
    case Standing::reserved:
      return WaitCode::leftover;
    case Standing::driven:
      return WaitCode::running_job;
    case Standing::busy:
      return WaitCode::tenant_busy;
    case Standing::stuck:
      return WaitCode::tenant_stuck;
  }
  return WaitCode::leftover;
}

Blocker find_blocker(const World& world, const Lack& lack) {
  const std::vector<Weighed> list = weigh_all(world, lack.pool);
  const Weighed* best = nullptr;
  bool best_suffices = false;
  for (const Weighed& w : list) {
    const bool fixed = w.owner.kind == OwnerKind::baseline || w.owner.kind == OwnerKind::driver;
    const bool suffices = !fixed && w.weight >= lack.bytes;
    if (best == nullptr || (suffices && !best_suffices) || (suffices == best_suffices && w.weight > best->weight)) {
      best = &w;
      best_suffices = suffices;
    }
  }
  if (best == nullptr) return {WaitCode::baseline, {OwnerKind::baseline, {}}, 0};
  Blocker blocker{code_of(world, best->owner), best->owner, 0};
  if (best->owner.kind == OwnerKind::job) blocker.job = to_job(best->owner.name);
  return blocker;
}

}  // namespace jipsa
