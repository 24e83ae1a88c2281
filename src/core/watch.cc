#include "core/watch.h"

#include <algorithm>

#include "core/tenant_memory.h"

namespace jipsa {
namespace {

constexpr double kActingCpu = 0.1;      // CPU seconds that a server burns, at least, to carry a release out
constexpr double kActingExcess = 0.08;  // of these, above what it burns while idle
constexpr Seconds kBurstSpan = 3;       // within so many seconds
constexpr Seconds kSettled = 0.5;       // memory that has not fallen further for so long has settled
constexpr Seconds kRegrownWithin = 60;

Bytes share(Bytes of, std::int64_t percent) { return Bytes{of.count() / 100 * percent}; }
Bytes material(Bytes of) { return std::max(kMaterial, share(of, 2)); }
Bytes floor_slack(Bytes before) { return std::max(kMaterial, share(before, 1)); }

std::size_t index(int i) { return static_cast<std::size_t>(i); }

struct Judge {
  World& world;
  int tenant;
  TenantMemory& memory;
  std::vector<Output>& out;

  void give(const std::string& pool, VerdictKind kind, std::optional<Bytes> before, std::optional<Bytes> after,
            std::optional<Seconds> settled, Seconds asked_at) {
    out.push_back({world.now, Verdict{memory.id, pool, kind, before, after, settled, asked_at}});
  }

