#include "core/tenant_memory.h"

#include <algorithm>

namespace jipsa {
namespace {

// A server with a dead worker still answers HTTP, and our own looks cost it some milliseconds of CPU time each.
constexpr double kAnsweringCpu = 0.1;       // seconds, whatever the span
constexpr double kAnsweringCpuRate = 0.05;  // seconds a second

void note_incarnation(World& world, TenantMemory& memory, const TenantLook& look) {
  if (!look.pid) return;  // not found now: it may be restarting, or out of our sight; its identity stays until another one shows
  const Process* process = world.process(look.pid);
  const bool other_pid = memory.pid && memory.pid != look.pid;
  const bool other_start = !other_pid && memory.pid && memory.start && process != nullptr && process->start != *memory.start;
  if (other_pid || other_start) {
    memory.failed.reset();
    memory.restart_failed.reset();
    memory.pending_since.reset();
    memory.last_cpu.reset();
    memory.last_busy.reset();
    memory.idle_first.reset();
    memory.last_used.reset();
    memory.release_due = false;
    learn_floor_of(memory, "*");
    forget_bundle(memory);
    memory.start.reset();
  }
  memory.pid = look.pid;
  if (process != nullptr) memory.start = process->start;
}

void note_work(World& world, int tenant, TenantMemory& memory, const TenantLook& look) {
  const bool was_idle = memory.idle_first.has_value();
  if (world.busy(tenant)) {
    memory.last_busy = world.now;
    memory.idle_first.reset();
  } else if (world.known_idle(tenant)) {
    if (!memory.idle_first) memory.idle_first = world.now;
  } else {
    memory.idle_first.reset();  // it does not say: nothing is known of its idleness from here on
  }
  const bool running = look.running.value_or(0) > 0;
  const bool worked = running || (look.last_used && memory.last_used && *look.last_used > *memory.last_used) ||
                      (look.last_used && memory.failed && *look.last_used > memory.failed->asked_at);
  if (look.last_used) memory.last_used = look.last_used;
  if (!worked) return;
  memory.failed.reset();  // new evidence: what it holds now is not what it kept then
  memory.restart_failed.reset();
  memory.learning.clear();
  // Work that no job of ours drives changes what is loaded: the leftover is no longer the bundle's.
  if (was_idle && world.driver(tenant) == 0 && running) forget_bundle(memory);
}

void note_stuck(World& world, int tenant, TenantMemory& memory, const TenantLook& look) {
  const std::optional<double> cpu = world.cpu(tenant);
  const bool waits = look.reachable && look.pending.value_or(0) > 0 && look.running == 0;
  if (!waits || !cpu) {
    memory.pending_since.reset();
    return;
  }
  if (memory.pending_since) {
    const double allowed = kAnsweringCpu + kAnsweringCpuRate * (world.now - *memory.pending_since);
    if (*cpu - memory.pending_cpu <= allowed) return;
  }
  memory.pending_since = world.now;
  memory.pending_cpu = *cpu;
}

void note_cpu(World& world, int tenant, TenantMemory& memory) {
  const std::optional<double> cpu = world.cpu(tenant);
  if (!cpu) {
    memory.last_cpu.reset();
    return;
  }
  const bool quiet = world.known_idle(tenant) && memory.idle_first && *memory.idle_first < world.now && !memory.watch;
  if (memory.last_cpu && quiet && world.now > memory.last_cpu->t) {
    memory.idle_rate = std::max(0.0, (*cpu - memory.last_cpu->cpu) / (world.now - memory.last_cpu->t));
  }
  memory.last_cpu = CpuSample{world.now, *cpu};
}

bool learns(const TenantMemory& memory, const std::string& pool) {
  return std::any_of(memory.learning.begin(), memory.learning.end(), [&](const std::string& p) { return p == "*" || p == pool; });
}

}  // namespace

void learn_floor_of(TenantMemory& memory, const std::string& pool) {
  if (!learns(memory, pool)) memory.learning.push_back(pool);
}

void forget_bundle(TenantMemory& memory) {
  memory.bundle.clear();
  memory.bundle_base.clear();
  memory.left_by.reset();
}

void note_looks(World& world) {
  for (std::size_t i = 0; i < world.looks.size(); ++i) {
    const TenantLook& look = world.looks[i];
    int t = world.tenant_index(look.id);
    if (t < 0) {
      t = static_cast<int>(world.tenants.size());
      world.tenants.emplace_back();
      world.tenants.back().id = look.id;
    }
    if (world.look_of.size() < world.tenants.size()) world.look_of.resize(world.tenants.size(), -1);
    world.look_of[static_cast<std::size_t>(t)] = static_cast<int>(i);
    TenantMemory& memory = world.tenants[static_cast<std::size_t>(t)];
    memory.kind = look.kind;
    note_incarnation(world, memory, look);
    if (world.new_tenants) note_work(world, t, memory, look);
    if (world.new_tenants || world.new_processes) note_stuck(world, t, memory, look);
    if (world.new_processes) note_cpu(world, t, memory);
  }
}

void learn_floors(World& world) {
  for (std::size_t t = 0; t < world.tenants.size(); ++t) {
    TenantMemory& memory = world.tenants[t];
    if (memory.learning.empty() || !world.known_idle(static_cast<int>(t))) continue;
    for (std::size_t p = 0; p < world.books.size(); ++p) {
      if (!learns(memory, world.readings[p].id)) continue;
      const std::optional<Bytes> held = world.held(static_cast<int>(t), static_cast<int>(p));
      if (!held) continue;
      const auto [it, fresh] = memory.floor.try_emplace(world.readings[p].id, *held);
      if (!fresh) it->second = std::min(it->second, *held);
    }
  }
}

}  // namespace jipsa
