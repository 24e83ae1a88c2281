// The configuration file's bytes.
#pragma once

#include <optional>
#include <string>
#include <tl/expected.hpp>

#include "config/units.h"

namespace jipsa::config {

constexpr std::size_t kLargestFile = 1 << 20;

// Empty optional: there is no such file. Reads no more than kLargestFile.
Read<std::optional<std::string>> read_file(const std::string& path);

}  // namespace jipsa::config
