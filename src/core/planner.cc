#include "core/planner.h"

#include <algorithm>

#include "core/blocker.h"
#include "core/choice.h"
#include "core/room.h"
#include "core/tenant_memory.h"

namespace jipsa {
namespace {

std::size_t index(int i) { return static_cast<std::size_t>(i); }

const Entry* next_driver(const World& world, const std::string& tenant) {
  const auto it = std::find_if(world.waiting.begin(), world.waiting.end(), [&](const Entry* e) {
    return e->job.tenant == tenant && !e->held && e->stage == Entry::Stage::waiting;
  });
  return it == world.waiting.end() ? nullptr : *it;
}

// The pools where a server holds something that it could give back: its cards,
// else host memory.
std::vector<Lack> pools_to_empty(const World& world, int tenant) {
  std::vector<Lack> pools;
  for (const PoolKind kind : {PoolKind::gpu, PoolKind::ram}) {
    for (std::size_t p = 0; p < world.readings.size() && (kind == PoolKind::gpu || pools.empty()); ++p) {
      if (world.readings[p].kind != kind) continue;
      if (world.leftover(tenant, static_cast<int>(p)).value_or(Bytes{}) >= kMaterial)
        pools.push_back({static_cast<int>(p), Bytes{}});
    }
  }
  return pools;
}

void ask(World& world, int tenant, std::optional<JobId> job, bool by_hand, const std::vector<Lack>& lacks,
         std::vector<Output>& out) {
  const Lack* most = &lacks.front();
  for (const Lack& lack : lacks) {
    if (world.leftover(tenant, lack.pool) > world.leftover(tenant, most->pool)) most = &lack;
  }
  out.push_back({world.now, Release{world.tenants[index(tenant)].id, job, world.readings[index(most->pool)].id,
                                    world.held(tenant, most->pool)}});
  begin_watch(world, tenant, job, by_hand, lacks);
}

bool can_be_emptied(Standing standing) { return standing == Standing::askable || standing == Standing::soon; }

class Planner {
 public:
  Planner(World& world, std::vector<Output>& out) : w_(world), out_(out) {}

  void run() {
    for (std::size_t t = 0; t < w_.tenants.size(); ++t) empty_ended_bundle(static_cast<int>(t));
    if (w_.waiting.empty()) return;
    rooms_ = measure_rooms(w_);
    any_gpu_ = any_gpu();
    largest_gpu_ = largest_gpu();
    for (Entry* entry : w_.waiting) consider(*entry);
    if (admitted_any_) {
      std::erase_if(w_.waiting, [](const Entry* e) { return e->stage == Entry::Stage::admitted; });
    }
  }

 private:
  // A bundle that ended is released at once, whatever the grace, as soon as a
  // look shows the server idle.
  void empty_ended_bundle(int tenant) {
    TenantMemory& memory = w_.tenants[index(tenant)];
    if (!memory.release_due) return;
    const Entry* next = next_driver(w_, memory.id);
    const bool reused = next != nullptr && next->job.bundle == memory.bundle;
    if (reused || w_.driver(tenant) != 0) {
      memory.release_due = false;
      return;
    }
    if (!can_be_emptied(standing(w_, tenant))) return;
    const std::vector<Lack> pools = pools_to_empty(w_, tenant);
    // What it took since the last look is not seen yet: then the next look
    // decides.
    const bool unseen = std::any_of(w_.unseen.begin(), w_.unseen.end(), [&](const Unseen& u) { return u.tenant == tenant; });
    if (pools.empty() && unseen) return;
    memory.release_due = false;
    if (pools.empty()) return;
    ask(w_, tenant, next == nullptr ? std::nullopt : std::optional<JobId>(next->job.id), false, pools, out_);
  }

