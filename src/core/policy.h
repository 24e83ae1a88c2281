// The settings that bear on decisions. Defaults are the recording format's.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "core/bytes.h"
#include "core/model.h"

namespace jipsa {

enum class RestartLeave { never, ask, automatic };

struct TenantPolicy {
  std::int64_t slots = 1;  // how many jobs that drive this server may run at once
  RestartLeave restart = RestartLeave::never;
  bool keep = false;                   // never ask this server to release
  std::map<std::string, Bytes> floor;  // by pool: known footprint with nothing loaded, until observed
  bool operator==(const TenantPolicy&) const = default;
};

struct Policy {
  Bytes headroom{536870912};
  Bytes ram_headroom{2147483648};
  Bytes default_baseline{1073741824};
  std::map<std::string, Bytes> baseline;  // by pool
  Seconds release_window = 3;
  Seconds release_deadline = 30;
  Seconds ask_deadline = 15;
  Seconds release_cooldown = 600;
  Seconds stuck_after = 60;
  Seconds idle_grace = 5;
  std::map<std::string, TenantPolicy> tenants;
  bool operator==(const Policy&) const = default;
};

}  // namespace jipsa
