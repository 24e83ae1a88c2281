// A little machine for tests of the core: state what it shows, look, and read what was decided.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/engine.h"
#include "core/state.h"

namespace jipsa::test {

inline Bytes g(double gibs) { return Bytes{static_cast<std::int64_t>(gibs * 1073741824.0)}; }

struct Machine {
  explicit Machine(Policy p = {}) : engine(std::move(p)) {
    ram.id = "ram";
    ram.kind = PoolKind::ram;
    ram.total = g(64);
    ram.available = g(50);
  }

  Engine engine;
  Pool ram;
  std::vector<Pool> gpus;
  std::vector<Process> processes;
  std::vector<TenantLook> tenants;
  std::vector<Output> all;

  Pool& gpu(double total, double used, std::vector<DeviceProcess> rows = {}) {
    Pool p;
    p.id = "gpu" + std::to_string(gpus.size());
    p.total = g(total);
    p.used = g(used);
    p.processes = std::move(rows);
    gpus.push_back(p);
    return gpus.back();
  }
  Process& process(Pid pid, const std::string& name, double anon, double cpu = -1) {
    Process p;
    p.pid = pid;
    p.start = pid * 10;
    p.name = name;
    p.rss_anon = g(anon);
    p.rss_shmem = Bytes{};
    if (cpu >= 0) p.cpu = cpu;
    processes.push_back(p);
    return processes.back();
  }
  TenantLook& tenant(const std::string& id, const std::string& kind, Pid pid, Seconds last_used = -1000) {
    TenantLook t;
    t.id = id;
    t.kind = kind;
    t.pid = pid;
    t.reachable = true;
    t.running = 0;
    t.pending = 0;
    t.last_used = last_used;
    tenants.push_back(t);
    return tenants.back();
  }

  std::vector<Output> step(Seconds t, Event event) {
    std::vector<Output> out;
    engine.step(Input{t, std::move(event)}, out);
    all.insert(all.end(), out.begin(), out.end());
    check_books();
    return out;
  }
  std::vector<Output> look(Seconds t) {
    Observation o;
    o.pools = gpus;
    o.pools->push_back(ram);
    o.processes = processes;
    o.tenants = tenants;
    return step(t, o);
  }
  std::vector<Output> submit(Seconds t, JobId id, std::vector<Need> needs, std::int64_t priority = 0, std::string tenant_id = {},
                             std::string bundle = {}, std::vector<JobId> after = {}) {
    return step(t, Submit{Job{id, "job", std::move(needs), priority, std::move(tenant_id), std::move(bundle), std::move(after)}});
  }

  // The claims of every measured pool add up to what is used: after every step of every test.
  void check_books() const {
    for (const Books& b : engine.books()) {
      Bytes sum;
      for (const Claim& c : b.claims) {
        sum += c.bytes;
        EXPECT_GT(c.bytes, Bytes{}) << to_string(c.owner);
        EXPECT_LE(c.lo, c.bytes) << to_string(c.owner);
        EXPECT_GE(c.hi, c.bytes) << to_string(c.owner);
      }
      if (b.used) {
        EXPECT_EQ(sum, *b.used) << b.pool;
      } else {
        EXPECT_TRUE(b.claims.empty());
      }
    }
  }

  Bytes holds(const std::string& pool, OwnerKind kind, const std::string& name = {}) const {
    for (const Books& b : engine.books()) {
      if (b.pool != pool) continue;
      for (const Claim& c : b.claims) {
        if (c.owner.kind == kind && c.owner.name == name) return c.bytes;
      }
    }
    return {};
  }
  const Claim* claim(const std::string& pool, OwnerKind kind, const std::string& name = {}) const {
    for (const Books& b : engine.books()) {
      if (b.pool != pool) continue;
      for (const Claim& c : b.claims) {
        if (c.owner.kind == kind && c.owner.name == name) return &c;
      }
    }
    return nullptr;
  }
};

template <class T>
std::vector<T> only(const std::vector<Output>& outputs) {
  std::vector<T> list;
  for (const Output& o : outputs) {
    if (const T* d = std::get_if<T>(&o.decision)) list.push_back(*d);
  }
  return list;
}

inline bool admitted(const std::vector<Output>& outputs, JobId job) {
  const auto list = only<Admit>(outputs);
  return std::any_of(list.begin(), list.end(), [&](const Admit& a) { return a.job == job; });
}

inline std::string codes(const Machine& m, JobId job) {
  const auto reason = m.engine.reason(job);
  if (!reason) return "-";
  return std::string(name(reason->code)) + (reason->owner ? " " + to_string(*reason->owner) : "");
}

inline std::string verdicts(const std::vector<Output>& outputs) {
  std::string text;
  for (const Verdict& v : only<Verdict>(outputs)) text += (text.empty() ? "" : ",") + v.pool + ":" + name(v.verdict);
  return text;
}

}  // namespace jipsa::test
