// The tables, and how a database gets from one schema version to the next.
#pragma once

#include <cstdint>

namespace SQLite {
class Database;
}

namespace jipsa::store {

constexpr std::int32_t kApplicationId = 0x4a495053;  // "JIPS"
constexpr std::int32_t kSchemaVersion = 1;
constexpr std::int64_t kKeptReleases = 100'000;

// The states of unfinished jobs, spelled as in the partial indexes: SQLite uses such an index only where the query repeats its
// condition.
#define JIPSA_UNFINISHED "state IN ('waiting', 'held', 'starting', 'running')"

// The columns of a job in the order in which read_job() takes them.
#define JIPSA_JOB_COLUMNS                                                                                               \
  "id, name, priority, tenant, bundle, needs, after, dir, launcher, state, gpu_pool, exit_code, signal, note, output, " \
  "submitted_ms, started_ms, ended_ms, shim_pid, pid, shim_start, boot_id, command"

inline constexpr const char* kFindJob =
    "SELECT " JIPSA_JOB_COLUMNS ", env, text FROM jobs JOIN job_inputs ON job = id WHERE id = ?";
inline constexpr const char* kUnfinishedJobs =
    "SELECT " JIPSA_JOB_COLUMNS ", env, text FROM jobs JOIN job_inputs ON job = id WHERE " JIPSA_UNFINISHED " ORDER BY id";
inline constexpr const char* kRecentJobs =
    "SELECT " JIPSA_JOB_COLUMNS " FROM jobs JOIN job_inputs ON job = id WHERE NOT " JIPSA_UNFINISHED
    " ORDER BY coalesce(ended_ms, submitted_ms) DESC, id DESC LIMIT ?";

// Brings a database of schema version `from` (0: empty) to kSchemaVersion, in one transaction. Throws.
void migrate(SQLite::Database& db, std::int32_t from);

}  // namespace jipsa::store