  std::optional<Bytes> held(const std::string& pool) const {
    const int p = world.pool_index(pool);
    return p < 0 ? std::nullopt : world.held(tenant, p);
  }
  std::optional<Bytes> floor(const std::string& pool) const {
    const int p = world.pool_index(pool);
    return p < 0 ? std::nullopt : world.floor(tenant, p);
  }
};

// Ends the watch with the same verdict for every pool that has none yet.
void end_all(Judge& j, VerdictKind kind) {
  Watch& watch = *j.memory.watch;
  for (WatchedPool& pool : watch.pools) {
    if (pool.judged) continue;
    pool.judged = true;
    j.give(pool.pool, kind, pool.before, kind == VerdictKind::died ? std::nullopt : j.held(pool.pool), std::nullopt,
           watch.asked_at);
  }
  if (kind == VerdictKind::refused || kind == VerdictKind::unreachable) {
    j.memory.failed = Failure{watch.asked_at, j.world.now, kind};
  }
}

bool process_gone(const Judge& j) {
  const Watch& watch = *j.memory.watch;
  if (!watch.pid) return false;
  const TenantLook* look = j.world.look(j.tenant);
  if (look != nullptr && look->pid && look->pid != watch.pid) return true;
  const Process* process = j.world.process(watch.pid);
  if (process != nullptr) return watch.start != 0 && process->start != watch.start;
  if (watch.start != 0) return true;  // it was in the list of processes, and is not any more
  return look != nullptr && !look->pid && !look->reachable;
}

// A process that is being ended still has its pid, and no figures any more: what it holds is neither kept nor given back.
bool process_dying(const Judge& j) {
  const Process* process = j.world.process(j.memory.watch->pid);
  return j.memory.watch->ram_before && process != nullptr && !process->rss_anon && !process->rss_shmem;
}

void note_cpu_sign(Judge& j) {
  Watch& watch = *j.memory.watch;
  if (!j.world.new_processes) return;
  const std::optional<double> cpu = j.world.cpu(j.tenant);
  if (!cpu) {
    watch.cpu_known = false;
    return;
  }
  for (std::size_t i = 0; i < watch.cpu.size(); ++i) {
    const CpuSample& then = watch.cpu[i];
    const Seconds span = j.world.now - then.t;
    if (span > kBurstSpan && i + 1 < watch.cpu.size()) continue;  // the sample before this look counts at any distance
    const double used = *cpu - then.cpu;
    if (used >= kActingCpu - 1e-9 && used - watch.idle_rate * span >= kActingExcess - 1e-9) watch.acted = true;
  }
  std::erase_if(watch.cpu, [&](const CpuSample& s) { return j.world.now - s.t > kBurstSpan; });
  watch.cpu.push_back({j.world.now, *cpu});
}

// Memory that fell on any pool, asked for or not, shows that the server acts.
void note_memory_sign(Judge& j) {
  Watch& watch = *j.memory.watch;
  for (WatchedPool& pool : watch.pools) {
    const std::optional<Bytes> held = j.held(pool.pool);
    if (!held) continue;
    // The look before the request can have been older than the server's last work: what it holds is what is seen before any fall.
    if (pool.lowest == pool.before && *held > pool.before) pool.before = pool.lowest = *held;
    if (pool.lowest - *held >= kMaterial) {
      pool.last_fall = j.world.now;
      pool.lowest = *held;
      watch.acted = true;
    } else {
      pool.lowest = std::min(pool.lowest, *held);
    }
  }
}

bool at_floor(const Judge& j, const WatchedPool& pool, Bytes held) {
  if (held <= Bytes{}) return true;
  const std::optional<Bytes> floor = j.floor(pool.pool);
  return floor && held <= *floor + floor_slack(pool.before);
}

// Has it given what was asked? Without an amount asked and without a floor, a fall that has been flat for the window is taken to
// have reached it: that is how a floor is first learned.
bool is_met(const Judge& j, const WatchedPool& pool, Bytes held) {
  const Bytes freed = pool.before - held;
  if (freed < std::min(kMaterial, pool.asked.value_or(kMaterial)) || freed <= Bytes{}) return false;
  if (at_floor(j, pool, held)) return true;
  if (pool.asked) return freed >= *pool.asked;
  const bool flat = j.world.now - pool.last_fall >= j.world.policy.release_window;
  return !j.floor(pool.pool) && freed >= material(pool.before) && flat;
}

void start_aftermath(Judge& j, const WatchedPool& pool, Bytes held, bool unanswered) {
  const Watch& watch = *j.memory.watch;
  Aftermath after;
  after.pool = pool.pool;
  after.before = pool.before;
  after.level = held;
  after.asked_at = watch.asked_at;
  after.asked = pool.asked;
  after.unanswered = unanswered;
  after.last_fall = pool.last_fall;
  after.until = unanswered ? watch.asked_at + j.world.policy.release_deadline : j.world.now + kRegrownWithin;
  const int p = j.world.pool_index(pool.pool);
  if (!unanswered && p >= 0 && j.world.readings[index(p)].kind == PoolKind::gpu && watch.ram_before) {
    after.ram_before = watch.ram_before;
    after.moved_check_at = std::max(watch.asked_at + j.world.policy.release_window, pool.last_fall + kSettled);
  }
  std::erase_if(j.memory.aftermath, [&](const Aftermath& a) { return a.pool == after.pool; });
  j.memory.aftermath.push_back(after);
}

// Only a release that took most of what was held says what the floor is: one that gave just what was asked for may hold more, and
// host memory that stayed when a card was emptied is not needed by an empty server.
void learn_if_emptied(Judge& j, const std::string& pool, Bytes before, Bytes held) {
  if (held.count() <= before.count() / 2) learn_floor_of(j.memory, pool);
}

void give_met(Judge& j, WatchedPool& pool, Bytes held) {
  const Watch& watch = *j.memory.watch;
  // An unmet amount and an unknown floor are met in hindsight, when the fall has been flat for the window: the fall itself
  // counts.
  const Seconds met = pool.asked || at_floor(j, pool, held) ? *pool.met_at : pool.last_fall;
  const bool prompt = met - watch.asked_at <= j.world.policy.release_window + 1e-9;
  pool.judged = true;
  j.give(pool.pool, prompt ? VerdictKind::released : VerdictKind::late, pool.before, held, pool.last_fall - watch.asked_at,
         watch.asked_at);
  j.memory.failed.reset();
  learn_if_emptied(j, pool.pool, pool.before, held);
  start_aftermath(j, pool, held, false);
}

bool arena_holds_most(const Judge& j, const WatchedPool& pool, Bytes held) {
  const int p = j.world.pool_index(pool.pool);
  if (p < 0 || j.world.readings[index(p)].kind != PoolKind::ram) return false;
  const Process* process = j.world.process(j.memory.pid);
  return process != nullptr && process->anon_arena && process->anon_arena->count() > held.count() / 2;
}

VerdictKind final_verdict(const Judge& j, const WatchedPool& pool, Bytes held) {
  const TenantLook* look = j.world.look(j.tenant);
  const Watch& watch = *j.memory.watch;
  if (!watch.answered && (look == nullptr || !look->reachable)) return VerdictKind::unreachable;
  const std::optional<Bytes> floor = j.floor(pool.pool);
  if (floor && pool.before <= *floor + floor_slack(pool.before)) return VerdictKind::at_floor;
  if (pool.before - held >= material(pool.before)) return VerdictKind::partial;
  return arena_holds_most(j, pool, held) ? VerdictKind::kept_by_allocator : VerdictKind::kept;
}

void fail_pool(Judge& j, WatchedPool& pool, VerdictKind kind, std::optional<Bytes> held) {
  Watch& watch = *j.memory.watch;
  pool.judged = true;
  const bool moved = pool.last_fall > watch.asked_at;
  j.give(pool.pool, kind, pool.before, held, moved ? std::optional<Seconds>(pool.last_fall - watch.asked_at) : std::nullopt,
         watch.asked_at);
  j.memory.failed = Failure{watch.asked_at, j.world.now, kind};
}

void judge_pool(Judge& j, WatchedPool& pool) {
  const Watch& watch = *j.memory.watch;
  const Policy& policy = j.world.policy;
  const std::optional<Bytes> held = j.held(pool.pool);
  if (!held) return;  // not measured now: no verdict on the last value
  const Seconds passed = j.world.now - watch.asked_at;
  if (is_met(j, pool, *held)) {
    if (!pool.met_at) pool.met_at = j.world.now;
    if (at_floor(j, pool, *held) || j.world.now - pool.last_fall >= kSettled) give_met(j, pool, *held);
    return;
  }
  pool.met_at.reset();
  const std::optional<Bytes> floor = j.floor(pool.pool);
  const bool nothing_to_give = floor && pool.before <= *floor + floor_slack(pool.before);
  if (nothing_to_give && passed >= policy.release_window && (watch.acted || !watch.cpu_known)) {
    fail_pool(j, pool, VerdictKind::at_floor, held);
  } else if (watch.cpu_known && !watch.acted && watch.answered && passed >= policy.ask_deadline) {
    fail_pool(j, pool, VerdictKind::not_acted, held);
  } else if (passed >= policy.release_deadline) {
    fail_pool(j, pool, final_verdict(j, pool, *held), held);
  }
}

void judge_watch(Judge& j) {
  Watch& watch = *j.memory.watch;
  if (process_gone(j)) {
    end_all(j, VerdictKind::died);
    j.memory.watch.reset();
    return;
  }
  if (process_dying(j)) return;
  note_cpu_sign(j);
  note_memory_sign(j);
  const bool met = std::all_of(watch.pools.begin(), watch.pools.end(), [&](const WatchedPool& pool) {
    const std::optional<Bytes> held = j.held(pool.pool);
    return pool.judged || pool.met_at || (held && is_met(j, pool, *held));
  });
  if (j.world.busy(j.tenant) && !met) {
    end_all(j, VerdictKind::raced);
    j.memory.watch.reset();
    return;
  }
  for (WatchedPool& pool : watch.pools) {
    if (!pool.judged) judge_pool(j, pool);
  }
  if (std::all_of(watch.pools.begin(), watch.pools.end(), [](const WatchedPool& pool) { return pool.judged; })) {
    j.memory.watch.reset();
  }
}

void check_moved(Judge& j, Aftermath& after) {
  if (!after.ram_before || j.world.now < after.moved_check_at || j.world.ram < 0) return;
  const std::optional<Bytes> ram = j.world.held(j.tenant, j.world.ram);
  if (!ram) return;
  const Bytes left_gpu = after.before - after.level;
  if (left_gpu >= kMaterial && *ram - *after.ram_before >= share(left_gpu, 50)) {
    j.give(j.world.readings[index(j.world.ram)].id, VerdictKind::moved, after.ram_before, ram, std::nullopt, after.asked_at);
  }
  learn_if_emptied(j, j.world.readings[index(j.world.ram)].id, *after.ram_before, *ram);
  after.ram_before.reset();
}

// A request that had no answer may still be carried out: then that is said, late.
bool check_unanswered(Judge& j, Aftermath& after, Bytes held) {
  WatchedPool pool{after.pool, after.before, after.asked, after.level, after.last_fall, {}, false};
  if (!is_met(j, pool, held)) return false;
  const bool prompt = j.world.now - after.asked_at <= j.world.policy.release_window;
  j.give(after.pool, prompt ? VerdictKind::released : VerdictKind::late, after.before, held, j.world.now - after.asked_at,
         after.asked_at);
  j.memory.failed.reset();
  return true;
}

bool check_regrown(Judge& j, const Aftermath& after, Bytes held) {
  if (held - after.level < share(after.before - after.level, 50) || held - after.level < kMaterial) return false;
  if (j.world.driver(j.tenant) != 0) return true;  // our own job loads its models: nothing to report, and nothing to wait for
  j.give(after.pool, VerdictKind::regrown, after.before, held, std::nullopt, after.asked_at);
  return true;
}

bool judge_aftermath(Judge& j, Aftermath& after) {
  const std::optional<Bytes> held = j.held(after.pool);
  if (held) {
    if (after.level - *held >= kMaterial) after.last_fall = j.world.now;
    after.level = std::min(after.level, *held);
    if (after.unanswered ? check_unanswered(j, after, *held) : check_regrown(j, after, *held)) return true;
    check_moved(j, after);
  }
  return j.world.now >= after.until;
}

}  // namespace

void begin_watch(World& world, int tenant, std::optional<JobId> job, bool by_hand, const std::vector<Lack>& lacks) {
  TenantMemory& memory = world.tenants[index(tenant)];
  Watch watch;
  watch.job = job;
  watch.by_hand = by_hand;
  watch.asked_at = world.now;
  watch.pid = memory.pid;
  watch.start = 0;
  if (const Process* process = world.process(memory.pid)) watch.start = process->start;
  watch.cpu_known = memory.last_cpu.has_value();
  if (memory.last_cpu) watch.cpu.push_back(*memory.last_cpu);
  watch.idle_rate = memory.idle_rate;
  if (world.ram >= 0) watch.ram_before = world.held(tenant, world.ram);
  for (const Lack& lack : lacks) {
    const Bytes held = world.held(tenant, lack.pool).value_or(Bytes{});
    const std::optional<Bytes> asked = lack.bytes > Bytes{} ? std::optional<Bytes>(lack.bytes) : std::nullopt;
    watch.pools.push_back({world.readings[index(lack.pool)].id, held, asked, held, world.now, {}, false});
  }
  memory.watch = std::move(watch);
  memory.release_due = false;
}

void judge_releases(World& world, std::vector<Output>& out) {
  for (std::size_t t = 0; t < world.tenants.size(); ++t) {
    Judge j{world, static_cast<int>(t), world.tenants[t], out};
    std::erase_if(j.memory.aftermath, [&](Aftermath& after) { return judge_aftermath(j, after); });
    if (j.memory.watch) judge_watch(j);
  }
}

void note_answer(World& world, const Released& answer, std::vector<Output>& out) {
  const int t = world.tenant_index(answer.tenant);
  if (t < 0 || !world.tenants[index(t)].watch) return;
  Judge j{world, t, world.tenants[index(t)], out};
  Watch& watch = *j.memory.watch;
  if (answer.ok) {
    watch.answered = true;
    return;
  }
  if (!answer.status) {
    for (const WatchedPool& pool : watch.pools) {
      if (!pool.judged) start_aftermath(j, pool, pool.lowest, true);
    }
  }
  end_all(j, answer.status ? VerdictKind::refused : VerdictKind::unreachable);
  j.memory.watch.reset();
}

}  // namespace jipsa
