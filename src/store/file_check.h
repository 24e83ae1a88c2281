// What can be said about a database file before SQLite touches it.
#pragma once

#include <cstdint>
#include <string>

#include "core/result.h"

namespace jipsa::store {

// true: a database of ours stands there; false: there is none and one may be made. Only reads.
Result<bool> inspect(const std::string& path);

Result<void> make_private_file(const std::string& path);  // empty, mode 0600; must not exist
Result<void> sync_folder(const std::string& dir);

Error not_ours(const std::string& path);
Error too_new(const std::string& path, std::int64_t version);

}  // namespace jipsa::store
