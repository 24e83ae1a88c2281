// The decision core's door: inputs in, decisions out. The daemon, `jipsa replay` and the tests all come in here.
// No clock, no I/O, no thread, no JSON: the same inputs give the same decisions, always.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/decision.h"
#include "core/model.h"
#include "core/policy.h"

namespace jipsa {

// What is known of a tenant beyond one look; for `tenants`, `whose` and the wait reasons.
struct TenantStatus {
  std::string id, kind;
  bool seen = false, reachable = false;
  std::optional<std::int64_t> running, pending;
  std::optional<Seconds> idle_since;
  std::optional<JobId> left_by;        // the last job that drove it since it was last emptied
  std::string bundle;                  // whose models it holds, if that is known
  std::map<std::string, Bytes> floor;  // by pool, learned or configured
  std::map<std::string, Bytes> holds;  // by pool, at the last look
  bool stuck = false;
  bool watching = false;              // a release is being watched
  std::optional<Seconds> asked_at;    // of the release being watched
  std::optional<Seconds> not_before;  // in cooldown until then, unless it works or restarts
  bool restarting = false;
};

struct EngineState;  // everything that must survive a restart of the daemon; see core/state.h

class Engine {
 public:
  explicit Engine(Policy policy);
  Engine(Policy policy, const EngineState& resumed);
  ~Engine();
  Engine(Engine&&) noexcept;
  Engine& operator=(Engine&&) noexcept;

  // Feeds one input and appends what follows from it to `out`. `t` must not decrease.
  void step(const Input& input, std::vector<Output>& out);
  void step(Input&& input, std::vector<Output>& out);

  [[nodiscard]] const std::vector<Books>& books() const;        // of the last look; valid until the next step
  [[nodiscard]] std::optional<Reason> reason(JobId job) const;  // why a waiting job waits, with numbers as of the last step
  [[nodiscard]] std::vector<TenantStatus> tenants() const;
  [[nodiscard]] bool paused() const;
  [[nodiscard]] EngineState state() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace jipsa
