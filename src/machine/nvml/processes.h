// Who is on a card, over the compute, graphics and MPS lists.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "machine/nvml/library.h"

namespace jipsa::nvml {

// A call that failed in a way that concerns more than what was asked.
struct Failure {
  const char* call = "";
  int code = 0;
};

struct ProcessReading {
  std::optional<std::vector<DeviceProcess>> processes;
  std::string trouble;             // why they are unknown
  std::optional<Failure> failure;  // the driver as a whole, or the card, is gone
};

class ProcessLists {
 public:
  explicit ProcessLists(const Calls& calls) : calls_(calls) {}
  ProcessReading read(Device card, std::optional<Bytes> total);

 private:
  struct List;
  List read_list(const std::vector<ListCall>& symbols, Device card, bool mig, std::optional<Bytes> total);
  [[nodiscard]] bool mig(Device card) const;

  Calls calls_;
  std::map<const void*, unsigned> room_;  // by symbol: how many entries were enough the last time
};

}  // namespace jipsa::nvml
