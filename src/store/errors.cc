#include "store/errors.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <cerrno>
#include <cstring>

namespace jipsa::store {
namespace {

// What a person can do about an error number of the system.
const char* mend_of(int error_number) {
  switch (error_number) {
    case ENOSPC:
    case EDQUOT:
      return "free space there and try again";
    case EFBIG:
      return "raise the file size limit (ulimit -f) and try again";
    case EACCES:
    case EPERM:
      return "give this user the right to write there";
    case EROFS:
      return "mount it writable or choose another folder with --state";
    default:
      return "see to that file system and try again";
  }
}

}  // namespace

Error system_error(const std::string& path, const std::string& what, int error_number) {
  return {Code::io, fmt::format("{}: cannot {}: {}; {}", path, what, std::strerror(error_number), mend_of(error_number))};
}

Error damaged(const std::string& path, const std::string& finding) {
  return {Code::unreadable,
          fmt::format("{0}: damaged: {1}; it was left as it is: put a backup in its place, save what can be read with "
                      "`sqlite3 {0} .recover`, or move it and its -wal file away to begin with an empty queue",
                      path, finding)};
}

Error to_error(const std::string& path, int extended_code, const std::string& message, int system_errno) {
  const auto said = [&](const char* mend) {
    const std::string cause = system_errno != 0 ? fmt::format(" ({})", std::strerror(system_errno)) : "";
    return fmt::format("{}: {}{}; {}", path, message, cause, mend);
  };
  switch (extended_code & 0xff) {
    case SQLITE_CORRUPT:
    case SQLITE_FORMAT:
    case SQLITE_NOTADB:
      return damaged(path, message);
    case SQLITE_FULL:
      return {Code::io, said(mend_of(ENOSPC))};
    case SQLITE_READONLY:
      return {Code::io, said(mend_of(EACCES))};
    case SQLITE_IOERR:
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
    case SQLITE_NOLFS:
      return {Code::io, said(mend_of(system_errno))};
    case SQLITE_NOMEM:
      return {Code::io, said("free memory and try again")};
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_PROTOCOL:
      return {Code::running, said("another program is writing to it: end that one (`fuser` names it)")};
    case SQLITE_TOOBIG:
      return {Code::bad_input, said("give less than 1 GB of text in one job")};
    default:
      return {Code::internal, said("this is a bug")};
  }
}

Error to_error(const std::string& path, const SQLite::Exception& exception, sqlite3* handle) {
  const int extended = exception.getExtendedErrorCode() > 0 ? exception.getExtendedErrorCode() : exception.getErrorCode();
  const int primary = extended & 0xff;
  const bool from_system = primary == SQLITE_IOERR || primary == SQLITE_CANTOPEN || primary == SQLITE_FULL;
  const int system_errno = handle != nullptr && from_system ? sqlite3_system_errno(handle) : 0;
  return to_error(path, extended, exception.what(), system_errno);
}

}  // namespace jipsa::store
