#include "store/open.h"

#include <fmt/format.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "store/errors.h"
#include "store/file_check.h"
#include "store/schema.h"

namespace jipsa::store {
namespace {

constexpr int kBusyTimeoutMs = 2000;
// Reading all of a larger database would delay the start; SQLite notices damage there when it comes to it.
constexpr std::int64_t kQuickCheckLimit = std::int64_t{64} << 20;

Result<void> make_folder(const std::string& dir) {
  std::error_code error;
  const bool existed = std::filesystem::is_directory(dir, error);
  if (existed) return {};
  std::filesystem::create_directories(dir, error);
  if (error) return tl::unexpected<Error>(system_error(dir, "create the folder", error.value()));
  ::chmod(dir.c_str(), 0700);
  return {};
}

// A new database is made beside its place and renamed into it, so that what stands there is always whole. A crash on the way
// leaves only the .new file, which the next try removes.
Result<void> create(const std::string& dir, const std::string& path) {
  const std::string fresh = path + ".new";
  ::unlink((fresh + "-journal").c_str());
  if (::unlink(fresh.c_str()) != 0 && errno != ENOENT) return tl::unexpected<Error>(system_error(fresh, "remove", errno));
  auto made = make_private_file(fresh);
  if (!made) return made;
  auto filled = guarded(fresh, nullptr, [&]() -> Result<void> {
    SQLite::Database db(fresh, SQLite::OPEN_READWRITE);
    return guarded(fresh, db.getHandle(), [&]() -> Result<void> {
      db.exec("PRAGMA synchronous = FULL");
      migrate(db, 0);
      return {};
    });
  });
  if (filled && ::rename(fresh.c_str(), path.c_str()) != 0) filled = tl::unexpected<Error>(system_error(path, "create", errno));
  if (!filled) {
    ::unlink(fresh.c_str());
    return filled;
  }
  return sync_folder(dir);
}

std::int32_t pragma(SQLite::Database& db, const char* sql) { return db.execAndGet(sql).getInt(); }

Result<void> check_contents(SQLite::Database& db, const std::string& path) {
  if (pragma(db, "PRAGMA application_id") != kApplicationId) return tl::unexpected<Error>(not_ours(path));
  const auto version = pragma(db, "PRAGMA user_version");
  if (version > kSchemaVersion) return tl::unexpected<Error>(too_new(path, version));
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);
  if (!error && static_cast<std::int64_t>(size) < kQuickCheckLimit) {
    const auto finding = db.execAndGet("PRAGMA quick_check(1)").getString();
    if (finding != "ok") return tl::unexpected<Error>(damaged(path, finding));
  }
  return {};
}

Result<void> set_up(SQLite::Database& db, const std::string& path) {
  db.exec("PRAGMA foreign_keys = ON; PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; PRAGMA temp_store = MEMORY");
  db.exec("PRAGMA cache_size = -8192");
  if (auto good = check_contents(db, path); !good) return good;
  if (sqlite3_db_readonly(db.getHandle(), "main") != 0)
    return tl::unexpected<Error>(system_error(path, "write", ::access(path.c_str(), W_OK) == 0 ? EROFS : errno));
  const auto mode = db.execAndGet("PRAGMA journal_mode = WAL").getString();
  if (mode != "wal") return fail(Code::io, path + ": this file system can't hold a write-ahead log; choose another with --state");
  // A checkpoint costs two syncs and writes each page once: every 256 pages (1 MiB) it is rare enough not to matter and short
  // enough not to be felt.
  db.exec("PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 256; PRAGMA journal_size_limit = 4194304");
  migrate(db, pragma(db, "PRAGMA user_version"));
  // It holds the environments of jobs. A file put back from a backup may have come with wider rights.
  ::chmod(path.c_str(), 0600);
  // Writes a page without changing anything: a full disk shows now and not when the first job is lost.
  db.exec("PRAGMA user_version = " + std::to_string(kSchemaVersion));
  return {};
}

void checkpoint_on_close(SQLite::Database& db, bool wanted) {
  sqlite3_db_config(db.getHandle(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, wanted ? 0 : 1, nullptr);
}

}  // namespace

Result<SQLite::Database> open_database(const std::string& dir, const std::string& path) {
  if (auto folder = make_folder(dir); !folder) return tl::unexpected<Error>(folder.error());
  auto exists = inspect(path);
  if (!exists) return tl::unexpected<Error>(exists.error());
  if (!*exists) {
    if (auto created = create(dir, path); !created) return tl::unexpected<Error>(created.error());
  }
  return guarded(path, nullptr, [&]() -> Result<SQLite::Database> {
    SQLite::Database db(path, SQLite::OPEN_READWRITE, kBusyTimeoutMs);
    checkpoint_on_close(db, false);  // what is refused below must not be written to as it is closed
    auto ready = guarded(path, db.getHandle(), [&] { return set_up(db, path); });
    if (!ready) return tl::unexpected<Error>(ready.error());
    checkpoint_on_close(db, true);
    return db;
  });
}

}  // namespace jipsa::store
