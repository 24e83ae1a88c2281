// What the decision core says: its outputs, and the books behind them. Plain data.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/bytes.h"
#include "core/model.h"

namespace jipsa {

enum class OwnerKind { job, tenant, process, baseline, driver, unexplained };

// Who holds memory. Written "job:7", "tenant:comfyui", "process:vllm", "baseline", "driver", "unexplained".
struct Owner {
  OwnerKind kind = OwnerKind::unexplained;
  std::string name;  // job id, tenant id or process name; empty for the last three
  bool operator==(const Owner&) const = default;
};
std::string to_string(const Owner&);

enum class How { measured, reported, traced, eliminated, estimated, shared };

struct Claim {
  Owner owner;
  Bytes bytes;
  Bytes lo, hi;  // the truth lies between
  How how = How::eliminated;
  bool capped = false;  // said more than the pool holds, and was cut
  bool operator==(const Claim&) const = default;
};

// A pool's books: the claims add up to `used` exactly. `used` empty: not measured, and no claims.
struct Books {
  std::string pool;
  PoolKind kind = PoolKind::gpu;
  std::optional<Bytes> total, used;
  std::optional<Bytes> unused;  // what could be allocated now, headroom and promises not yet taken off
  std::vector<Claim> claims;
};

enum class WaitCode {
  leftover,
  releasing,
  unsafe,
  kept,
  tenant_busy,
  tenant_stuck,
  running_job,
  other_process,
  unexplained,
  baseline,
  never_fits,
  order,
  dependency,
  held,
  paused,
  stale
};

// Why a job waits, with the numbers for a sentence. Empty fields do not apply or are unknown.
struct Reason {
  WaitCode code = WaitCode::order;
  std::string pool;           // the pool that is short; empty if none is
  std::optional<Bytes> need;  // what the job needs there
  std::optional<Bytes> free;  // what it could have there now: unused less headroom and promises; never below 0
  std::optional<Bytes> short_by;
  std::optional<Owner> owner;         // who most stands in the way
  std::optional<Bytes> held;          // what that owner holds in the pool
  std::optional<Seconds> idle_since;  // of that owner, if a tenant and idle
  std::optional<JobId> left_by;       // the job whose work that tenant's leftover is
  std::optional<Seconds> asked_at;    // when that tenant was asked to release (releasing; kept: the failed try)
  bool operator==(const Reason&) const = default;
};

enum class VerdictKind {
  released,
  late,
  partial,
  kept,
  kept_by_allocator,
  at_floor,
  not_acted,
  moved,
  raced,
  refused,
  unreachable,
  died,
  regrown
};

struct Admit {
  JobId job = 0;
  std::string pool;
};  // pool: the chosen GPU; empty if the job needs none
struct Wait {
  JobId job = 0;
  Reason reason;
};
struct Release {
  std::string tenant;
  std::optional<JobId> job;
  std::string pool;
  std::optional<Bytes> held;
};
struct Restart {
  std::string tenant;
  std::optional<JobId> job;
};
struct Verdict {
  std::string tenant, pool;
  VerdictKind verdict = VerdictKind::kept;
  std::optional<Bytes> before, after;
  std::optional<Seconds> settled_s;  // from the request to the last move of memory
  Seconds asked_at = 0;              // which request it is about
};

using Decision = std::variant<Admit, Wait, Release, Restart, Verdict>;
struct Output {
  Seconds t = 0;
  Decision decision;
};

// Names as they stand in recordings and JSON.
const char* name(How);
const char* name(WaitCode);
const char* name(VerdictKind);
const char* name(PoolKind);

}  // namespace jipsa
