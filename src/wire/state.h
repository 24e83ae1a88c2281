// The core's memory as JSON text: the state line of a recording, and what the daemon keeps over a restart.
#pragma once

#include <string>
#include <string_view>

#include "core/result.h"
#include "core/state.h"

namespace jipsa {

// One line. An unknown is left out.
std::string state_to_json(const EngineState& state);

// Code::unreadable names the key and what was found there. Keys that are left out are unknown or empty.
Result<EngineState> parse_state(std::string_view json);

}  // namespace jipsa
