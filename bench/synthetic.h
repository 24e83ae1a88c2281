// Made-up machines and jobs for the benchmarks.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "core/engine.h"

namespace jipsa::bench {

// Memory never stands quite still: up to 64 MiB more or less.
inline Bytes wobble(Seconds t) { return Bytes{static_cast<std::int64_t>(std::fmod(t * 7919, 64)) << 20}; }

inline Pool gpu_pool(int index, Pid holder, Bytes used) {
  Pool pool;
  pool.id = "gpu" + std::to_string(index);
  pool.total = gib(32);
  pool.used = used;
  pool.processes = std::vector<DeviceProcess>{{holder, std::nullopt}};
  return pool;
}

inline Pool ram_pool(Bytes available) {
  Pool pool;
  pool.id = "ram";
  pool.kind = PoolKind::ram;
  pool.total = gib(64);
  pool.available = available;
  return pool;
}

inline Process server_process(Pid pid) {
  Process p;
  p.pid = pid;
  p.start = 1000 + pid;
  p.name = "python3";
  p.rss_anon = gib(3);
  p.rss_file = mib(600);
  p.rss_shmem = Bytes{0};
  p.cpu = 500;
  return p;
}

inline TenantLook server_look(const std::string& id, Pid pid, const std::string& pool, Bytes free) {
  TenantLook look;
  look.id = id;
  look.kind = "comfyui";
  look.pid = pid;
  look.reachable = true;
  look.running = 0;
  look.pending = 0;
  look.report = Report{pool, gib(32), free, mib(100), std::nullopt};
  return look;
}

// One GPU of 32 GiB, of which an idle server holds some 16; 64 GiB of host memory.
inline Observation small_look(Bytes more) {
  const Bytes used = gib(17) + more;
  Observation look;
  look.pools = std::vector<Pool>{gpu_pool(0, 4242, used), ram_pool(gib(40))};
  look.processes = std::vector<Process>{server_process(4242)};
  look.tenants = std::vector<TenantLook>{server_look("comfyui", 4242, "gpu0", gib(32) - used)};
  return look;
}

// `gpus` cards, each with one process of some server on it; `servers` servers spread over them.
inline Observation large_look(int gpus, int servers, Bytes more) {
  Observation look;
  look.pools.emplace();
  look.processes.emplace();
  look.tenants.emplace();
  for (int i = 0; i < gpus; ++i) look.pools->push_back(gpu_pool(i, 5000 + i, gib(28) + (i == 0 ? more : Bytes{})));
  look.pools->push_back(ram_pool(gib(40)));
  for (int i = 0; i < servers; ++i) {
    const int card = i % gpus;
    look.processes->push_back(server_process(5000 + i));
    look.tenants->push_back(server_look("server" + std::to_string(i), 5000 + i, "gpu" + std::to_string(card), gib(4)));
  }
  return look;
}

inline Job job(JobId id, Bytes gpu) {
  Job out;
  out.id = id;
  out.name = "job";
  out.needs = {{"gpu", gpu}, {"ram", gib(1)}};
  return out;
}

}  // namespace jipsa::bench
