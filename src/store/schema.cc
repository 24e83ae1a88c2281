#include "store/schema.h"

#include <SQLiteCpp/SQLiteCpp.h>

#include <array>
#include <string>

namespace jipsa::store {
namespace {

// What a job was given (job_inputs) never changes; what becomes of it (jobs) changes several times. Apart, a change of state
// rewrites one small row and not the pages that hold an environment or an instruction text.
constexpr const char* kVersion1 = R"sql(
CREATE TABLE jobs (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT NOT NULL,
  priority INTEGER NOT NULL,
  tenant TEXT NOT NULL,
  bundle TEXT NOT NULL,
  needs TEXT NOT NULL,
  after TEXT NOT NULL,
  dir TEXT NOT NULL,
  launcher TEXT NOT NULL,
  state TEXT NOT NULL
    CHECK (state IN ('waiting', 'held', 'starting', 'running', 'succeeded', 'failed', 'cancelled', 'lost')),
  gpu_pool TEXT NOT NULL,
  exit_code INTEGER,
  signal INTEGER,
  note TEXT NOT NULL,
  output TEXT NOT NULL,
  submitted_ms INTEGER NOT NULL,
  started_ms INTEGER,
  ended_ms INTEGER,
  shim_pid INTEGER,
  pid INTEGER,
  shim_start INTEGER,
  boot_id TEXT NOT NULL
) STRICT;

CREATE TABLE job_inputs (
  job INTEGER PRIMARY KEY REFERENCES jobs (id) ON DELETE CASCADE,
  command BLOB NOT NULL,
  env BLOB NOT NULL,
  text TEXT NOT NULL
) STRICT;

CREATE INDEX jobs_unfinished ON jobs (id) WHERE state IN ('waiting', 'held', 'starting', 'running');
CREATE INDEX jobs_finished ON jobs (coalesce(ended_ms, submitted_ms) DESC, id DESC)
  WHERE NOT state IN ('waiting', 'held', 'starting', 'running');

CREATE TABLE releases (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  tenant TEXT NOT NULL,
  asked_ms INTEGER NOT NULL,
  job INTEGER,
  asked_by TEXT NOT NULL,
  restart INTEGER NOT NULL CHECK (restart IN (0, 1)),
  error TEXT NOT NULL
) STRICT;
CREATE INDEX releases_by_tenant ON releases (tenant, id);

CREATE TABLE release_pools (
  release INTEGER NOT NULL REFERENCES releases (id) ON DELETE CASCADE,
  position INTEGER NOT NULL,
  pool TEXT NOT NULL,
  before INTEGER,
  after INTEGER,
  verdict TEXT NOT NULL,
  settled_s REAL,
  PRIMARY KEY (release, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE facts (
  key TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT;
)sql";

// Step N leads from version N to N + 1. A later version adds its step at the end; steps that were released are never edited.
constexpr std::array<const char*, kSchemaVersion> kSteps = {kVersion1};

}  // namespace

void migrate(SQLite::Database& db, std::int32_t from) {
  if (from >= kSchemaVersion) return;
  SQLite::Transaction transaction(db, SQLite::TransactionBehavior::IMMEDIATE);
  for (std::int32_t version = from; version < kSchemaVersion; ++version) db.exec(kSteps.at(static_cast<std::size_t>(version)));
  db.exec("PRAGMA application_id = " + std::to_string(kApplicationId));
  db.exec("PRAGMA user_version = " + std::to_string(kSchemaVersion));
  transaction.commit();
}

}  // namespace jipsa::store
