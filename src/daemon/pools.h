// From the driver's readings and host memory to the pools of an observation.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/model.h"
#include "machine/sense.h"
#include "tenants/tenant.h"

namespace jipsa {

class Pools {
 public:
  // What the driver said. Readings without process lists keep the lists of the reading before, while those are young.
  void take(const DriverReading& reading);
  void take(const HostMemory& memory, std::int64_t steady_ns) {
    memory_ = memory;
    memory_ns_ = steady_ns;
  }

  // Cards that an earlier daemon knew: they keep their ids, and are unknown rather than absent until the driver has spoken.
  void remember(const std::string& cards);
  [[nodiscard]] std::string remembered() const;

  // The pools as of now. Amounts of a reading older than `max_age` are unknown; a card that was seen once stays listed.
  [[nodiscard]] std::vector<Pool> at(std::int64_t steady_ns, std::chrono::nanoseconds max_age) const;

  // Has any card's use moved so far since its processes were last listed that those lists can't be right any more?
  [[nodiscard]] bool lists_outdated() const;

  // Which pool a server speaks of; none if that can't be told.
  [[nodiscard]] std::optional<Report> report_of(const std::vector<DeviceReport>& devices, std::optional<Pid> server) const;

  [[nodiscard]] std::vector<Pid> listed_pids() const;
  [[nodiscard]] std::string uuid_of(const std::string& pool) const;  // empty: no such card
  [[nodiscard]] const DriverReading& driver() const { return reading_; }
  [[nodiscard]] const HostMemory& host_memory() const { return memory_; }

  // For people: what is wrong with a pool now (empty: nothing), and how old its amounts are.
  [[nodiscard]] std::string trouble_of(const std::string& pool, std::int64_t steady_ns, std::chrono::nanoseconds max_age) const;
  [[nodiscard]] std::optional<double> age_of(const std::string& pool, std::int64_t steady_ns) const;

 private:
  struct Card {
    std::string id;  // "gpu0": given at first sight, bound to the UUID from then on
    std::string uuid;
    bool present = false;  // in the last good reading
    GpuReading reading;
    std::int64_t steady_ns = 0;  // of `reading`
    std::int64_t listed_ns = 0;  // when the processes were last listed
    std::optional<Bytes> used_when_listed;
  };
  Card& card_for(const GpuReading& gpu);
  [[nodiscard]] const Card* find(const std::string& pool) const;
  [[nodiscard]] const Card* card_of(const DeviceReport& device, std::optional<Pid> server) const;

  std::vector<Card> cards_;
  DriverReading reading_;
  HostMemory memory_;
  std::int64_t memory_ns_ = 0;
  bool spoken_ = false;  // the driver has given its list
};

}  // namespace jipsa
