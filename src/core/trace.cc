#include "core/trace.h"

#include <algorithm>

namespace jipsa {
namespace {

Trace* find(std::vector<Trace>& traces, const Owner& owner) {
  for (Trace& trace : traces) {
    if (trace.owner == owner) return &trace;
  }
  return nullptr;
}

Bytes total(const PoolMemory& memory) {
  Bytes sum = memory.untraced;
  for (const Trace& trace : memory.traces) sum += trace.bytes;
  return sum;
}

// Was it at work between the last look and this one? Only those can have made memory grow; a server asked to release can make it
// fall.
bool active(const World& world, const Owner& owner, bool falling) {
  if (owner.kind == OwnerKind::job) return true;
  if (owner.kind != OwnerKind::tenant) return false;
  const int i = world.tenant_index(owner.name);
  if (i < 0) return false;
  const TenantMemory& memory = world.tenants[static_cast<std::size_t>(i)];
  const TenantLook* look = world.look(i);
  if (look != nullptr && look->running.value_or(0) > 0) return true;
  if (falling && (memory.watch || memory.restarting || memory.blind)) return true;
  return memory.idle_first && *memory.idle_first >= world.now && memory.last_busy;  // this is the first look after its work
}

// Candidates that are gone take their traces with them: the fall since is theirs first.
Bytes drop_vanished(PoolMemory& memory, const std::vector<Owner>& candidates) {
  Bytes dropped;
  std::erase_if(memory.traces, [&](const Trace& trace) {
    const bool gone = std::find(candidates.begin(), candidates.end(), trace.owner) == candidates.end();
    if (gone) dropped += trace.bytes;
    return gone;
  });
  return dropped;
}

void shrink_all(PoolMemory& memory, Bytes by) {
  const Bytes from_untraced = std::min(by, memory.untraced);
  memory.untraced -= from_untraced;
  by -= from_untraced;
  std::vector<Trace*> order;
  for (Trace& trace : memory.traces) order.push_back(&trace);
  std::sort(order.begin(), order.end(), [](const Trace* a, const Trace* b) { return a->bytes > b->bytes; });
  for (Trace* trace : order) {
    const Bytes cut = std::min(by, trace->bytes);
    trace->bytes -= cut;
    by -= cut;
  }
}

void apply(PoolMemory& memory, const std::vector<Trace*>& movers, Bytes delta) {
  if (movers.size() == 1) {
    Trace& mover = *movers.front();
    const Bytes after = mover.bytes + delta;
    mover.bytes = std::max(Bytes{}, after);
    if (after < Bytes{}) shrink_all(memory, -after);
    return;
  }
  if (delta >= Bytes{}) {
    memory.untraced += delta;
  } else {
    shrink_all(memory, -delta);
  }
}

}  // namespace

void follow(const World& world, PoolMemory& memory, const std::vector<Owner>& candidates, Bytes rest) {
  const bool first = memory.traces.empty();
  Bytes delta = rest - total(memory);
  delta += drop_vanished(memory, candidates);
  std::vector<Owner> arrived;
  for (const Owner& owner : candidates) {
    if (find(memory.traces, owner) == nullptr) arrived.push_back(owner);
  }
  for (const Owner& owner : arrived) memory.traces.push_back({owner, Bytes{}});
  if (candidates.empty()) {
    memory.untraced = Bytes{};  // nobody is left to whom it could belong: what remains is unexplained, not somebody's
    return;
  }
  if (candidates.size() == 1) {
    memory.traces.front().bytes = rest;
    memory.untraced = Bytes{};
    return;
  }
  std::vector<Trace*> movers;
  for (Trace& trace : memory.traces) {
    const bool is_new = !first && std::find(arrived.begin(), arrived.end(), trace.owner) != arrived.end();
    if (active(world, trace.owner, delta < Bytes{}) || (is_new && delta > Bytes{})) movers.push_back(&trace);
  }
  apply(memory, movers, delta);
}

Shares share_out(const PoolMemory& memory, const std::vector<Owner>& candidates, Bytes rest) {
  Shares shares;
  const std::size_t n = candidates.size();
  if (n == 1) {
    shares.how = How::eliminated;
    shares.bytes = shares.lo = shares.hi = {rest};
    return shares;
  }
  shares.how = memory.untraced > kMaterial ? How::shared : How::traced;
  Bytes left = rest;
  for (std::size_t i = 0; i < n; ++i) {
    const auto it =
        std::find_if(memory.traces.begin(), memory.traces.end(), [&](const Trace& t) { return t.owner == candidates[i]; });
    const Bytes traced = it == memory.traces.end() ? Bytes{} : it->bytes;
    const Bytes part{memory.untraced.count() / static_cast<std::int64_t>(n)};
    const Bytes bytes =
        i + 1 == n ? left : std::min(left, traced + part);  // the last takes the rounding, so that the sum is exact
    left -= bytes;
    shares.bytes.push_back(bytes);
    shares.lo.push_back(std::min(traced, bytes));
    shares.hi.push_back(std::min(rest, traced + memory.untraced));
  }
  return shares;
}

}  // namespace jipsa
