// Exceptions of the database library, turned into results.
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <exception>
#include <stdexcept>
#include <string>
#include <utility>

#include "core/result.h"

namespace jipsa::store {

// A row that can't have been written by us. Never leaves the folder.
struct DamagedRow : std::runtime_error {
  using std::runtime_error::runtime_error;
};

Error to_error(const std::string& path, const SQLite::Exception& exception, sqlite3* handle);
Error to_error(const std::string& path, int extended_code, const std::string& message, int system_errno);
Error damaged(const std::string& path, const std::string& finding);

// "PATH: cannot WHAT: strerror; MEND"
Error system_error(const std::string& path, const std::string& what, int error_number);

// Runs `f`, which gives a Result, and turns whatever it throws into one.
template <class F>
auto guarded(const std::string& path, sqlite3* handle, F&& f) -> decltype(f()) {
  try {
    return std::forward<F>(f)();
  } catch (const SQLite::Exception& e) { return tl::unexpected<Error>(to_error(path, e, handle)); } catch (const DamagedRow& e) {
    return tl::unexpected<Error>(damaged(path, e.what()));
  } catch (const std::bad_alloc&) { return fail(Code::io, path + ": out of memory"); } catch (const std::exception& e) {
    return fail(Code::internal, path + ": " + e.what());
  }
}

}  // namespace jipsa::store
