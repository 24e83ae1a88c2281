#include "daemon/state_keeper.h"

#include <fmt/format.h>

#include <sstream>

#include "daemon/log.h"
#include "wire/state.h"

namespace jipsa {

// One line of "boot steady_ns wall_ms", then the state itself.
std::optional<KeptState> StateKeeper::load(const Store& store, const std::string& boot_id) {
  const auto kept = store.get("engine");
  if (!kept) {
    log_line("state.unreadable", {{"what", kept.error().what}});
    return std::nullopt;
  }
  if (!*kept) return std::nullopt;
  const std::size_t end = (*kept)->find('\n');
  std::istringstream words((*kept)->substr(0, end));
  KeptState state;
  std::string boot;
  if (end == std::string::npos || !(words >> boot >> state.steady_ns >> state.wall_ms)) {
    log_line("state.unreadable", {{"what", "its first line is not one of ours"}});
    return std::nullopt;
  }
  auto engine = parse_state(std::string_view(**kept).substr(end + 1));
  if (!engine) {
    log_line("state.unreadable", {{"what", engine.error().what}});
    return std::nullopt;
  }
  state.engine = std::move(*engine);
  state.same_boot = boot == boot_id;
  return state;
}

void StateKeeper::save() {
  saved_ns_ = clock_.steady_ns();
  EngineState engine = state_();
  engine.t = clock_.now();
  const std::string text =
      fmt::format("{} {} {}\n{}", boot_id_.empty() ? "-" : boot_id_, saved_ns_, clock_.wall_ms(), state_to_json(engine));
  if (auto saved = store_.put("engine", text); !saved) log_line("store.failed", {{"what", saved.error().what}});
}

void StateKeeper::save_if_older_than(double seconds) {
  if (static_cast<double>(clock_.steady_ns() - saved_ns_) >= seconds * 1e9) save();
}

}  // namespace jipsa
