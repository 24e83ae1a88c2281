// What was seen and what happened: the decision core's inputs. Plain data, no behaviour.
// Every optional that is empty means "unknown": the source could not say. It never means zero.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/bytes.h"

namespace jipsa {

using Seconds = double;      // on the recording's clock: seconds since it began
using JobId = std::int64_t;  // 1, 2, 3 …; never given twice
using Pid = std::int32_t;

enum class PoolKind { gpu, ram };

// A process as the driver lists it on a device.
struct DeviceProcess {
  Pid pid = 0;
  std::optional<Bytes> bytes;  // empty where the driver lists presence without an amount (WSL, some containers)
  bool operator==(const DeviceProcess&) const = default;
};

// One reading of one pool.
struct Pool {
  std::string id;  // "gpu0", "ram"
  PoolKind kind = PoolKind::gpu;
  std::optional<Bytes> total;
  std::optional<Bytes> used;                            // gpu only
  std::optional<Bytes> available;                       // ram only: what the kernel estimates can be had without swapping
  std::optional<Bytes> free;                            // gpu, where the driver gives it
  std::optional<Bytes> reserved;                        // gpu: the driver's own share, where it is reported apart from used
  std::optional<std::vector<DeviceProcess>> processes;  // empty: the driver could not list them
  std::string name;                                     // for people: "RTX 5090"; may be empty
  std::string uuid;                                     // gpu: what identifies the card; may be empty in recordings
  bool operator==(const Pool&) const = default;
};

// A host process worth knowing.
struct Process {
  Pid pid = 0;
  std::int64_t start = 0;  // start time in the kernel's ticks: tells a reused pid from the old one
  std::string name;
  std::optional<Bytes> rss_anon, rss_file, rss_shmem, swap;
  std::optional<double> cpu;        // CPU seconds that its whole process tree has used
  std::optional<Bytes> anon_arena;  // the part of rss_anon in the C allocator's heap and arenas; looked up rarely
  std::string owner;                // "job:3", "tenant:comfyui", or empty: whoever's tree, cgroup or unit it was found in
  bool operator==(const Process&) const = default;
};

struct LoadedModel {
  std::string name;
  std::optional<Bytes> bytes;
  bool operator==(const LoadedModel&) const = default;
};

// What a server says of a device. Claims, not measurements.
struct Report {
  std::string pool;                  // which pool it speaks of
  std::optional<Bytes> total, free;  // the device as the server's own process sees it (device-wide)
  std::optional<Bytes> own;          // what its allocator says it holds: a lower bound, often far too low
  std::optional<std::vector<LoadedModel>> models;
  bool operator==(const Report&) const = default;
};

// One look at a tenant.
struct TenantLook {
  std::string id, kind;
  std::optional<Pid> pid;
  bool reachable = false;
  std::optional<std::int64_t> running, pending;  // its own queue
  std::optional<Seconds> last_used;              // when its last work ended; may be negative
  std::optional<Report> report;
  bool operator==(const TenantLook&) const = default;
};

// One look at the machine. A section that is absent is as in the look before; one that is present is whole.
struct Observation {
  std::optional<std::vector<Pool>> pools;
  std::optional<std::vector<Process>> processes;
  std::optional<std::vector<TenantLook>> tenants;
  bool operator==(const Observation&) const = default;
};

struct Need {
  std::string pool;  // "gpu" (any one GPU), "gpu0", "ram"
  Bytes bytes;
  bool operator==(const Need&) const = default;
};

struct Job {
  JobId id = 0;
  std::string name;
  std::vector<Need> needs;    // at most one a pool
  std::int64_t priority = 0;  // higher goes first; among equals the lower id
  std::string tenant;         // drives this server: its memory is used inside it; may be empty
  std::string bundle;         // the set of models it loads there; may be empty
  std::vector<JobId> after;   // these must have ended well first
  bool operator==(const Job&) const = default;
};

struct Submit {
  Job job;
};
struct Started {
  JobId job = 0;
  std::vector<Pid> pids;
};
struct Exit {
  JobId job = 0;
  std::optional<std::int64_t> code;
};  // code empty: nobody saw how it ended
struct Cancel {
  JobId job = 0;
};
struct Released {  // the answer to a release request
  std::string tenant;
  bool ok = false;
  std::optional<std::int64_t> status;  // HTTP status; empty: no answer
  std::string error;
};
struct Restarted {
  std::string tenant;
  bool ok = false;
};
struct Pause {};  // the queue starts nothing
struct Resume {};
struct Hold {
  JobId job = 0;
};  // this job does not start until Unhold
struct Unhold {
  JobId job = 0;
};
struct Ask {
  std::string tenant;
};  // a person asks for a release by hand

using Event = std::variant<Observation, Submit, Started, Exit, Cancel, Released, Restarted, Pause, Resume, Hold, Unhold, Ask>;

struct Input {
  Seconds t = 0;
  Event event;
};

}  // namespace jipsa
