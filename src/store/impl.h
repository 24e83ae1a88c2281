// The open database with its prepared statements. Private to this folder.
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "store/errors.h"
#include "store/store.h"

namespace jipsa::store {

// A prepared statement while it is used: reset and emptied at the end, whatever happens, so that it holds no lock and no dangling
// text.
class Use {
 public:
  explicit Use(SQLite::Statement& statement) : statement_(statement) {}
  ~Use() {
    statement_.tryReset();
    statement_.clearBindings();  // throws only for a statement that was never prepared
  }
  Use(const Use&) = delete;
  Use& operator=(const Use&) = delete;

  // Binds the next parameter. Text is not copied: it must live as long as this object.
  Use& text(const std::string& value);
  Use& blob(const std::string& value);
  Use& integer(std::int64_t value);
  Use& real(double value);
  Use& null();
  template <class T>
  Use& optional_integer(const std::optional<T>& value) {
    return value ? integer(static_cast<std::int64_t>(*value)) : null();
  }

  bool step() { return statement_.executeStep(); }
  SQLite::Statement& row() { return statement_; }

 private:
  SQLite::Statement& statement_;
  int next_ = 1;
};

std::optional<std::int64_t> integer_at(SQLite::Statement& row, int column);
std::string text_at(SQLite::Statement& row, int column);
std::string_view bytes_at(SQLite::Statement& row, int column);  // until the next step

struct Connection {
  Connection(std::string file, SQLite::Database opened) : path(std::move(file)), db(std::move(opened)) {}

  // The statement for `sql`, a literal, prepared once.
  SQLite::Statement& prepared(const char* sql);

  // Runs `f` (gives a Result) in one transaction: committed if it gives a value, rolled back if it gives an error or throws.
  template <class F>
  auto write(F&& f) -> decltype(f()) {
    return guarded(path, db.getHandle(), [&]() -> decltype(f()) {
      begin();
      try {
        auto result = f();
        if (result)
          commit();
        else
          roll_back();
        return result;
      } catch (...) {
        roll_back();
        throw;
      }
    });
  }
  template <class F>
  auto read(F&& f) -> decltype(f()) {
    return guarded(path, db.getHandle(), std::forward<F>(f));
  }

  void begin();
  void commit();
  void roll_back() noexcept;

  std::string path;
  SQLite::Database db;
  std::map<std::string_view, SQLite::Statement> statements;  // after db: ended before it is closed
};

}  // namespace jipsa::store

namespace jipsa {

struct Store::Impl : store::Connection {
  using Connection::Connection;
};

}  // namespace jipsa
