// Opening the database file, or refusing to.
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <string>

#include "core/result.h"

namespace jipsa::store {

// Opens DIR/jipsa.db, creating it (and DIR) where there is none. What is refused is left as it is.
Result<SQLite::Database> open_database(const std::string& dir, const std::string& path);

}  // namespace jipsa::store