  void consider(Entry& e) {
    if (e.held) return wait(e, {.code = WaitCode::held});
    if (w_.paused) return wait(e, {.code = WaitCode::paused});
    if (!e.pending_after.empty()) return wait(e, {.code = WaitCode::dependency, .owner_job = e.pending_after.front()});
    w_.compile(e);
    if (never_fits(e)) return;
    if (stale(e)) return reserve(e);
    if (gated(e)) return reserve(e);
    const int gpu = place(e);
    if (gpu != kNoPlace) return admit(e, gpu);
    explain_lack(e);
    reserve(e);
  }

  // ---- what can never be, and what is not known ----

  bool never_fits(Entry& e) {
    for (const CompiledNeed& need : e.needs) {
      if (need.pool == kNoPool || (need.pool == kAnyGpu && !any_gpu_)) {
        // Before the first look nothing is known of the machine; after it, a
        // pool that was never seen is not there.
        wait(e, {.code = w_.looked ? WaitCode::never_fits : WaitCode::stale,
                 .pool = kNoPool,
                 .need = need.bytes,
                 .free = {},
                 .short_by = need.bytes,
                 .has_amounts = w_.looked});
        return true;
      }
      const int pool = need.pool == kAnyGpu ? largest_gpu_ : need.pool;
      if (pool < 0 || !rooms_[index(pool)].ever || need.bytes <= *rooms_[index(pool)].ever) continue;
      const Bytes ever = *rooms_[index(pool)].ever;
      wait(e, {.code = WaitCode::never_fits,
               .pool = pool,
               .need = need.bytes,
               .free = std::max(Bytes{}, ever),
               .short_by = need.bytes - ever,
               .has_amounts = true});
      return true;
    }
    return false;
  }

  bool any_gpu() const {
    return std::any_of(w_.readings.begin(), w_.readings.end(), [](const Pool& p) { return p.kind == PoolKind::gpu; });
  }

  // The card with the most to give; kNoPool while one's size is not known, for
  // that one may be larger.
  int largest_gpu() const {
    int best = kNoPool;
    for (std::size_t p = 0; p < rooms_.size(); ++p) {
      if (w_.readings[p].kind != PoolKind::gpu) continue;
      if (!rooms_[p].ever) return kNoPool;
      if (best < 0 || *rooms_[p].ever > *rooms_[index(best)].ever) best = static_cast<int>(p);
    }
    return best;
  }

  bool could_hold(int pool, Bytes need) const { return !rooms_[index(pool)].ever || need <= *rooms_[index(pool)].ever; }

  bool stale(Entry& e) {
    for (const CompiledNeed& need : e.needs) {
      int unknown = kNoPool;
      bool known = false;
      each_pool(need, [&](int p) {
        if (rooms_[index(p)].measured)
          known = true;
        else if (unknown < 0)
          unknown = p;
      });
      if (known || unknown < 0) continue;
      wait(e, {.code = WaitCode::stale, .pool = unknown, .need = need.bytes, .free = {}, .short_by = {}, .has_amounts = false});
      return true;
    }
    return false;
  }

  // The pools that could serve a need: the named one, or every card that is
  // large enough.
  template <class F>
  void each_pool(const CompiledNeed& need, F f) const {
    if (need.pool >= 0) return f(need.pool);
    for (std::size_t p = 0; p < rooms_.size(); ++p) {
      if (w_.readings[p].kind == PoolKind::gpu && could_hold(static_cast<int>(p), need.bytes)) f(static_cast<int>(p));
    }
  }

  // ---- a job that drives a server waits for its turn in it ----

  bool gated(Entry& e) {
    if (e.tenant < 0) return false;
    const TenantMemory& memory = w_.tenants[index(e.tenant)];
    if (w_.drivers(e.tenant) >= w_.tenant_policy(memory.id).slots) {
      wait(e, {.code = WaitCode::running_job, .owner_job = w_.driver(e.tenant)});
      return true;
    }
    const Waiting for_server{.code = code_of(w_, e.tenant), .owner = Owner{OwnerKind::tenant, memory.id}};
    if (memory.restarting || memory.blind) {
      wait(e, {.code = WaitCode::releasing, .owner = for_server.owner});
      return true;
    }
    // A request that is on its way would take the models that the job is about
    // to load: it waits until that has landed, or can't any more.
    if (memory.watch &&
        !(memory.watch->answered && (memory.watch->acted || w_.now - memory.watch->asked_at >= w_.policy.release_window))) {
      wait(e, for_server);
      return true;
    }
    if (memory.release_due && w_.now - memory.due_since < w_.policy.release_window) {
      wait(e, for_server);
      return true;
    }
    return false;
  }

