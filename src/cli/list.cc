// `jipsa list`, and bare `jipsa` with the pools above it.
#include "cli/commands.h"
#include "cli/job_view.h"
#include "cli/pools.h"
#include "cli/table.h"
#include "text/units.h"
#include "text/utf8.h"

namespace jipsa::cli {
namespace {

// Since when it is in its state.
std::string since_text(const Session& session, const JobView& job) {
  const auto when = job.ended() ? job.ended_ms : job.started_ms ? job.started_ms : job.submitted_ms;
  return when ? clock_text(session.lang, *when, session.now_ms) : "?";
}

std::string why_text(const Session& session, const JobView& job) {
  if (!job.waits()) return course_text(session, job);
  return reason_short(session.lang, job.reason ? *job.reason : ReasonFacts{}, session.now_ms);
}

// The jobs as rows. A job itself is not kept: there may be many thousands.
class JobTable {
 public:
  explicit JobTable(const Session& session) : session_(session) {}

  Result<void> take(Value value) {
    JobView job;
    job.for_row = true;
    if (const auto read = read_job(value, job); !read) return read;
    has_priority_ = has_priority_ || job.priority != 0;
    has_tenant_ = has_tenant_ || !job.tenant.empty();
    if (job.waits()) ++waiting_;
    (job.ended() ? ended_ : unfinished_).push_back(row(job));
    return {};
  }
  [[nodiscard]] bool empty() const { return unfinished_.empty() && ended_.empty(); }
  [[nodiscard]] std::int64_t waiting() const { return waiting_; }

  std::string text() {
    Table table(session_.color);
    table.reserve(unfinished_.size() + ended_.size() + 1);
    table.add(trimmed(heading()));
    for (auto* rows : {&unfinished_, &ended_}) {
      for (Row& row : *rows) table.add(trimmed(std::move(row)));
    }
    std::string out;
    table.append_to(out);
    return out;
  }

 private:
  using Row = std::vector<Cell>;
  static constexpr std::ptrdiff_t priority_column = 4, tenant_column = 5;

  Row row(const JobView& job) const {
    Row row;
    row.reserve(8);
    row.push_back({std::to_string(job.id), "", true});
    row.push_back({title(job)});
    row.push_back({state_of(session_, job), state_color(job)});
    row.push_back({needs_text(job)});
    row.push_back({std::to_string(job.priority), "", true});
    row.push_back({safe(job.tenant)});
    row.push_back({since_text(session_, job)});
    row.push_back({why_text(session_, job)});
    return row;
  }

  Row heading() const {
    Row row;
    for (const Msg message : {Msg::head_id, Msg::head_name, Msg::head_state, Msg::head_needs, Msg::head_prio, Msg::head_tenant,
                              Msg::head_since, Msg::head_why}) {
      row.push_back({say(session_.lang, message), "1"});
    }
    row.front().right = true;
    return row;
  }

  // Without the columns that no job uses.
  Row trimmed(Row row) const {
    if (!has_tenant_) row.erase(row.begin() + tenant_column);
    if (!has_priority_) row.erase(row.begin() + priority_column);
    return row;
  }

  const Session& session_;
  std::vector<Row> unfinished_, ended_;
  bool has_priority_ = false, has_tenant_ = false;
  std::int64_t waiting_ = 0;
};

int show(const Session& session, Query query, bool with_pools) {
  JobTable table(session);
  const EachItem each{"jobs", [&](Value job) { return table.take(job); }};
  if (!session.json) {
    query.each = &each;
    query.target += query.target.find('?') == std::string::npos ? "?brief=1" : "&brief=1";
  }
  const auto reply = ask(session, query);
  if (!reply) return reply.error();
  if (print_json(session, *reply)) return exits::good;
  const Value root = reply->root();
  if (!root["jobs"].is_array()) return complain_call(session, query, "", {Code::unreadable, "it has no list of jobs"});
  std::string out;
  if (with_pools) out = pool_lines(session, read_pools(root["pools"]), PoolLine::owners) + '\n';
  if (root["paused"].boolean().value_or(false)) out += say(session.lang, Msg::list_paused) + "\n\n";
  out += table.empty() ? say(session.lang, Msg::list_empty) + '\n' : table.text();
  const std::int64_t more = root["waiting"].integer().value_or(0) - table.waiting();
  if (more > 0) out += say(session.lang, Msg::list_more, {{"count", std::to_string(more)}}) + '\n';
  print(session, out);
  return exits::good;
}

}  // namespace

int cmd_status(const Session& session, const Words&) {
  Query query;
  query.target = "/v1/jobs";
  return show(session, query, true);
}

int cmd_list(const Session& session, const Words& words) {
  if (const auto wrong = too_many(words, 0)) return complain(session, *wrong);
  Query query;
  query.target = "/v1/jobs";
  char separator = '?';
  for (const char* name : {"finished", "limit"}) {
    const auto number = number_option(words, std::string("--") + name, 0);
    if (!number) return complain(session, number.error());
    if (!*number) continue;
    query.target += separator + std::string(name) + '=' + std::to_string(**number);
    separator = '&';
  }
  return show(session, query, false);
}

}  // namespace jipsa::cli
