// A job as the daemon tells of it (docs/api.md), and how it is told to a person.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/answer.h"
#include "cli/session.h"
#include "text/reason.h"

namespace jipsa::cli {

struct JobView {
  std::int64_t id = 0;
  std::string name, state, note, pool, tenant, bundle, dir, launcher, output;  // empty: null
  std::optional<std::int64_t> exit_code, signal, pid;
  std::vector<std::pair<std::string, Bytes>> needs;
  std::int64_t priority = 0;
  std::vector<std::int64_t> after;
  std::vector<std::string> command;
  std::optional<std::int64_t> submitted_ms, started_ms, ended_ms;
  std::optional<ReasonFacts> reason;
  bool for_row = false;

  [[nodiscard]] bool waits() const { return state == "waiting" || state == "held"; }
  [[nodiscard]] bool ended() const {
    return state == "succeeded" || state == "failed" || state == "cancelled" || state == "lost";
  }
};

// Code::unreadable if it has no id or no state: then it is no job.
Result<JobView> read_job(Value value);
// The same into `job`, which must be new. With `for_row`, what a row of the list does not show is passed over.
Result<void> read_job(Value value, JobView& job);
tl::expected<JobView, int> read_job(const Session& session, const Query& query, const Reply& reply);

Query job_query(std::int64_t id);  // GET /v1/jobs/ID
tl::expected<JobView, int> ask_job(const Session& session, std::int64_t id);

std::string title(const JobView& job);                             // its name, else what it runs, in one short harmless line
std::string needs_text(const JobView& job);                        // "16.0 gpu + 8.0 ram"; "-"
std::string state_of(const Session& session, const JobView& job);  // "waits", "Failed (2)"
std::string_view state_color(const JobView& job);
// One line about a job that does not wait: where it runs, how it ended.
std::string course_text(const Session& session, const JobView& job);
std::string outcome_line(const Session& session, const JobView& job);  // "#42 video Failed (2)"
int outcome_exit(const JobView& job);                                  // what `jipsa run` exits with

std::optional<std::int64_t> read_time(Value value);
std::optional<Bytes> read_bytes(Value value);

}  // namespace jipsa::cli
