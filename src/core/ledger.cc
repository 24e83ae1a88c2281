#include "core/ledger.h"

#include <algorithm>

#include "core/trace.h"

namespace jipsa {
namespace {

Owner owner_of_pid(const World& world, Pid pid) {
  if (const auto it = world.by_pid.find(pid); it != world.by_pid.end()) return world.process_owner[it->second];
  for (const TenantMemory& tenant : world.tenants) {
    if (tenant.pid == pid) return {OwnerKind::tenant, tenant.id};
  }
  for (const Entry* e : world.admitted) {
    if (std::find(e->pids.begin(), e->pids.end(), pid) != e->pids.end()) return {OwnerKind::job, std::to_string(e->job.id)};
  }
  // The driver lists it and /proc does not: it died with memory still held, or lives where we can't see. Its own line, by number.
  return {OwnerKind::process, "pid " + std::to_string(pid)};
}

Claim* claim_for(Books& books, const Owner& owner, How how) {
  for (Claim& claim : books.claims) {
    if (claim.owner == owner) return &claim;
  }
  books.claims.push_back({owner, Bytes{}, Bytes{}, Bytes{}, how, false});
  return &books.claims.back();
}

void add(Books& books, const Owner& owner, Bytes bytes, How how) {
  if (bytes <= Bytes{}) return;
  Claim* claim = claim_for(books, owner, how);
  claim->bytes += bytes;
  claim->lo = claim->hi = claim->bytes;
}

// The driver's rows with amounts, once a pid: a process with compute and graphics contexts stands in both lists with the same
// figure. Returns the owners that are listed without an amount.
std::vector<Owner> add_measured(const World& world, const Pool& pool, Books& books) {
  std::vector<Owner> unknown;
  if (!pool.processes) return unknown;
  std::vector<DeviceProcess> rows = *pool.processes;
  std::sort(rows.begin(), rows.end(), [](const DeviceProcess& a, const DeviceProcess& b) {
    return a.pid != b.pid ? a.pid < b.pid : a.bytes.value_or(Bytes{-1}) > b.bytes.value_or(Bytes{-1});
  });
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (i > 0 && rows[i].pid == rows[i - 1].pid) continue;
    const Owner owner = owner_of_pid(world, rows[i].pid);
    if (rows[i].bytes) {
      add(books, owner, *rows[i].bytes, How::measured);
    } else if (std::find(unknown.begin(), unknown.end(), owner) == unknown.end()) {
      unknown.push_back(owner);
    }
  }
  return unknown;
}

Bytes models_sum(const Report& report) {
  Bytes sum;
  for (const LoadedModel& model : *report.models) sum += model.bytes.value_or(Bytes{});
  return sum;
}

bool has(const std::vector<Owner>& owners, const Owner& owner) {
  return std::find(owners.begin(), owners.end(), owner) != owners.end();
}

bool claims(const Books& books, const Owner& owner) { return find_claim(books, owner.kind, owner.name) != nullptr; }

// What the servers say of this pool themselves; those that are on it without a figure join the candidates.
void add_reported(const World& world, const Pool& pool, Books& books, std::vector<Owner>& candidates) {
  for (const TenantLook& look : world.looks) {
    if (!look.report || look.report->pool != pool.id) continue;
    const Owner owner{OwnerKind::tenant, look.id};
    if (claims(books, owner)) continue;  // measured already: the driver's figure for its processes is better
    if (look.report->models) {
      add(books, owner, models_sum(*look.report), How::reported);
      const bool all_known = std::all_of(look.report->models->begin(), look.report->models->end(),
                                         [](const LoadedModel& model) { return model.bytes.has_value(); });
      if (all_known) continue;
      // A model of unknown size: it holds at least what was summed, and may hold what nobody else does.
      if (!has(candidates, owner)) candidates.push_back(owner);
      continue;
    }
    const bool listed = pool.processes.has_value();
    const bool uses_it = look.report->own.value_or(Bytes{}) > Bytes{} || !look.pid;
    if (look.reachable && (!listed || uses_it) && !has(candidates, owner)) candidates.push_back(owner);
  }
  if (pool.processes) return;
  // No list of processes at all: a job that was admitted here may hold anything up to everything.
  for (const Entry* e : world.admitted) {
    if (!e->job.tenant.empty()) continue;
    const Owner owner{OwnerKind::job, std::to_string(e->job.id)};
    const bool here = std::any_of(e->granted.begin(), e->granted.end(), [&](const CompiledNeed& need) {
      return need.pool >= 0 && world.readings[static_cast<std::size_t>(need.pool)].id == pool.id;
    });
    if (here && !has(candidates, owner)) candidates.push_back(owner);
  }
}

// Claims can say more than the pool holds (estimates, units, readings of different moments). The least trustworthy are cut first,
// so that the books close; what was cut says so.
void cap(Books& books, Bytes over) {
  for (const How how : {How::reported, How::measured}) {
    std::vector<Claim*> order;
    for (Claim& claim : books.claims) {
      if (claim.how == how && claim.owner.kind != OwnerKind::driver) order.push_back(&claim);
    }
    std::sort(order.begin(), order.end(), [](const Claim* a, const Claim* b) { return a->bytes > b->bytes; });
    for (Claim* claim : order) {
      if (over <= Bytes{}) return;
      const Bytes cut = std::min(over, claim->bytes);
      claim->bytes -= cut;
      claim->lo = Bytes{};
      claim->hi = claim->bytes;
      claim->capped = true;
      over -= cut;
    }
  }
  // Even the driver's own share is larger than what is used: it is cut last.
  for (Claim& claim : books.claims) {
    const Bytes cut = std::min(over, claim.bytes);
    claim.bytes -= cut;
    claim.lo = std::min(claim.lo, claim.bytes);
    claim.hi = claim.bytes;
    claim.capped = claim.capped || cut > Bytes{};
    over -= cut;
  }
}

Bytes sum(const Books& books) {
  Bytes total;
  for (const Claim& claim : books.claims) total += claim.bytes;
  return total;
}

// Some drivers count their reserve inside `used`: then total is used + free, and the reserve is the driver's claim.
bool reserve_is_inside_used(const Pool& pool) {
  return pool.total && pool.used && pool.free && pool.reserved && *pool.reserved > Bytes{} &&
         *pool.used + *pool.free == *pool.total;
}

Bytes unused_of(const Pool& pool) {
  Bytes unused = *pool.total - *pool.used;
  if (pool.reserved && !reserve_is_inside_used(pool)) unused -= *pool.reserved;
  if (pool.free) unused = std::min(unused, *pool.free);
  return std::max(Bytes{}, unused);
}

Bytes baseline_limit(const World& world, const PoolMemory& memory) {
  const auto it = world.policy.baseline.find(memory.id);
  const Bytes configured = it == world.policy.baseline.end() ? world.policy.default_baseline : it->second;
  return memory.least_unowned ? std::min(configured, *memory.least_unowned) : configured;
}

Bytes own_of(const World& world, const Owner& owner, const std::string& pool) {
  if (owner.kind != OwnerKind::tenant) return {};
  for (const TenantLook& look : world.looks) {
    if (look.id == owner.name && look.report && look.report->pool == pool) return look.report->own.value_or(Bytes{});
  }
  return {};
}

// Shares out what nobody's figure covers, above the baseline.
void add_rest(const World& world, Books& books, PoolMemory& memory, const std::vector<Owner>& candidates, Bytes rest,
              Bytes baseline) {
  follow(world, memory, candidates, rest);
  if (candidates.empty()) {
    if (rest > Bytes{}) {
      books.claims.push_back({{OwnerKind::unexplained, {}}, rest, rest, rest + baseline, How::eliminated, false});
    }
    return;
  }
  const Shares shares = share_out(memory, candidates, rest);
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (shares.bytes[i] <= Bytes{} && shares.hi[i] <= Bytes{}) continue;
    Claim* claim =
        claim_for(books, candidates[i], shares.how);  // a reported amount may stand there already: this is on top of it
    if (claim->bytes == Bytes{} || shares.bytes[i] > kMaterial) claim->how = shares.how;
    const Bytes own = std::min(own_of(world, candidates[i], memory.id), claim->bytes + shares.bytes[i]);
    claim->lo = std::max(claim->bytes + shares.lo[i], own);
    claim->hi = claim->bytes + shares.hi[i] + baseline;
    claim->bytes += shares.bytes[i];
  }
  std::erase_if(books.claims, [](const Claim& claim) { return claim.bytes <= Bytes{}; });
}