  // ---- a place where it fits now, without delaying one that waits ----

  static constexpr int kNoPlace = -3;

  bool fits(const Entry& e, const CompiledNeed& need, int pool) const {
    const Room& room = rooms_[index(pool)];
    return room.measured && effective_need(w_, e, pool, need.bytes) <= room.allowed;
  }

  // The chosen card, kNoPool if it needs none, kNoPlace if it does not fit.
  int place(const Entry& e) const {
    int gpu = kNoPool;
    for (const CompiledNeed& need : e.needs) {
      if (need.pool >= 0) {
        if (!fits(e, need, need.pool)) return kNoPlace;
        if (w_.readings[index(need.pool)].kind == PoolKind::gpu) gpu = need.pool;
        continue;
      }
      int best = kNoPlace;
      each_pool(need, [&](int p) {
        if (fits(e, need, p) && (best < 0 || better_place(p, best))) best = p;
      });
      if (best < 0) return kNoPlace;
      gpu = best;
    }
    return gpu;
  }

  // A card without a job of ours before one with; then the one with the least
  // to spare, which leaves the larger room for others.
  bool better_place(int a, int b) const {
    const Room& x = rooms_[index(a)];
    const Room& y = rooms_[index(b)];
    if (x.own_jobs != y.own_jobs) return x.own_jobs < y.own_jobs;
    return x.allowed < y.allowed;
  }

  void admit(Entry& e, int gpu) {
    e.stage = Entry::Stage::admitted;
    e.passer = blocked_before_;
    e.waits.reset();
    for (const CompiledNeed& need : e.needs) {
      const int pool = need.pool == kAnyGpu ? gpu : need.pool;
      Room& room = rooms_[index(pool)];
      room.now -= effective_need(w_, e, pool, need.bytes);
      if (e.passer) room.passers += need.bytes;
      ++room.own_jobs;
      room.settle();
      e.granted.push_back({pool, need.bytes});
    }
    if (e.tenant >= 0) take_over_server(e);
    w_.admitted.push_back(&e);
    admitted_any_ = true;
    out_.push_back({w_.now, Admit{e.job.id, gpu >= 0 ? w_.readings[index(gpu)].id : std::string{}}});
  }

  void take_over_server(const Entry& e) {
    TenantMemory& memory = w_.tenants[index(e.tenant)];
    memory.release_due = false;
    std::erase_if(w_.unseen,
                  [&](const Unseen& unseen) { return unseen.tenant == e.tenant; });  // its own promise stands for that now
    const bool same = !e.job.bundle.empty() && memory.bundle == e.job.bundle;
    if (same || w_.drivers(e.tenant) > 0) return;
    memory.bundle = e.job.bundle;
    memory.bundle_base.clear();
    for (std::size_t p = 0; p < w_.readings.size(); ++p) {
      if (const auto held = w_.held(e.tenant, static_cast<int>(p))) memory.bundle_base[w_.readings[p].id] = *held;
    }
  }

  // ---- why not, and what can be done ----

  struct Option {
    int gpu = kNoPool;
    std::vector<Lack> lacks;
    Choice choice;
    [[nodiscard]] Bytes lack() const { return lacks.empty() ? Bytes{} : lacks.front().bytes; }
  };

  void explain_lack(Entry& e) {
    if (behind_another(e)) return;
    std::optional<Option> best;
    const CompiledNeed* any = nullptr;
    for (const CompiledNeed& need : e.needs) {
      if (need.pool == kAnyGpu) any = &need;
    }
    if (any == nullptr) {
      best = option(e, kNoPool);
    } else {
      each_pool(*any, [&](int p) {
        if (!rooms_[index(p)].measured) return;
        Option o = option(e, p);
        if (!best || better_option(o, *best)) best = std::move(o);
      });
    }
    act(e, *best);
  }

