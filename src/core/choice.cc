#include "core/choice.h"

#include <algorithm>

namespace jipsa {
namespace {

std::size_t index(int i) { return static_cast<std::size_t>(i); }

// The server copies its models to host memory before it drops them.
bool copy_is_unsafe(const World& world, int tenant) {
  const TenantMemory& memory = world.tenants[index(tenant)];
  if (memory.kind != "comfyui") return false;
  Bytes on_gpu;
  bool has_gpu = false;
  for (std::size_t p = 0; p < world.readings.size(); ++p) {
    if (world.readings[p].kind != PoolKind::gpu) continue;
    const int pool = static_cast<int>(p);
    const std::optional<Bytes> known = world.held(tenant, pool);
    if (!known) return true;  // a card that can't be read may hold anything
    const Bytes held = *known;
    // What it holds with nothing loaded (its context) is never copied.
    if (held <= world.floor(tenant, pool).value_or(Bytes{}) + kMaterial) continue;
    has_gpu = true;
    on_gpu += held;
  }
  if (!has_gpu) return false;
  if (world.ram < 0) return true;  // host memory is not known
  const Pool& ram = world.readings[index(world.ram)];
  return !ram.available || *ram.available < on_gpu + world.policy.ram_headroom;
}

struct Candidate {
  Chosen chosen;
  std::vector<Bytes> gives;  // by lack
  Bytes total;
  bool free = false;  // already asked: costs nothing
};

std::vector<Bytes> gives_of(const World& world, int tenant, const std::vector<Lack>& lacks, Bytes& total) {
  std::vector<Bytes> gives;
  for (const Lack& lack : lacks) {
    gives.push_back(world.leftover(tenant, lack.pool).value_or(Bytes{}));
    total += gives.back();
  }
  return gives;
}

std::vector<Candidate> candidates_of(const World& world, const std::vector<Lack>& lacks, int except, bool with_soon,
                                     bool with_restart) {
  std::vector<Candidate> list;
  for (std::size_t t = 0; t < world.tenants.size(); ++t) {
    const int tenant = static_cast<int>(t);
    if (tenant == except) continue;
    Candidate c;
    c.gives = gives_of(world, tenant, lacks, c.total);
    if (c.total <= Bytes{}) continue;
    c.chosen.tenant = tenant;
    switch (standing(world, tenant)) {
      case Standing::askable:
        break;
      case Standing::watched:
        c.free = true;
        c.chosen.waits = true;
        break;
      case Standing::soon:
        if (!with_soon) continue;
        c.chosen.waits = true;
        break;
      default:
        if (!with_restart || !restartable(world, tenant)) continue;
        c.chosen.restart = true;
    }
    list.push_back(std::move(c));
  }
  return list;
}

bool covers(const std::vector<const Candidate*>& set, const std::vector<Lack>& lacks) {
  for (std::size_t i = 0; i < lacks.size(); ++i) {
    Bytes sum;
    for (const Candidate* c : set) sum += c->gives[i];
    if (sum < lacks[i].bytes) return false;
  }
  return true;
}

Bytes total_of(const std::vector<const Candidate*>& set) {
  Bytes sum;
  for (const Candidate* c : set) sum += c->total;
  return sum;
}

// All subsets of `size`, smallest sum first found best. With the handful of servers that a machine runs this is quick.
void search(const std::vector<const Candidate*>& pool, std::size_t from, std::size_t size, std::vector<const Candidate*>& set,
            const std::vector<Lack>& lacks, std::optional<std::vector<const Candidate*>>& best) {
  if (size == 0) {
    if (covers(set, lacks) && (!best || total_of(set) < total_of(*best))) best = set;
    return;
  }
  for (std::size_t i = from; i + size <= pool.size(); ++i) {
    set.push_back(pool[i]);
    search(pool, i + 1, size - 1, set, lacks, best);
    set.pop_back();
  }
}

// Beyond this many servers the exact search gives way to taking the largest first.
constexpr std::size_t kExact = 12;

std::optional<std::vector<const Candidate*>> greedy(std::vector<const Candidate*> pool, std::vector<const Candidate*> set,
                                                    const std::vector<Lack>& lacks) {
  std::sort(pool.begin(), pool.end(), [](const Candidate* a, const Candidate* b) { return a->total > b->total; });
  for (const Candidate* c : pool) {
    set.push_back(c);
    if (covers(set, lacks)) return set;
  }
  return std::nullopt;
}

std::optional<std::vector<const Candidate*>> smallest_set(const std::vector<Candidate>& list, const std::vector<Lack>& lacks) {
  std::vector<const Candidate*> set;
  std::vector<const Candidate*> pool;
  for (const Candidate& c : list) (c.free ? set : pool).push_back(&c);
  if (covers(set, lacks)) return set;
  if (pool.size() > kExact) return greedy(pool, set, lacks);
  std::optional<std::vector<const Candidate*>> best;
  for (std::size_t size = 1; size <= pool.size() && !best; ++size) search(pool, 0, size, set, lacks, best);
  return best;
}

}  // namespace

Standing standing(const World& world, int tenant) {
  const TenantMemory& memory = world.tenants[index(tenant)];
  if (memory.watch || memory.restarting) return Standing::watched;
  if (memory.blind) return Standing::reserved;
  if (world.stuck(tenant)) return Standing::stuck;
  if (world.driver(tenant) != 0) return Standing::driven;
  if (!world.known_idle(tenant)) return Standing::busy;
  if (world.tenant_policy(memory.id).keep) return Standing::reserved;
  if (world.cooling(tenant)) return Standing::kept;
  if (copy_is_unsafe(world, tenant)) return Standing::unsafe;
  const std::optional<Seconds> since = world.idle_since(tenant);
  return since && world.now - *since >= world.policy.idle_grace - 1e-9 ? Standing::askable : Standing::soon;
}

bool restartable(const World& world, int tenant) {
  const TenantMemory& memory = world.tenants[index(tenant)];
  const TenantPolicy& policy = world.tenant_policy(memory.id);
  if (policy.restart != RestartLeave::automatic || policy.keep) return false;
  if (memory.restart_failed && world.now < memory.restart_failed->at + world.policy.release_cooldown) return false;
  const Standing stands = standing(world, tenant);
  if (stands == Standing::stuck) return world.driver(tenant) == 0;  // its work will never be done: only a restart helps
  if (stands != Standing::kept && stands != Standing::unsafe) return false;
  const std::optional<Seconds> since = world.idle_since(tenant);
  return since && world.now - *since >= world.policy.idle_grace - 1e-9;
}

Choice choose(const World& world, const std::vector<Lack>& lacks, int except) {
  // First what can be asked now; then with those that are idle but not for long; then with restarts, where the owner allows them.
  for (const auto& [with_soon, with_restart] : {std::pair{false, false}, std::pair{true, false}, std::pair{false, true}}) {
    const std::vector<Candidate> list = candidates_of(world, lacks, except, with_soon, with_restart);
    const auto set = smallest_set(list, lacks);
    if (!set) continue;
    Choice choice;
    choice.suffices = true;
    choice.total = total_of(*set);
    choice.ready = true;
    for (const Candidate* c : *set) {
      choice.tenants.push_back(c->chosen);
      if (c->chosen.waits && !c->free) choice.ready = false;
    }
    return choice;
  }
  return {};
}

}  // namespace jipsa
