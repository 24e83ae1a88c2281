// What the core remembers between looks, as plain data: it can be written down and taken up again after a restart of the daemon.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/decision.h"
#include "core/model.h"

namespace jipsa {

// How much of a pool's memory each owner without an amount is thought to hold, followed from changes over time.
struct Trace {
  Owner owner;
  Bytes bytes;
  bool operator==(const Trace&) const = default;
};

struct PoolMemory {
  std::string id;
  PoolKind kind = PoolKind::gpu;
  std::optional<Bytes> least_unowned;  // the least otherwise unowned memory that was seen: an upper bound of the baseline
  std::vector<Trace> traces;
  Bytes untraced;  // the part of the candidates' memory that nothing tells apart
  bool operator==(const PoolMemory&) const = default;
};

struct CpuSample {
  Seconds t = 0;
  double cpu = 0;
  bool operator==(const CpuSample&) const = default;
};

struct WatchedPool {
  std::string pool;
  Bytes before;
  std::optional<Bytes> asked;  // what the job lacked there; empty: everything above the floor was asked for
  Bytes lowest;                // the least held since the request
  Seconds last_fall = 0;       // when `lowest` last fell by a material amount
  std::optional<Seconds> met_at;
  bool judged = false;
  bool operator==(const WatchedPool&) const = default;
};

// A release being watched.
struct Watch {
  std::optional<JobId> job;
  bool by_hand = false;
  Seconds asked_at = 0;
  bool answered = false;
  bool acted = false;          // a sign was seen that the server carried it out
  bool cpu_known = false;      // its CPU time was known at the request
  double idle_rate = 0;        // CPU seconds a second that it used while idle before the request
  std::vector<CpuSample> cpu;  // since the request, the last look before it included
  std::optional<Pid> pid;
  std::int64_t start = 0;
  std::vector<WatchedPool> pools;
  std::optional<Bytes> ram_before;
  bool operator==(const Watch&) const = default;
};

// What is still looked for after a verdict.
struct Aftermath {
  std::string pool;
  Bytes before, level;  // level: the least held since
  Seconds asked_at = 0, until = 0;
  std::optional<Bytes> asked;
  bool unanswered = false;  // the request had no answer; it may still be carried out
  // For a GPU: whether what left it turned up in host memory.
  std::optional<Bytes> ram_before;
  Seconds moved_check_at = 0;
  Seconds last_fall = 0;
  bool operator==(const Aftermath&) const = default;
};

struct Failure {  // a release or restart that did not help
  Seconds asked_at = 0, at = 0;
  VerdictKind verdict = VerdictKind::kept;
  bool operator==(const Failure&) const = default;
};

struct TenantMemory {
  std::string id, kind;
  std::optional<Pid> pid;
  std::optional<std::int64_t> start;
  std::optional<Seconds> last_busy;          // the last look that showed it at work
  std::optional<Seconds> idle_first;         // the first look since that showed it idle
  std::optional<Seconds> last_used;          // as it says itself
  std::string bundle;                        // whose models it holds
  std::map<std::string, Bytes> bundle_base;  // by pool: what it held before the bundle was loaded
  std::optional<JobId> left_by;
  std::map<std::string, Bytes> floor;  // learned
  // Pools where what it holds now is its floor: a release emptied them, or it restarted ("*": all), and it has not worked since.
  std::vector<std::string> learning;
  std::optional<Seconds> pending_since;  // work waits, nothing runs, no CPU time is used
  double pending_cpu = 0;
  std::optional<CpuSample> last_cpu;
  double idle_rate = 0;
  bool blind = false;  // restarted: nothing is decided about it before the next look
  bool restarting = false;
  bool release_due = false;  // a bundle ended: ask as soon as it is idle
  Seconds due_since = 0;
  std::optional<Watch> watch;
  std::vector<Aftermath> aftermath;
  std::optional<Failure> failed;
  std::optional<Failure> restart_failed;
  bool operator==(const TenantMemory&) const = default;
};

struct EngineState {
  Seconds t = 0;  // the time on the clock that all times here are of
  bool paused = false;
  std::vector<PoolMemory> pools;
  std::vector<TenantMemory> tenants;
  bool operator==(const EngineState&) const = default;
};

}  // namespace jipsa