  // Another job waits for memory where this one lacks it, or where taking it
  // would delay that one: it is simply behind.
  bool behind_another(Entry& e) {
    for (const CompiledNeed& need : e.needs) {
      const Entry* first = nullptr;
      int pool = kNoPool;
      bool open = false;  // some pool where it fits, or where nobody waits before it
      each_pool(need, [&](int p) {
        const Room& room = rooms_[index(p)];
        if (!room.measured || open) return;
        if (room.first == nullptr || fits(e, need, p)) {
          open = true;
        } else if (first == nullptr || room.now > rooms_[index(pool)].now) {
          first = room.first;
          pool = p;
        }
      });
      if (open || first == nullptr) continue;
      const Bytes lacks = effective_need(w_, e, pool, need.bytes) - rooms_[index(pool)].now;
      wait_behind(e, *first, pool, need.bytes, std::max(Bytes{}, lacks));
      return true;
    }
    return false;
  }

  // Most of a long queue waits like this, turn after turn: only the numbers are
  // renewed.
  void wait_behind(Entry& e, const Entry& first, int pool, Bytes need, Bytes lacks) {
    if (!e.announced || !e.waits || e.waits->code != WaitCode::order || e.waits->owner_job != first.job.id) {
      return wait(e, amounts({.code = WaitCode::order, .owner_job = first.job.id}, pool, need, lacks));
    }
    e.waits->pool = pool;
    e.waits->need = need;
    e.waits->free = std::max(Bytes{}, rooms_[index(pool)].now);
    e.waits->short_by = lacks;
    e.waits->has_amounts = true;
  }

  Option option(const Entry& e, int gpu) const {
    Option o;
    o.gpu = gpu;
    for (const CompiledNeed& need : e.needs) {
      const int pool = need.pool == kAnyGpu ? gpu : need.pool;
      const Bytes lacks = effective_need(w_, e, pool, need.bytes) - rooms_[index(pool)].now;
      if (lacks <= Bytes{}) continue;
      // Cards first: that is what a person looks for.
      const bool card = w_.readings[index(pool)].kind == PoolKind::gpu;
      o.lacks.insert(card ? o.lacks.begin() : o.lacks.end(), Lack{pool, lacks});
    }
    if (!o.lacks.empty()) o.choice = choose(w_, o.lacks, spared(e));
    return o;
  }

  // The server that the job drives, if it holds the job's own bundle: emptying
  // it would win nothing.
  int spared(const Entry& e) const {
    if (e.tenant < 0 || e.job.bundle.empty()) return -1;
    return w_.tenants[index(e.tenant)].bundle == e.job.bundle ? e.tenant : -1;
  }

  static bool better_option(const Option& a, const Option& b) {
    if (a.choice.suffices != b.choice.suffices) return a.choice.suffices;
    if (a.choice.ready != b.choice.ready) return a.choice.ready;
    if (a.choice.suffices && a.choice.tenants.size() != b.choice.tenants.size()) {
      return a.choice.tenants.size() < b.choice.tenants.size();
    }
    return a.choice.suffices ? a.choice.total < b.choice.total : a.lack() < b.lack();
  }

  Bytes need_on(const Entry& e, int pool) const {
    for (const CompiledNeed& need : e.needs) {
      if (need.pool == pool || (need.pool == kAnyGpu && w_.readings[index(pool)].kind == PoolKind::gpu)) return need.bytes;
    }
    return {};
  }

  Waiting amounts(Waiting waiting, int pool, Bytes need, Bytes lacks) const {
    waiting.pool = pool;
    waiting.need = need;
    waiting.free = std::max(Bytes{}, rooms_[index(pool)].now);
    waiting.short_by = lacks;
    waiting.has_amounts = true;
    return waiting;
  }

