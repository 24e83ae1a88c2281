// Restarts a server as its owner has said it is done, and waits until it answers again.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "core/result.h"
#include "daemon/tenants_watch.h"
#include "machine/loop.h"

namespace jipsa {

class Restarter {
 public:
  Restarter(Loop& loop, RecordClock& clock, TenantsWatch& tenants, std::string log_dir);
  ~Restarter();
  Restarter(const Restarter&) = delete;
  Restarter& operator=(const Restarter&) = delete;

  // `done` runs once, from the loop: ok when another process than before answers, within the server's restart_deadline.
  void restart(const std::string& tenant, std::function<void(Result<void>)> done);

 private:
  struct Run {
    std::string tenant;
    std::function<void(Result<void>)> done;
    ServerSeen before;
    bool seen_down = false, exited_well = false, looking = false;
    pid_t child = 0;
    int pidfd = -1;
    std::int64_t began_ns = 0;
    Loop::TimerId timer = 0;
  };
  Result<void> spawn(Run& run);
  void child_ended(const std::string& tenant);
  void poll(const std::string& tenant);
  void looked(const std::string& tenant, const TenantAnswer& answer);
  [[nodiscard]] static bool is_new(const Run& run);
  void finish(const std::string& tenant, Result<void> result);

  Loop& loop_;
  RecordClock& clock_;
  TenantsWatch& tenants_;
  std::string log_dir_;
  std::map<std::string, Run> runs_;
};

}  // namespace jipsa