void keep_gpu_books(World& world, const Pool& pool, Books& books, PoolMemory& memory) {
  if (!pool.used || !pool.total) return;
  books.used = pool.used;
  books.unused = unused_of(pool);
  if (reserve_is_inside_used(pool)) add(books, {OwnerKind::driver, {}}, *pool.reserved, How::measured);
  std::vector<Owner> candidates = add_measured(world, pool, books);
  std::erase_if(candidates, [&](const Owner& owner) { return claims(books, owner); });
  add_reported(world, pool, books, candidates);

  const Bytes known = sum(books);
  const Bytes unowned = *pool.used - known;
  if (unowned < Bytes{}) {
    cap(books, -unowned);
    follow(world, memory, candidates, Bytes{});
    std::erase_if(books.claims, [](const Claim& claim) { return claim.bytes <= Bytes{}; });
    return;
  }
  // Whoever holds it, the desktop and the driver hold no more than what nobody else's figure covers.
  if (!memory.least_unowned || unowned < *memory.least_unowned) memory.least_unowned = unowned;
  const Bytes baseline = std::min(unowned, baseline_limit(world, memory));
  add_rest(world, books, memory, candidates, unowned - baseline, baseline);
  if (baseline > Bytes{}) {
    books.claims.push_back({{OwnerKind::baseline, {}}, baseline, Bytes{}, unowned, How::estimated, false});
  }
}

void keep_ram_books(World& world, const Pool& pool, Books& books) {
  if (!pool.available || !pool.total) return;
  books.used = std::max(Bytes{}, *pool.total - *pool.available);
  books.unused = std::max(Bytes{}, *pool.available);
  for (std::size_t i = 0; i < world.processes.size(); ++i) {
    const Process& p = world.processes[i];
    add(books, world.process_owner[i], p.rss_anon.value_or(Bytes{}) + p.rss_shmem.value_or(Bytes{}), How::measured);
  }
  const Bytes rest = *books.used - sum(books);
  if (rest < Bytes{}) cap(books, -rest);  // shared pages counted in several processes
  std::erase_if(books.claims, [](const Claim& claim) { return claim.bytes <= Bytes{}; });
  if (rest > Bytes{}) books.claims.push_back({{OwnerKind::baseline, {}}, rest, rest, rest, How::eliminated, false});
}

}  // namespace

void keep_books(World& world) {
  for (std::size_t i = 0; i < world.readings.size(); ++i) {
    const Pool& pool = world.readings[i];
    Books& books = world.books[i];
    books.pool = pool.id;
    books.kind = pool.kind;
    books.total = pool.total;
    books.used.reset();
    books.unused.reset();
    books.claims.clear();
    if (pool.kind == PoolKind::gpu) {
      keep_gpu_books(world, pool, books, world.pool_memory[i]);
    } else {
      keep_ram_books(world, pool, books);
    }
  }
}

}  // namespace jipsa