  void act(Entry& e, const Option& o) {
    if (o.lacks.empty())
      return wait(e, {.code = WaitCode::order});  // only another's reservation
                                                  // stands in the way
    if (!o.choice.suffices) {
      const Lack& lack = hardest(o.lacks, spared(e));
      const Blocker blocker = find_blocker(w_, lack);
      Waiting waiting{.code = blocker.code, .owner_job = blocker.job};
      if (blocker.job == 0) waiting.owner = blocker.owner;
      return wait(e, amounts(std::move(waiting), lack.pool, need_on(e, lack.pool), lack.bytes));
    }
    const Lack& lack = o.lacks.front();
    wait(e, amounts(waiting_for(o, lack), lack.pool, need_on(e, lack.pool), lack.bytes));
    if (!o.choice.ready) return;
    for (const Chosen& chosen : o.choice.tenants) {
      if (chosen.waits) continue;
      if (chosen.restart) {
        w_.tenants[index(chosen.tenant)].restarting = true;
        out_.push_back({w_.now, Restart{w_.tenants[index(chosen.tenant)].id, e.job.id}});
      } else {
        ask(w_, chosen.tenant, e.job.id, false, shares(o, chosen.tenant), out_);
      }
    }
  }

  // Of several pools that lack memory, the first that idle servers could not
  // make good.
  const Lack& hardest(const std::vector<Lack>& lacks, int spared_tenant) const {
    for (const Lack& lack : lacks) {
      if (!choose(w_, {lack}, spared_tenant).suffices) return lack;
    }
    return lacks.front();
  }

  Waiting waiting_for(const Option& o, const Lack& lack) const {
    int main = o.choice.tenants.front().tenant;
    bool all_asked = true;
    for (const Chosen& chosen : o.choice.tenants) {
      if (w_.leftover(chosen.tenant, lack.pool) > w_.leftover(main, lack.pool)) main = chosen.tenant;
      all_asked = all_asked && standing(w_, chosen.tenant) == Standing::watched;
    }
    const WaitCode code = all_asked ? WaitCode::releasing : code_of(w_, main);
    return {.code = code == WaitCode::releasing && !all_asked ? WaitCode::leftover : code,
            .owner = Owner{OwnerKind::tenant, w_.tenants[index(main)].id}};
  }

  // What this tenant must give of what is lacking, when the others give all
  // that they hold.
  std::vector<Lack> shares(const Option& o, int tenant) const {
    std::vector<Lack> list;
    for (const Lack& lack : o.lacks) {
      const Bytes mine = w_.leftover(tenant, lack.pool).value_or(Bytes{});
      if (mine <= Bytes{}) continue;
      Bytes others;
      for (const Chosen& chosen : o.choice.tenants) {
        if (chosen.tenant != tenant) others += w_.leftover(chosen.tenant, lack.pool).value_or(Bytes{});
      }
      list.push_back({lack.pool, std::clamp(lack.bytes - others, Bytes{1}, std::max(mine, Bytes{1}))});
    }
    return list;
  }

  // ---- what a waiting job keeps from those behind it ----

  // What the first of a long queue need is weighed against what those behind
  // them want; behind so many, nobody passes anybody.
  static constexpr int kReserving = 256;

  void reserve(const Entry& e) {
    blocked_before_ = true;
    if (++reserving_ > kReserving) return close(e);
    bool together = true;
    for (const CompiledNeed& need : e.needs) {
      each_pool(need, [&](int p) {
        const Room& room = rooms_[index(p)];
        const Bytes sum = room.reserved + effective_need(w_, e, p, need.bytes);
        if (sum > room.later(sum)) together = false;
      });
    }
    for (const CompiledNeed& need : e.needs) {
      each_pool(need, [&](int p) {
        Room& room = rooms_[index(p)];
        const Bytes eff = effective_need(w_, e, p, need.bytes);
        if (room.first == nullptr) room.first = &e;
        if (eff > room.now) room.lacking = true;
        // Those that can't run beside the ones before them run after them: they
        // need no more than the larger of both.
        room.reserved = together ? room.reserved + eff : std::max(room.reserved, eff);
        room.settle();
      });
    }
  }

