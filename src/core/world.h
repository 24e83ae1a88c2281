// The core's working state: the newest look, the jobs, the books, and what is remembered. Internal to core/.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "core/decision.h"
#include "core/model.h"
#include "core/policy.h"
#include "core/state.h"

namespace jipsa {

// Changes and differences below this are noise: page tables, allocator caches, meters read a moment apart.
inline constexpr Bytes kMaterial = mib(64);

inline constexpr int kAnyGpu = -1;
inline constexpr int kNoPool = -2;

struct CompiledNeed {
  int pool = kNoPool;  // index into World::books, kAnyGpu, or kNoPool: no look has shown such a pool
  Bytes bytes;
};

// Why a job waits, as the planner keeps it: small, so that ten thousand of them are compared in a moment.
struct Waiting {
  WaitCode code = WaitCode::order;
  int pool = kNoPool;
  Bytes need{}, free{}, short_by{};
  bool has_amounts = false;
  JobId owner_job = 0;           // the owner, if a job
  std::optional<Owner> owner{};  // the owner otherwise
  [[nodiscard]] bool same_kind(const Waiting& o) const { return code == o.code && owner_job == o.owner_job && owner == o.owner; }
};

struct Entry {
  Job job;
  enum class Stage { waiting, admitted } stage = Stage::waiting;
  bool held = false;
  std::vector<JobId> pending_after;  // dependencies that have not ended well yet
  std::vector<Pid> pids;
  std::vector<CompiledNeed> needs;
  std::size_t compiled_for = static_cast<std::size_t>(-1);  // how many pools and tenants were known when `needs` was compiled
  int tenant = -1;                                          // index into World::tenants, once seen
  // Admitted:
  std::vector<CompiledNeed> granted;  // with the chosen GPU in place of "any"
  bool adopted = false;               // found running: what it was granted is in its needs
  bool passer = false;                // admitted past a job of higher rank that waits for memory
  // Waiting:
  std::optional<Waiting> waits;
  bool announced = false;
};

// What a job that drove a server was promised and had not been seen to take when it ended. It may have been taken since the last
// look, and then the server still holds it: it is counted until a look shows what is so.
struct Unseen {
  int tenant = -1, pool = kNoPool;
  std::string bundle;
  Bytes bytes;
};

struct World {
  Policy policy;
  Seconds now = 0;
  bool paused = false;
  bool looked = false;  // at least one look with pools has come
  // Did the newest look bring these sections? One that is left out is as before: it teaches nothing new of time passing.
  bool new_processes = false, new_tenants = false;

  // The newest look.
  std::vector<Process> processes;
  std::vector<Owner> process_owner;  // parallel
  std::unordered_map<Pid, std::size_t> by_pid;
  std::vector<TenantLook> looks;

  // Pools in the order in which they were first seen; an index stays valid for ever.
  std::vector<Pool> readings;  // the newest reading; `used`/`available` empty once a pool is no longer listed
  std::vector<Books> books;
  std::vector<PoolMemory> pool_memory;
  int ram = kNoPool;

  std::vector<TenantMemory> tenants;
  std::vector<int> look_of;  // parallel to tenants: index into looks, or -1

  std::unordered_map<JobId, std::unique_ptr<Entry>> jobs;
  std::vector<Entry*> waiting;   // in rank order
  std::vector<Entry*> admitted;  // in order of admission
  std::unordered_set<JobId> ended_badly;
  std::vector<Unseen> unseen;

  [[nodiscard]] int pool_index(const std::string& id) const;
  [[nodiscard]] int tenant_index(const std::string& id) const;
  [[nodiscard]] const TenantLook* look(int tenant) const;
  [[nodiscard]] const Process* process(std::optional<Pid> pid) const;
  [[nodiscard]] const TenantPolicy& tenant_policy(const std::string& id) const;

  // What a tenant holds in a pool: empty if the pool could not be measured.
  [[nodiscard]] std::optional<Bytes> held(int tenant, int pool) const;
  // Its footprint with nothing loaded: learned, else configured, else empty.
  [[nodiscard]] std::optional<Bytes> floor(int tenant, int pool) const;
  // What it could give back: held less floor, never below 0; empty if not measured.
  [[nodiscard]] std::optional<Bytes> leftover(int tenant, int pool) const;
  [[nodiscard]] std::optional<double> cpu(int tenant) const;

  [[nodiscard]] bool busy(int tenant) const;        // its own queue shows work
  [[nodiscard]] bool known_idle(int tenant) const;  // reachable, and its own queue shows none
  [[nodiscard]] std::optional<Seconds> idle_since(int tenant) const;
  [[nodiscard]] bool stuck(int tenant) const;
  [[nodiscard]] JobId driver(int tenant) const;  // an admitted job that drives it; 0 if none
  [[nodiscard]] int drivers(int tenant) const;   // how many
  [[nodiscard]] bool cooling(int tenant) const;  // a release did not help, and there is no new evidence

  void compile(Entry& entry) const;
};

const Claim* find_claim(const Books& books, OwnerKind kind, const std::string& name);

}  // namespace jipsa
