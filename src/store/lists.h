// Lists as they stand in columns.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/model.h"
#include "core/result.h"

namespace jipsa::store {

// Strings without NUL in them, each ended by one: any bytes survive, and an empty list differs from a list of one empty string.
std::string join_ended(const std::vector<std::string>& items);
std::vector<std::string> split_ended(std::string_view joined);  // throws DamagedRow
bool has_nul(const std::vector<std::string>& items);

// JSON, for people who look: {"gpu0":123,"ram":456} would lose the order, so [["gpu0",123],["ram",456]].
Result<std::string> needs_to_json(const std::vector<Need>& needs);  // Code::bad_input for a pool name that is not UTF-8
std::vector<Need> needs_from_json(std::string_view json);           // throws DamagedRow
std::string ids_to_json(const std::vector<JobId>& ids);
std::vector<JobId> ids_from_json(std::string_view json);  // throws DamagedRow

}  // namespace jipsa::store
