#include "core/world.h"

#include <algorithm>

namespace jipsa {

int World::pool_index(const std::string& id) const {
  for (std::size_t i = 0; i < readings.size(); ++i) {
    if (readings[i].id == id) return static_cast<int>(i);
  }
  return kNoPool;
}

int World::tenant_index(const std::string& id) const {
  for (std::size_t i = 0; i < tenants.size(); ++i) {
    if (tenants[i].id == id) return static_cast<int>(i);
  }
  return -1;
}

const TenantLook* World::look(int tenant) const {
  const int i = look_of[static_cast<std::size_t>(tenant)];
  return i < 0 ? nullptr : &looks[static_cast<std::size_t>(i)];
}

const Process* World::process(std::optional<Pid> pid) const {
  if (!pid) return nullptr;
  const auto it = by_pid.find(*pid);
  return it == by_pid.end() ? nullptr : &processes[it->second];
}

const TenantPolicy& World::tenant_policy(const std::string& id) const {
  static const TenantPolicy defaults;
  const auto it = policy.tenants.find(id);
  return it == policy.tenants.end() ? defaults : it->second;
}

const Claim* find_claim(const Books& books, OwnerKind kind, const std::string& name) {
  for (const Claim& claim : books.claims) {
    if (claim.owner.kind == kind && claim.owner.name == name) return &claim;
  }
  return nullptr;
}

std::optional<Bytes> World::held(int tenant, int pool) const {
  const Books& b = books[static_cast<std::size_t>(pool)];
  if (!b.used) return std::nullopt;
  const Claim* claim = find_claim(b, OwnerKind::tenant, tenants[static_cast<std::size_t>(tenant)].id);
  if (claim != nullptr) return claim->bytes;
  // Host memory is attributed by the tenant's processes: without them, or of one that is dying and has no figures any more,
  // nothing is known of what it holds there.
  if (b.kind == PoolKind::ram) {
    const Process* p = process(tenants[static_cast<std::size_t>(tenant)].pid);
    if (p == nullptr || (!p->rss_anon && !p->rss_shmem)) return std::nullopt;
  }
  return Bytes{};
}

std::optional<Bytes> World::floor(int tenant, int pool) const {
  const TenantMemory& memory = tenants[static_cast<std::size_t>(tenant)];
  const std::string& id = readings[static_cast<std::size_t>(pool)].id;
  if (const auto it = memory.floor.find(id); it != memory.floor.end()) return it->second;
  const auto& configured = tenant_policy(memory.id).floor;
  if (const auto it = configured.find(id); it != configured.end()) return it->second;
  return std::nullopt;
}

std::optional<Bytes> World::leftover(int tenant, int pool) const {
  const std::optional<Bytes> holds = held(tenant, pool);
  if (!holds) return std::nullopt;
  return std::max(Bytes{}, *holds - floor(tenant, pool).value_or(Bytes{}));
}

std::optional<double> World::cpu(int tenant) const {
  const Process* p = process(tenants[static_cast<std::size_t>(tenant)].pid);
  return p == nullptr ? std::nullopt : p->cpu;
}

bool World::busy(int tenant) const {
  const TenantLook* l = look(tenant);
  return l != nullptr && (l->running.value_or(0) > 0 || l->pending.value_or(0) > 0);
}

bool World::known_idle(int tenant) const {
  const TenantLook* l = look(tenant);
  return l != nullptr && l->reachable && l->running == 0 && l->pending == 0;
}

std::optional<Seconds> World::idle_since(int tenant) const {
  if (!known_idle(tenant)) return std::nullopt;
  const TenantMemory& memory = tenants[static_cast<std::size_t>(tenant)];
  // Its own word counts unless it was seen at work after that: a prompt that failed leaves no trace in some histories.
  if (memory.last_used && (!memory.last_busy || *memory.last_used >= *memory.last_busy)) return std::min(*memory.last_used, now);
  return memory.idle_first;
}

bool World::stuck(int tenant) const {
  const TenantMemory& memory = tenants[static_cast<std::size_t>(tenant)];
  return memory.pending_since && now - *memory.pending_since >= policy.stuck_after;
}

int World::drivers(int tenant) const {
  const std::string& id = tenants[static_cast<std::size_t>(tenant)].id;
  return static_cast<int>(std::count_if(admitted.begin(), admitted.end(), [&](const Entry* e) { return e->job.tenant == id; }));
}

JobId World::driver(int tenant) const {
  const std::string& id = tenants[static_cast<std::size_t>(tenant)].id;
  for (const Entry* e : admitted) {
    if (e->job.tenant == id) return e->job.id;
  }
  return 0;
}

bool World::cooling(int tenant) const {
  const TenantMemory& memory = tenants[static_cast<std::size_t>(tenant)];
  return memory.failed && now < memory.failed->at + policy.release_cooldown;
}

void World::compile(Entry& entry) const {
  const std::size_t key = readings.size() * 4096 + tenants.size();
  if (entry.compiled_for == key) return;
  entry.compiled_for = key;
  entry.needs.clear();
  for (const Need& need : entry.job.needs) {
    entry.needs.push_back({need.pool == "gpu" ? kAnyGpu : pool_index(need.pool), need.bytes});
  }
  entry.tenant = entry.job.tenant.empty() ? -1 : tenant_index(entry.job.tenant);
}

}  // namespace jipsa
