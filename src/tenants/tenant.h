// What Jipsa asks of a model server. One adapter a server; none of them disturbs the server by looking.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/model.h"
#include "core/policy.h"
#include "core/result.h"
#include "tenants/http.h"

namespace jipsa {

// A device as the server names it; the daemon finds which pool that is.
struct DeviceReport {
  bool host_memory = false;           // it computes on the CPU: the device is host memory
  std::optional<std::int64_t> index;  // its own index of the card, if it says one
  std::string name;
  std::optional<Bytes> total, free, own;  // as in Report
  std::optional<std::vector<LoadedModel>> models;
};

// One look at the server. Fields that the server could not or did not say are empty.
struct TenantAnswer {
  bool reachable = false;
  std::optional<std::int64_t> running, pending;
  std::optional<std::int64_t> last_used_wall_ms;  // when its last work ended, by its own history
  std::vector<DeviceReport> devices;
  std::string version;
  std::string trouble;  // when something was wrong with an answer: one line naming the request and the finding
};

struct ReleaseAnswer {
  bool ok = false;
  std::optional<std::int64_t> status;  // empty: no answer (it may still be carried out)
  std::string error;                   // what the status means for this server and what would help
};

class Tenant {
 public:
  virtual ~Tenant() = default;
  // At most one look and one release are under way at a time (the caller sees to that). `done` runs once, on the loop's thread.
  virtual void look(std::function<void(TenantAnswer)> done) = 0;
  virtual void release(std::function<void(ReleaseAnswer)> done) = 0;
};

struct TenantConfig {
  std::string id, kind, url;
  RestartLeave restart = RestartLeave::never;
  std::vector<std::string> restart_command;  // argv; or
  std::string unit;                          // a systemd unit ("comfyui.service"; "user:comfyui.service" for the user's manager)
  double restart_deadline = 120;             // seconds within which it must answer again
  bool keep = false;
  std::int64_t slots = 1;
  std::optional<Pid> pid;  // named by the owner; otherwise found from the listening port of `url`
  std::map<std::string, Bytes> floor;
};

// Makes the adapter for a configured kind ("comfyui"); Code::unsupported names the kinds there are.
Result<std::unique_ptr<Tenant>> make_tenant(const TenantConfig& config, HttpClient& http);

}  // namespace jipsa
