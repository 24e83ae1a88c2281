// What this machine says of its memory: the driver's cards, host memory, processes.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/model.h"
#include "core/result.h"
#include "machine/loop.h"

namespace jipsa {

// ---- the driver, in a helper process that may hang or die without harm (program jipsa-nvml) ----

struct GpuReading {
  std::string uuid, name;
  unsigned index = 0;
  std::optional<Bytes> total, used, free, reserved;  // used excludes reserved; total = used + reserved + free
  std::optional<std::vector<DeviceProcess>>
      processes;        // merged over the compute, graphics and MPS lists: max a pid, never the sum
  std::string trouble;  // a named state, empty when all is well: "lost", "reset_required", "no_permission", "version_mismatch", …
};

struct DriverReading {
  enum class State {
    ok,
    none,    // no driver library on this machine: normal, the pool ram alone is rationed
    failed,  // a library, and it says no: `trouble` names the call and its return code
    silent   // the helper hangs or died and is being restarted: nothing is known
  };
  State state = State::silent;
  std::string trouble;
  std::string driver_version;
  std::vector<GpuReading> gpus;
  std::int64_t steady_ns = 0;  // when the helper finished reading
};

class DriverSource {
 public:
  // `helper`: path of jipsa-nvml. `library`: path of the NVML library, empty for the system's.
  DriverSource(Loop& loop, std::string helper, std::string library);
  ~DriverSource();  // ends the helper
  DriverSource(const DriverSource&) = delete;
  DriverSource& operator=(const DriverSource&) = delete;

  // Asks for a reading; `processes`: the per-process lists too (they cost milliseconds and a driver lock). `done` runs once, on
  // the loop's thread, within `deadline`: a helper that does not answer in time is killed and started again with back-off (state
  // silent). A read asked for while one is under way gets that one's result.
  void read(bool processes, std::chrono::milliseconds deadline, std::function<void(DriverReading)> done);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// ---- /proc ----

struct HostMemory {
  std::optional<Bytes> total, available, swap_total, swap_free;
};
HostMemory read_host_memory(const std::string& proc = "/proc");

std::string read_boot_id(const std::string& proc = "/proc");

// One process with its memory; empty if it is gone. `cpu` is its own CPU time and that of its waited-for children.
struct ProcStat {
  Pid pid = 0, parent = 0, group = 0, session = 0;
  std::int64_t start = 0;
  std::string name;
  double cpu = 0;
  char state = '?';
};
std::optional<ProcStat> read_stat(Pid pid, const std::string& proc = "/proc");
std::optional<Process> read_process(Pid pid,
                                    const std::string& proc = "/proc");  // status fields; owner and anon_arena left empty

class ProcTable;
// The same, with the tree's CPU time out of a table read just before: for many processes at once, and for kernels without
// CONFIG_PROC_CHILDREN, where the other has to read all of /proc.
std::optional<Process> read_process(Pid pid, const ProcTable& table, const std::string& proc = "/proc");

// All processes once: who is whose child. Built by one pass over /proc.
class ProcTable {
 public:
  static ProcTable read(const std::string& proc = "/proc");
  [[nodiscard]] std::vector<Pid> tree(Pid root) const;  // root and all descendants, root first; empty if root is gone
  [[nodiscard]] const ProcStat* find(Pid pid) const;
  [[nodiscard]] double tree_cpu(Pid root) const;
  [[nodiscard]] std::vector<Pid> session(Pid id) const;  // the members of a session, whether its first process lives or not

 private:
  std::vector<ProcStat> rows_;          // by pid
  std::vector<std::size_t> by_parent_;  // indexes into rows_
};

// The process that listens on a local TCP port; empty if none is visible from here. `trouble` says why when it can't be known
// (docker-proxy, another network namespace, another user's process).
struct PortOwner {
  std::optional<Pid> pid;
  std::string trouble;
};
PortOwner find_listener(std::uint16_t port, const std::string& proc = "/proc");

// The part of a process's anonymous memory that lies in the C allocator's heap and arenas. Reads smaps: costs some 4 ms a GiB and
// blocks the process's mmap meanwhile; ask rarely, never in the loop's thread.
std::optional<Bytes> read_anon_arena(Pid pid, const std::string& proc = "/proc");

}  // namespace jipsa
