// The calls about jobs.
#include <fmt/format.h>

#include <array>
#include <utility>

#include "store/impl.h"
#include "store/lists.h"
#include "store/schema.h"

namespace jipsa {
namespace {

using store::Use;

JobState state_from(std::string_view text) {
  for (const auto state : {JobState::waiting, JobState::held, JobState::starting, JobState::running, JobState::succeeded,
                           JobState::failed, JobState::cancelled, JobState::lost})
    if (text == name(state)) return state;
  throw store::DamagedRow("job state '" + std::string(text) + "'");
}

std::optional<Pid> pid_at(SQLite::Statement& row, int column) {
  const auto value = store::integer_at(row, column);
  return value ? std::optional<Pid>(static_cast<Pid>(*value)) : std::nullopt;
}

void read_what_was_asked(SQLite::Statement& row, JobRecord& record) {
  record.job.id = store::integer_at(row, 0).value_or(0);
  record.job.name = store::text_at(row, 1);
  record.job.priority = store::integer_at(row, 2).value_or(0);
  record.job.tenant = store::text_at(row, 3);
  record.job.bundle = store::text_at(row, 4);
  record.job.needs = store::needs_from_json(store::bytes_at(row, 5));
  record.job.after = store::ids_from_json(store::bytes_at(row, 6));
  record.dir = store::text_at(row, 7);
  record.launcher = store::text_at(row, 8);
}

void read_what_became(SQLite::Statement& row, JobRecord& record) {
  record.state = state_from(store::bytes_at(row, 9));
  record.gpu_pool = store::text_at(row, 10);
  record.exit_code = store::integer_at(row, 11);
  record.signal = store::integer_at(row, 12);
  record.note = store::text_at(row, 13);
  record.output = store::text_at(row, 14);
  record.submitted_ms = store::integer_at(row, 15).value_or(0);
  record.started_ms = store::integer_at(row, 16);
  record.ended_ms = store::integer_at(row, 17);
  record.shim_pid = pid_at(row, 18);
  record.pid = pid_at(row, 19);
  record.shim_start = store::integer_at(row, 20);
  record.boot_id = store::text_at(row, 21);
}

enum class With { command, everything };

JobRecord read_job(SQLite::Statement& row, With with) {
  JobRecord record;
  read_what_was_asked(row, record);
  read_what_became(row, record);
  record.command = store::split_ended(store::bytes_at(row, 22));
  if (with == With::everything) {
    record.env = store::split_ended(store::bytes_at(row, 23));
    record.text = store::text_at(row, 24);
  }
  return record;
}

std::vector<JobRecord> read_jobs(Use& use, With with) {
  std::vector<JobRecord> records;
  while (use.step()) records.push_back(read_job(use.row(), with));
  return records;
}

Result<void> check_input(const JobRecord& record) {
  if (store::has_nul(record.command))
    return fail(Code::bad_input, "command: a NUL byte in an argument; no program can be given one");
  if (store::has_nul(record.env)) return fail(Code::bad_input, "env: a NUL byte in a variable; no program can be given one");
  return {};
}

JobId insert_job(store::Connection& connection, const JobRecord& record, const std::string& needs, const std::string& after) {
  const std::string state = name(record.state);
  Use use(
      connection.prepared("INSERT INTO jobs (name, priority, tenant, bundle, needs, after, dir, launcher, state, gpu_pool, "
                          "exit_code, signal, note, output,"
                          " submitted_ms, started_ms, ended_ms, shim_pid, pid, shim_start, boot_id)"
                          " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"));
  use.text(record.job.name).integer(record.job.priority).text(record.job.tenant).text(record.job.bundle);
  use.text(needs).text(after).text(record.dir).text(record.launcher).text(state).text(record.gpu_pool);
  use.optional_integer(record.exit_code).optional_integer(record.signal).text(record.note).text(record.output);
  use.integer(record.submitted_ms).optional_integer(record.started_ms).optional_integer(record.ended_ms);
  use.optional_integer(record.shim_pid).optional_integer(record.pid).optional_integer(record.shim_start).text(record.boot_id);
  use.step();
  return connection.db.getLastInsertRowid();
}

void insert_inputs(store::Connection& connection, JobId id, const JobRecord& record) {
  const auto command = store::join_ended(record.command);
  const auto env = store::join_ended(record.env);
  Use use(connection.prepared("INSERT INTO job_inputs (job, command, env, text) VALUES (?, ?, ?, ?)"));
  use.integer(id).blob(command).blob(env).text(record.text).step();
}

Result<void> update_job(store::Connection& connection, const JobRecord& record) {
  const std::string state = name(record.state);
  Use use(connection.prepared(
      "UPDATE jobs SET state = ?, gpu_pool = ?, exit_code = ?, signal = ?, note = ?, output = ?, started_ms = ?, ended_ms = ?,"
      " shim_pid = ?, pid = ?, shim_start = ?, boot_id = ? WHERE id = ?"));
  use.text(state).text(record.gpu_pool).optional_integer(record.exit_code).optional_integer(record.signal);
  use.text(record.note).text(record.output).optional_integer(record.started_ms).optional_integer(record.ended_ms);
  use.optional_integer(record.shim_pid).optional_integer(record.pid).optional_integer(record.shim_start).text(record.boot_id);
  use.integer(record.job.id).step();
  if (connection.db.getChanges() != 1) return fail(Code::not_found, fmt::format("no job {}", record.job.id));
  return {};
}

}  // namespace

Result<JobId> Store::add(JobRecord record) {
  if (auto good = check_input(record); !good) return tl::unexpected<Error>(good.error());
  return impl_->write([&]() -> Result<JobId> {
    const auto needs = store::needs_to_json(record.job.needs);
    if (!needs) return tl::unexpected<Error>(needs.error());
    const auto after = store::ids_to_json(record.job.after);
    const auto id = insert_job(*impl_, record, *needs, after);
    insert_inputs(*impl_, id, record);
    return id;
  });
}

Result<void> Store::save(const JobRecord& record) {
  return impl_->write([&] { return update_job(*impl_, record); });
}

Result<void> Store::save_all(const std::vector<JobRecord>& records) {
  if (records.empty()) return {};
  return impl_->write([&]() -> Result<void> {
    for (const auto& record : records)
      if (auto saved = update_job(*impl_, record); !saved) return saved;
    return {};
  });
}

Result<std::optional<JobRecord>> Store::find(JobId id) const {
  return impl_->read([&]() -> Result<std::optional<JobRecord>> {
    Use use(impl_->prepared(store::kFindJob));
    if (!use.integer(id).step()) return std::optional<JobRecord>{};
    return read_job(use.row(), With::everything);
  });
}

Result<std::vector<JobRecord>> Store::unfinished() const {
  return impl_->read([&]() -> Result<std::vector<JobRecord>> {
    Use use(impl_->prepared(store::kUnfinishedJobs));
    return read_jobs(use, With::everything);
  });
}

Result<std::vector<JobRecord>> Store::recent(std::int64_t limit) const {
  if (limit < 0) return fail(Code::bad_input, fmt::format("limit {}: must not be negative", limit));
  return impl_->read([&]() -> Result<std::vector<JobRecord>> {
    Use use(impl_->prepared(store::kRecentJobs));
    use.integer(limit);
    return read_jobs(use, With::command);
  });
}

}  // namespace jipsa
