// jipsad's command line.
#pragma once

#include <optional>
#include <string>

#include "config/config.h"

namespace jipsa {

struct Options {
  PlaceOptions places;
  bool config_named = false;  // on the command line: then it must exist
};

// Empty: there is nothing more to do (--help, --version, or a mistake that was named), and `exit_code` says how it went.
std::optional<Options> parse_options(int argc, char** argv, const std::string& version, int& exit_code);

// Where a program of ours lies: beside this one, or in the libexec folder beside its folder. Code::not_found names both.
Result<std::string> find_helper(const std::string& program);

}  // namespace jipsa
