// The configured servers: their adapters, the processes behind them, and the newest look at each.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "config/config.h"
#include "core/model.h"
#include "daemon/pools.h"
#include "daemon/record_clock.h"
#include "daemon/sampler.h"
#include "tenants/tenant.h"

namespace jipsa {

class TenantsWatch {
 public:
  struct Watched {
    TenantConfig config;
    std::unique_ptr<Tenant> adapter;
    std::optional<std::uint16_t> port;   // on this machine
    std::optional<TenantAnswer> answer;  // the newest
    bool looking = false, releasing = false;
    bool find = true;                                 // its process may be another one now
    std::chrono::steady_clock::time_point next_find;  // a search that found nobody is costly, and not repeated before
    ServerSeen process;
    std::optional<Bytes> arena;  // looked up for the release that is being watched
    bool arena_wanted = false;
  };

  static Result<std::unique_ptr<TenantsWatch>> make(const Config& config, HttpClient& http);

  // Looks at every server that is not being looked at; `done` runs once, when all of them have answered (at once if there are
  // none).
  void look(std::function<void()> done);
  void look_at(const std::string& id, std::function<void(const TenantAnswer&)> done);

  // The servers' part of the next scan, and what it found.
  [[nodiscard]] std::vector<ScanAsk::Server> scan_asks() const;
  void take(const Scan& scan);

  // An arena figure belongs to one release: it is asked for after the release's window and dropped when the release is over.
  void want_arena(const std::string& id);
  void drop_arena(const std::string& id);
  void add_arenas(std::vector<Process>& processes) const;

  [[nodiscard]] std::optional<std::vector<TenantLook>> looks(const Pools& pools,
                                                             RecordClock& clock) const;  // none before the first
  Watched* find(const std::string& id);
  [[nodiscard]] const std::map<std::string, Watched>& all() const { return watched_; }

 private:
  TenantsWatch() = default;

  std::map<std::string, Watched> watched_;
};

}  // namespace jipsa
