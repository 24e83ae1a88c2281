// Reads every card's memory through NVML, over the life of one helper process.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "machine/nvml/library.h"
#include "machine/nvml/processes.h"
#include "machine/sense.h"

namespace jipsa::nvml {

std::int64_t boot_time_ns();  // CLOCK_BOOTTIME, as the daemon's clock

class Cards {
 public:
  explicit Cards(const Calls& calls) : calls_(calls), lists_(calls) {}

  DriverReading read(bool processes);

  // The driver was updated under us: only a new process, with the new library, can read again.
  [[nodiscard]] bool worn() const { return worn_; }

 private:
  struct Card {
    unsigned index = 0;
    std::string uuid, name;  // a card is known by its UUID: the order of indices changes over driver reloads
    Device handle = nullptr;
    int code = 0;  // why there is no handle
  };

  DriverReading ask(bool processes);
  std::optional<Failure> init();
  std::optional<Failure> enumerate();
  std::optional<Failure> read_card(Card& card, bool processes, GpuReading& out);
  int read_memory(Device handle, MemoryBooks& books, const char*& call);
  Card& known(const std::string& uuid, unsigned index);
  void drop();
  DriverReading failed(const Failure& failure);

  Calls calls_;
  ProcessLists lists_;
  std::vector<Card> cards_;
  std::string driver_version_;
  bool ready_ = false, stale_ = true, worn_ = false, refused_v2_ = false;
  Failure last_;
  std::int64_t not_before_ = 0, wait_ns_ = 0, enumerate_at_ = 0;
};

}  // namespace jipsa::nvml
