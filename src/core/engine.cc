#include "core/engine.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "core/ledger.h"
#include "core/planner.h"
#include "core/room.h"
#include "core/tenant_memory.h"
#include "core/watch.h"
#include "core/world.h"

namespace jipsa {
namespace {

bool ranks_before(const Entry* a, const Entry* b) {
  return a->job.priority != b->job.priority ? a->job.priority > b->job.priority : a->job.id < b->job.id;
}

Owner parse_owner(const std::string& text) {
  if (text.rfind("job:", 0) == 0) return {OwnerKind::job, text.substr(4)};
  if (text.rfind("tenant:", 0) == 0) return {OwnerKind::tenant, text.substr(7)};
  return {OwnerKind::process, text};
}

}  // namespace

struct Engine::Impl {
  World w;
  std::size_t dependents_ = 0;  // waiting jobs that wait for another's end:
                                // without any, an end need not look for them

  // ---- looks ----

  void take_pools(std::vector<Pool>&& pools) {
    w.looked = true;
    for (Pool& known : w.readings) {  // a pool that is not listed any more is
                                      // not measured, and not gone
      known.used.reset();
      known.available.reset();
      known.free.reset();
      known.processes.reset();
    }
    for (Pool& pool : pools) {
      int i = w.pool_index(pool.id);
      if (i < 0) {
        i = static_cast<int>(w.readings.size());
        w.books.emplace_back();
        remember_pool(pool);
        if (pool.kind == PoolKind::ram && w.ram < 0) w.ram = i;
        w.readings.push_back(std::move(pool));
      } else {
        w.readings[static_cast<std::size_t>(i)] = std::move(pool);
      }
    }
  }

  // What was remembered of a pool before it was first seen (by an engine that
  // resumed) moves to its place.
  void remember_pool(const Pool& pool) {
    const std::size_t at = w.readings.size();
    for (std::size_t i = at; i < w.pool_memory.size(); ++i) {
      if (w.pool_memory[i].id == pool.id) {
        std::swap(w.pool_memory[at], w.pool_memory[i]);
        return;
      }
    }
    PoolMemory memory;
    memory.id = pool.id;
    memory.kind = pool.kind;
    w.pool_memory.insert(w.pool_memory.begin() + static_cast<std::ptrdiff_t>(at), std::move(memory));
  }

  void take_processes(std::vector<Process>&& processes) {
    w.processes = std::move(processes);
    w.by_pid.clear();
    for (std::size_t i = 0; i < w.processes.size(); ++i) w.by_pid.emplace(w.processes[i].pid, i);
  }

  void find_owners() {
    w.process_owner.clear();
    for (const Process& p : w.processes) w.process_owner.push_back(owner_of(p));
  }

  Owner owner_of(const Process& p) const {
    if (!p.owner.empty()) return parse_owner(p.owner);
    for (const Entry* e : w.admitted) {
      if (std::find(e->pids.begin(), e->pids.end(), p.pid) != e->pids.end()) return {OwnerKind::job, std::to_string(e->job.id)};
    }
    for (const TenantMemory& t : w.tenants) {
      if (t.pid == p.pid && (!t.start || *t.start == p.start)) return {OwnerKind::tenant, t.id};
    }
    return {OwnerKind::process, p.name.empty() ? "pid " + std::to_string(p.pid) : p.name};
  }

  void on(Observation&& look, std::vector<Output>& out) {
    for (TenantMemory& t : w.tenants) t.blind = false;
    w.new_processes = look.processes.has_value();
    w.new_tenants = look.tenants.has_value();
    if (look.pools) {
      take_pools(std::move(*look.pools));
      w.unseen.clear();
    }
    if (look.processes) take_processes(std::move(*look.processes));
    if (look.tenants) {
      w.looks = std::move(*look.tenants);
      w.look_of.assign(w.tenants.size(), -1);
    }
    note_looks(w);
    grant_adopted();
    find_owners();
    keep_books(w);
    judge_releases(w, out);
    learn_floors(w);
  }

  // ---- jobs ----

  void on(Submit&& submit, std::vector<Output>&) {
    if (w.jobs.count(submit.job.id) != 0) return;  // said twice: it is the same job
    auto entry = std::make_unique<Entry>();
    entry->job = std::move(submit.job);
    for (const JobId id : entry->job.after) {
      if (w.jobs.count(id) != 0 || w.ended_badly.count(id) != 0) entry->pending_after.push_back(id);
    }
    Entry* e = entry.get();
    w.jobs.emplace(e->job.id, std::move(entry));
    w.waiting.insert(std::upper_bound(w.waiting.begin(), w.waiting.end(), e, ranks_before), e);
  }

  Entry* find(JobId id) {
    const auto it = w.jobs.find(id);
    return it == w.jobs.end() ? nullptr : it->second.get();
  }

  void on(Started&& started, std::vector<Output>&) {
    Entry* e = find(started.job);
    if (e == nullptr) return;
    if (e->stage == Entry::Stage::waiting) adopt(*e);
    for (const Pid pid : started.pids) {
      if (std::find(e->pids.begin(), e->pids.end(), pid) == e->pids.end()) e->pids.push_back(pid);
    }
  }

  // A job that was found running, admitted by an earlier daemon: its needs name
  // the card that it was given.
  void adopt(Entry& e) {
    e.stage = Entry::Stage::admitted;
    e.adopted = true;
    e.waits.reset();
    std::erase(w.waiting, &e);
    w.admitted.push_back(&e);
    grant_adopted();
  }

