// What --help says: first by example, then each option.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "text/language.h"

namespace jipsa {

// `command` empty: the overview. Empty answer: there is no such command.
std::optional<std::string> help_text(Lang lang, std::string_view command);

struct HelpPage {
  std::string_view command, en, ko;
};
const HelpPage* find_help_page(std::string_view command);  // commands that handle jobs: help_jobs.cc; the rest: help_memory.cc
const HelpPage* find_job_help_page(std::string_view command);
const HelpPage* find_memory_help_page(std::string_view command);

}  // namespace jipsa
