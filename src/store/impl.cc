#include "store/impl.h"

#include <sqlite3.h>

#include <limits>
#include <tuple>

namespace jipsa::store {
namespace {

int checked_size(const std::string& value) {
  if (value.size() > static_cast<std::size_t>(std::numeric_limits<int>::max()))
    throw SQLite::Exception("text too long", SQLITE_TOOBIG);
  return static_cast<int>(value.size());
}

}  // namespace

Use& Use::text(const std::string& value) {
  std::ignore = checked_size(value);
  statement_.bindNoCopy(next_++, value);
  return *this;
}

Use& Use::blob(const std::string& value) {
  statement_.bindNoCopy(next_++, static_cast<const void*>(value.data()), checked_size(value));
  return *this;
}

Use& Use::integer(std::int64_t value) {
  statement_.bind(next_++, value);
  return *this;
}

Use& Use::real(double value) {
  statement_.bind(next_++, value);
  return *this;
}

Use& Use::null() {
  statement_.bind(next_++);
  return *this;
}

std::optional<std::int64_t> integer_at(SQLite::Statement& row, int column) {
  const auto value = row.getColumn(column);
  if (value.isNull()) return std::nullopt;
  return value.getInt64();
}

std::string_view bytes_at(SQLite::Statement& row, int column) {
  const auto value = row.getColumn(column);
  const auto* data = static_cast<const char*>(value.getBlob());
  return data == nullptr ? std::string_view{} : std::string_view{data, static_cast<std::size_t>(value.getBytes())};
}

std::string text_at(SQLite::Statement& row, int column) { return std::string(bytes_at(row, column)); }

SQLite::Statement& Connection::prepared(const char* sql) {
  const auto found = statements.find(sql);
  if (found != statements.end()) return found->second;
  return statements.emplace(std::piecewise_construct, std::forward_as_tuple(sql), std::forward_as_tuple(db, sql)).first->second;
}

void Connection::begin() { Use(prepared("BEGIN IMMEDIATE")).step(); }

void Connection::commit() { Use(prepared("COMMIT")).step(); }

void Connection::roll_back() noexcept {
  // After some errors (a full disk among them) SQLite has rolled back by itself.
  if (sqlite3_get_autocommit(db.getHandle()) == 0) db.tryExec("ROLLBACK");
}

}  // namespace jipsa::store