  // Pools and tenants may be seen for the first time after the job was.
  void grant_adopted() {
    for (Entry* e : w.admitted) {
      if (!e->adopted) continue;
      w.compile(*e);
      e->granted.clear();
      for (const CompiledNeed& need : e->needs) {
        if (need.pool >= 0) e->granted.push_back(need);
      }
    }
  }

  void remove(JobId id, bool well) {
    Entry* e = find(id);
    if (e == nullptr) return;
    const bool was_admitted = e->stage == Entry::Stage::admitted;
    if (!e->pending_after.empty()) --dependents_;
    if (was_admitted) keep_unseen(w, *e);
    std::erase(was_admitted ? w.admitted : w.waiting, e);
    if (was_admitted && !e->job.tenant.empty()) end_bundle(w, *e);
    if (well) {
      for (Entry* other : w.waiting) std::erase(other->pending_after, id);
    } else {
      w.ended_badly.insert(id);
    }
    w.jobs.erase(id);
  }

  void on(Exit&& exit, std::vector<Output>&) { remove(exit.job, exit.code == 0); }

  void on(Cancel&& cancel, std::vector<Output>&) {
    const Entry* e = find(cancel.job);
    // One that runs still holds its memory: it leaves the books when its exit
    // is seen.
    if (e != nullptr && e->stage == Entry::Stage::waiting) remove(cancel.job, false);
  }

  void on(Hold&& hold, std::vector<Output>&) {
    if (Entry* e = find(hold.job)) e->held = true;
  }
  void on(Unhold&& unhold, std::vector<Output>&) {
    if (Entry* e = find(unhold.job)) e->held = false;
  }
  void on(Pause&&, std::vector<Output>&) { w.paused = true; }
  void on(Resume&&, std::vector<Output>&) { w.paused = false; }

  // ---- tenants ----

  void on(Released&& answer, std::vector<Output>& out) { note_answer(w, answer, out); }

  void on(Restarted&& restarted, std::vector<Output>&) {
    const int t = w.tenant_index(restarted.tenant);
    if (t < 0) return;
    TenantMemory& memory = w.tenants[static_cast<std::size_t>(t)];
    memory.restarting = false;
    if (!restarted.ok) {
      memory.restart_failed = Failure{w.now, w.now, VerdictKind::unreachable};
      return;
    }
    memory.blind = true;
    memory.failed.reset();
    memory.restart_failed.reset();
    memory.pending_since.reset();
    memory.idle_first.reset();
    memory.last_used.reset();
    learn_floor_of(memory, "*");
    memory.release_due = false;
    memory.watch.reset();
    memory.aftermath.clear();
    forget_bundle(memory);
  }

  void on(Ask&& ask, std::vector<Output>& out) {
    const int t = w.tenant_index(ask.tenant);
    if (t >= 0) ask_by_hand(w, t, out);
  }

  void step(Input&& input, std::vector<Output>& out) {
    w.now = std::max(w.now, input.t);
    std::visit([&](auto& event) { on(std::move(event), out); }, input.event);
    plan(w, out);
  }
};

Engine::Engine(Policy policy) : impl_(std::make_unique<Impl>()) { impl_->w.policy = std::move(policy); }

Engine::Engine(Policy policy, const EngineState& resumed) : Engine(std::move(policy)) {
  impl_->w.now = resumed.t;
  impl_->w.paused = resumed.paused;
  impl_->w.pool_memory = resumed.pools;
  impl_->w.tenants = resumed.tenants;
  impl_->w.look_of.assign(resumed.tenants.size(), -1);
}

Engine::~Engine() = default;
Engine::Engine(Engine&&) noexcept = default;
Engine& Engine::operator=(Engine&&) noexcept = default;

void Engine::step(const Input& input, std::vector<Output>& out) { impl_->step(Input(input), out); }
void Engine::step(Input&& input, std::vector<Output>& out) { impl_->step(std::move(input), out); }

const std::vector<Books>& Engine::books() const { return impl_->w.books; }

std::optional<Reason> Engine::reason(JobId job) const {
  const auto it = impl_->w.jobs.find(job);
  if (it == impl_->w.jobs.end() || !it->second->waits) return std::nullopt;
  return explain(impl_->w, *it->second);
}

std::vector<TenantStatus> Engine::tenants() const {
  const World& w = impl_->w;
  std::vector<TenantStatus> list;
  for (std::size_t i = 0; i < w.tenants.size(); ++i) {
    const int t = static_cast<int>(i);
    const TenantMemory& memory = w.tenants[i];
    TenantStatus s;
    s.id = memory.id;
    s.kind = memory.kind;
    if (const TenantLook* look = w.look(t)) {
      s.seen = true;
      s.reachable = look->reachable;
      s.running = look->running;
      s.pending = look->pending;
    }
    s.idle_since = w.idle_since(t);
    s.left_by = memory.left_by;
    s.bundle = memory.bundle;
    for (std::size_t p = 0; p < w.readings.size(); ++p) {
      if (const auto held = w.held(t, static_cast<int>(p))) s.holds[w.readings[p].id] = *held;
      if (const auto floor = w.floor(t, static_cast<int>(p))) s.floor[w.readings[p].id] = *floor;
    }
    s.stuck = w.stuck(t);
    s.watching = memory.watch.has_value();
    if (memory.watch) s.asked_at = memory.watch->asked_at;
    if (w.cooling(t)) s.not_before = memory.failed->at + w.policy.release_cooldown;
    s.restarting = memory.restarting;
    list.push_back(std::move(s));
  }
  return list;
}

bool Engine::paused() const { return impl_->w.paused; }

EngineState Engine::state() const {
  const World& w = impl_->w;
  return {w.now, w.paused, w.pool_memory, w.tenants};
}

}  // namespace jipsa