  void close(const Entry& e) {
    for (const CompiledNeed& need : e.needs) {
      each_pool(need, [&](int p) {
        Room& room = rooms_[index(p)];
        if (room.closed) return;
        if (room.first == nullptr) room.first = &e;
        room.closed = true;
        room.settle();
      });
    }
  }

  void wait(Entry& e, Waiting waiting) {
    const bool news = !e.announced || !e.waits || !e.waits->same_kind(waiting);
    e.waits = std::move(waiting);
    e.announced = true;
    if (news) out_.push_back({w_.now, Wait{e.job.id, explain(w_, e)}});
  }

  World& w_;
  std::vector<Output>& out_;
  std::vector<Room> rooms_;
  bool any_gpu_ = false;
  int largest_gpu_ = kNoPool;
  int reserving_ = 0;
  bool blocked_before_ = false;
  bool admitted_any_ = false;
};

void add_tenant(const World& world, const std::string& id, int pool, Reason& reason) {
  const int t = world.tenant_index(id);
  if (t < 0) return;
  const TenantMemory& memory = world.tenants[index(t)];
  if (pool >= 0) reason.held = world.held(t, pool);
  reason.idle_since = world.idle_since(t);
  reason.left_by = memory.left_by;
  if (memory.watch) {
    reason.asked_at = memory.watch->asked_at;
  } else if (memory.failed) {
    reason.asked_at = memory.failed->asked_at;
  }
}

}  // namespace

void plan(World& world, std::vector<Output>& out) { Planner(world, out).run(); }

void end_bundle(World& world, const Entry& ended) {
  const int t = world.tenant_index(ended.job.tenant);
  if (t < 0) return;
  TenantMemory& memory = world.tenants[index(t)];
  memory.left_by = ended.job.id;
  if (world.driver(t) != 0) return;
  const Entry* next = next_driver(world, memory.id);
  memory.release_due = next == nullptr || next->job.bundle != ended.job.bundle;
  memory.due_since = world.now;
}

void ask_by_hand(World& world, int tenant, std::vector<Output>& out) {
  // Grace, `keep` and cooldown are the queue's manners, not a person's; what
  // would do harm is not done for a person either.
  const Standing stands = standing(world, tenant);
  const bool may =
      can_be_emptied(stands) || stands == Standing::kept || (stands == Standing::reserved && world.known_idle(tenant));
  if (!may) return;
  std::vector<Lack> pools = pools_to_empty(world, tenant);
  if (pools.empty() && world.ram >= 0) pools.push_back({world.ram, Bytes{}});
  if (!pools.empty()) ask(world, tenant, std::nullopt, true, pools, out);
}

Reason explain(const World& world, const Entry& entry) {
  Reason reason;
  if (!entry.waits) return reason;
  const Waiting& waits = *entry.waits;
  reason.code = waits.code;
  if (waits.pool >= 0) reason.pool = world.readings[index(waits.pool)].id;
  if (waits.has_amounts || waits.code == WaitCode::stale) {
    if (waits.pool < 0) {
      for (const Need& need : entry.job.needs) {
        if (need.bytes == waits.need) reason.pool = need.pool;
      }
    }
  }
  if (waits.has_amounts) {
    reason.need = waits.need;
    if (waits.pool >= 0) reason.free = waits.free;  // of a pool that is not there nothing is free or taken
    reason.short_by = waits.short_by;
  }
  if (waits.owner_job != 0) {
    reason.owner = Owner{OwnerKind::job, std::to_string(waits.owner_job)};
  } else {
    reason.owner = waits.owner;
  }
  if (reason.owner && reason.owner->kind == OwnerKind::tenant) {
    add_tenant(world, reason.owner->name, waits.pool, reason);
  } else if (reason.owner && waits.pool >= 0) {
    const Claim* claim = find_claim(world.books[index(waits.pool)], reason.owner->kind, reason.owner->name);
    if (claim != nullptr) reason.held = claim->bytes;
  }
  return reason;
}

}  // namespace jipsa
