// The codes of the API as words: states, verdicts, evidence, notes, checks. An unknown code (a newer daemon's) is shown as it is.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "text/language.h"

namespace jipsa {

std::string state_text(Lang lang, std::string_view state, std::optional<std::int64_t> exit_code,
                       std::optional<std::int64_t> signal);
std::string note_text(Lang lang, std::string_view note);
std::string verdict_text(Lang lang, std::string_view verdict);  // empty: it is being watched
std::string verdict_meaning(Lang lang, std::string_view verdict);
std::string how_text(Lang lang, std::string_view how);
std::string trouble_text(Lang lang, std::string_view trouble);
std::string error_meaning(Lang lang, std::string_view code);

std::string signal_name(std::int64_t number);  // "SIGKILL"; unknown: "signal 77"

struct CheckText {
  std::string label, state, meaning;
};
// `version` and `name` come from the check's detail; empty: not given.
CheckText check_text(Lang lang, std::string_view id, std::string_view state, const std::optional<std::string>& version,
                     const std::optional<std::string>& name);
std::string detail_label(Lang lang, std::string_view key);

}  // namespace jipsa
