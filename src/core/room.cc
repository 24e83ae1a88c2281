#include "core/room.h"

#include <algorithm>

namespace jipsa {
namespace {

std::size_t index(int i) { return static_cast<std::size_t>(i); }

// What a server has taken for the jobs that drive it, since before their bundle
// was loaded.
Bytes taken_inside(const World& world, int tenant, int pool) {
  const std::optional<Bytes> held = world.held(tenant, pool);
  if (!held) return {};
  const TenantMemory& memory = world.tenants[index(tenant)];
  const auto base = memory.bundle_base.find(world.readings[index(pool)].id);
  const Bytes before = base == memory.bundle_base.end() ? world.floor(tenant, pool).value_or(Bytes{}) : base->second;
  return std::max(Bytes{}, *held - std::max(before, Bytes{}));
}

std::optional<Bytes> ever_available(const Policy& policy, const Pool& pool) {
  if (!pool.total) return std::nullopt;
  return *pool.total - headroom_of(policy, pool.kind) - pool.reserved.value_or(Bytes{});
}

void add_claims(const World& world, int pool, Room& room) {
  for (const Claim& claim : world.books[index(pool)].claims) {
    switch (claim.owner.kind) {
      case OwnerKind::baseline:
      case OwnerKind::driver:
        room.firm += claim.bytes;
        break;
      case OwnerKind::process:
      case OwnerKind::unexplained:
        room.outsiders += claim.bytes;
        break;
      case OwnerKind::tenant: {
        const int t = world.tenant_index(claim.owner.name);
        if (t < 0) break;
        const bool keep = world.tenant_policy(claim.owner.name).keep;
        room.firm += keep ? claim.bytes : std::min(claim.bytes, world.floor(t, pool).value_or(Bytes{}));
        break;
      }
      case OwnerKind::job:
        break;
    }
  }
}

// Jobs that drive the same server share what it has taken: promised together,
// taken together.
Bytes promised_inside(const World& world, int tenant, int pool) {
  Bytes promised;
  for (const Entry* e : world.admitted) {
    if (e->tenant != tenant) continue;
    for (const CompiledNeed& need : e->granted) {
      if (need.pool == pool) promised += need.bytes;
    }
  }
  return promised;
}

}  // namespace

Bytes headroom_of(const Policy& policy, PoolKind kind) { return kind == PoolKind::gpu ? policy.headroom : policy.ram_headroom; }

Bytes Room::later(Bytes need) const {
  if (!ever) return {};
  const Bytes with_outsiders = *ever - firm - outsiders;
  return with_outsiders >= need ? with_outsiders : *ever - firm;
}

void Room::settle() {
  if (closed) {
    allowed = std::min(now, Bytes{});
  } else if (first == nullptr) {
    allowed = now;
  } else if (!lacking) {
    allowed = now - reserved;
  } else {
    allowed = std::min(now, later(reserved) - passers - reserved);
  }
}

Bytes outstanding(const World& world, const Entry& entry, const CompiledNeed& need) {
  const Books& books = world.books[index(need.pool)];
  if (!books.used) return need.bytes;
  const Claim* claim = find_claim(books, OwnerKind::job, std::to_string(entry.job.id));
  if (claim == nullptr) return need.bytes;
  const Bytes taken = claim->how == How::shared ? claim->lo : claim->bytes;
  return std::max(Bytes{}, need.bytes - taken);
}

Bytes effective_need(const World& world, const Entry& entry, int pool, Bytes need) {
  if (entry.tenant < 0 || entry.job.bundle.empty()) return need;
  const TenantMemory& memory = world.tenants[index(entry.tenant)];
  if (memory.bundle != entry.job.bundle || world.drivers(entry.tenant) > 0) return need;
  Bytes there = taken_inside(world, entry.tenant, pool);
  for (const Unseen& unseen : world.unseen) {
    if (unseen.tenant == entry.tenant && unseen.pool == pool && unseen.bundle == entry.job.bundle) there += unseen.bytes;
  }
  return std::max(Bytes{}, need - there);
}

void keep_unseen(World& world, const Entry& entry) {
  if (entry.tenant < 0) return;
  for (const CompiledNeed& need : entry.granted) {
    if (need.pool < 0) continue;
    const Bytes promised = promised_inside(world, entry.tenant, need.pool);
    const Bytes left = std::min(need.bytes, promised - taken_inside(world, entry.tenant, need.pool));
    if (left > Bytes{}) world.unseen.push_back({entry.tenant, need.pool, entry.job.bundle, left});
  }
}

std::vector<Room> measure_rooms(const World& world) {
  std::vector<Room> rooms(world.readings.size());
  for (std::size_t i = 0; i < rooms.size(); ++i) {
    Room& room = rooms[i];
    const Books& books = world.books[i];
    room.ever = ever_available(world.policy, world.readings[i]);
    room.measured = books.used && books.unused;
    if (!room.measured) continue;
    room.now = *books.unused - headroom_of(world.policy, books.kind);
    add_claims(world, static_cast<int>(i), room);
  }
  for (const Entry* e : world.admitted) {
    for (const CompiledNeed& need : e->granted) {
      if (need.pool < 0) continue;
      Room& room = rooms[index(need.pool)];
      ++room.own_jobs;
      if (e->passer) room.passers += need.bytes;
      if (e->tenant < 0) room.now -= outstanding(world, *e, need);
    }
  }
  for (const Unseen& unseen : world.unseen) rooms[index(unseen.pool)].now -= unseen.bytes;
  for (std::size_t t = 0; t < world.tenants.size(); ++t) {
    const int tenant = static_cast<int>(t);
    if (world.drivers(tenant) == 0) continue;
    for (std::size_t p = 0; p < rooms.size(); ++p) {
      const Bytes promised = promised_inside(world, tenant, static_cast<int>(p));
      if (promised > Bytes{}) rooms[p].now -= std::max(Bytes{}, promised - taken_inside(world, tenant, static_cast<int>(p)));
    }
  }
  for (Room& room : rooms) room.settle();
  return rooms;
}

}  // namespace jipsa
