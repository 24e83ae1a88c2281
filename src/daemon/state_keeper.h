// Keeps what the core remembers on disk, so that a restarted daemon goes on where the last one was.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "core/state.h"
#include "daemon/record_clock.h"
#include "store/store.h"

namespace jipsa {

// As it was saved.
struct KeptState {
  EngineState engine;
  bool same_boot = false;
  std::int64_t steady_ns = 0, wall_ms = 0;  // when it was saved
};

class StateKeeper {
 public:
  StateKeeper(Store& store, RecordClock& clock, std::string boot_id, std::function<EngineState()> state)
      : store_(store), clock_(clock), boot_id_(std::move(boot_id)), state_(std::move(state)) {}

  // A saved state that can't be read is logged and passed over: floors and cooldowns are learned anew.
  static std::optional<KeptState> load(const Store& store, const std::string& boot_id);

  void save();                              // now
  void save_if_older_than(double seconds);  // for states that change a little at every look

 private:
  Store& store_;
  RecordClock& clock_;
  std::string boot_id_;
  std::function<EngineState()> state_;
  std::int64_t saved_ns_ = 0;
};

}  // namespace jipsa
