#include "cli/job_view.h"

#include <algorithm>

#include "text/units.h"
#include "text/utf8.h"
#include "text/words.h"

namespace jipsa::cli {
namespace {

constexpr std::size_t longest_title = 28;

std::vector<std::int64_t> read_ids(Value value) {
  std::vector<std::int64_t> ids;
  for (const Value item : value) {
    if (const auto id = item.integer()) ids.push_back(*id);
  }
  return ids;
}

template <class Whole>
struct Field {
  std::string_view key;
  void (*read)(Whole&, Value);
};

// The daemon writes its keys always in the same order: each is looked for first behind where the last one was found.
template <class Whole, std::size_t N>
void read_fields(Whole& whole, Value value, const Field<Whole> (&fields)[N]) {
  std::size_t next = 0;
  for (const Member m : value.members()) {
    for (std::size_t tried = 0; tried < N; ++tried) {
      const Field<Whole>& field = fields[(next + tried) % N];
      if (field.key != m.key) continue;
      field.read(whole, m.value);
      next = (next + tried + 1) % N;
      break;
    }
  }
}

constexpr Field<ReasonFacts> reason_fields[] = {
    {"code", [](ReasonFacts& r, Value v) { r.code = v.text_or_empty(); }},
    {"pool", [](ReasonFacts& r, Value v) { r.pool = v.text_or_empty(); }},
    {"short", [](ReasonFacts& r, Value v) { r.short_by = read_bytes(v); }},
    {"owner", [](ReasonFacts& r, Value v) { r.owner = v.text_or_empty(); }},
    {"need", [](ReasonFacts& r, Value v) { r.need = read_bytes(v); }},
    {"free", [](ReasonFacts& r, Value v) { r.free = read_bytes(v); }},
    {"held", [](ReasonFacts& r, Value v) { r.held = read_bytes(v); }},
    {"idle_since", [](ReasonFacts& r, Value v) { r.idle_since_ms = read_time(v); }},
    {"left_by", [](ReasonFacts& r, Value v) { r.left_by = v.integer(); }},
    {"asked_at", [](ReasonFacts& r, Value v) { r.asked_at_ms = read_time(v); }},
};

void read_reason(JobView& job, Value value) {
  if (value.is_object()) read_fields(job.reason.emplace(), value, reason_fields);
}

void read_needs(JobView& job, Value value) {
  for (const Member m : value.members()) {
    if (const auto bytes = read_bytes(m.value)) job.needs.emplace_back(std::string(m.key), *bytes);
  }
  // Cards first, host memory last, whatever order the daemon keeps them in.
  std::stable_partition(job.needs.begin(), job.needs.end(), [](const auto& need) { return need.first != "ram"; });
}

void read_command(JobView& job, Value value) {
  if (job.for_row && !job.name.empty()) return;  // it stands in the name's place where there is none
  for (const Value word : value) job.command.push_back(word.text_or_empty());
}

void read_detail(const JobView& job, std::string& field, Value value) {
  if (!job.for_row) field = value.text_or_empty();
}

constexpr Field<JobView> job_fields[] = {
    {"id", [](JobView& j, Value v) { j.id = v.integer().value_or(0); }},
    {"name", [](JobView& j, Value v) { j.name = v.text_or_empty(); }},
    {"state", [](JobView& j, Value v) { j.state = v.text_or_empty(); }},
    {"exit_code", [](JobView& j, Value v) { j.exit_code = v.integer(); }},
    {"signal", [](JobView& j, Value v) { j.signal = v.integer(); }},
    {"note", [](JobView& j, Value v) { j.note = v.text_or_empty(); }},
    {"needs", read_needs},
    {"pool", [](JobView& j, Value v) { j.pool = v.text_or_empty(); }},
    {"priority", [](JobView& j, Value v) { j.priority = v.integer().value_or(0); }},
    {"tenant", [](JobView& j, Value v) { j.tenant = v.text_or_empty(); }},
    {"bundle", [](JobView& j, Value v) { read_detail(j, j.bundle, v); }},
    {"after", [](JobView& j, Value v) { j.after = read_ids(v); }},
    {"command", read_command},
    {"dir", [](JobView& j, Value v) { read_detail(j, j.dir, v); }},
    {"launcher", [](JobView& j, Value v) { j.launcher = v.text_or_empty(); }},
    {"output", [](JobView& j, Value v) { read_detail(j, j.output, v); }},
    {"pid", [](JobView& j, Value v) { j.pid = v.integer(); }},
    {"submitted_at", [](JobView& j, Value v) { j.submitted_ms = read_time(v); }},
    {"started_at", [](JobView& j, Value v) { j.started_ms = read_time(v); }},
    {"ended_at", [](JobView& j, Value v) { j.ended_ms = read_time(v); }},
    {"reason", read_reason},
};

std::optional<std::string> noted(const Session& session, const JobView& job) {
  if (job.note.empty()) return std::nullopt;
  return note_text(session.lang, job.note);
}

}  // namespace

std::optional<std::int64_t> read_time(Value value) {
  const auto text = value.text();
  return text ? parse_time(*text) : std::nullopt;
}

std::optional<Bytes> read_bytes(Value value) {
  const auto count = value.integer();
  return count ? std::optional(Bytes{*count}) : std::nullopt;
}

Result<void> read_job(Value value, JobView& job) {
  read_fields(job, value, job_fields);
  if (job.id <= 0 || job.state.empty()) return fail(Code::unreadable, "a job without an id or a state");
  if (job.reason && job.reason->code == "dependency") job.reason->after = job.after;
  return {};
}

Result<JobView> read_job(Value value) {
  JobView job;
  if (const auto read = read_job(value, job); !read) return tl::make_unexpected(read.error());
  return job;
}

tl::expected<JobView, int> read_job(const Session& session, const Query& query, const Reply& reply) {
  auto job = read_job(reply.root());
  if (job) return std::move(*job);
  return tl::make_unexpected(complain_call(session, query, "", job.error()));
}

Query job_query(std::int64_t id) {
  Query query;
  query.target = "/v1/jobs/" + std::to_string(id);
  query.instead = {{"not_found", {Msg::no_such_job, {{"job", job_ref(id)}}}}};
  return query;
}

tl::expected<JobView, int> ask_job(const Session& session, std::int64_t id) {
  const Query query = job_query(id);
  const auto reply = ask(session, query);
  if (!reply) return tl::make_unexpected(reply.error());
  return read_job(session, query, *reply);
}

std::string title(const JobView& job) {
  if (!job.name.empty()) return truncate(safe(job.name), longest_title);
  if (!job.launcher.empty()) return truncate(safe(job.launcher), longest_title);
  std::string words;
  for (const std::string& word : job.command) {
    const bool program = words.empty();
    words += (program ? "" : " ") + (program ? word.substr(word.rfind('/') + 1) : word);
    if (words.size() > 4 * longest_title) break;
  }
  return truncate(safe(words), longest_title);
}

std::string needs_text(const JobView& job) {
  std::string out;
  for (const auto& [pool, bytes] : job.needs) out += (out.empty() ? "" : " + ") + gib_number(bytes) + ' ' + safe(pool);
  return out.empty() ? "-" : out;
}

std::string state_of(const Session& session, const JobView& job) {
  return state_text(session.lang, job.state, job.exit_code, job.signal);
}

std::string_view state_color(const JobView& job) {
  if (job.state == "running" || job.state == "starting") return "36";
  if (job.state == "succeeded") return "32";
  if (job.state == "failed" || job.state == "lost") return "31";
  if (job.state == "cancelled") return "2";
  return "33";
}

std::string course_text(const Session& session, const JobView& job) {
  const auto span = [&](std::int64_t until) {
    return duration_text(session.lang, static_cast<double>(until - *job.started_ms) / 1000);
  };
  std::optional<std::string> pool;
  if (!job.pool.empty()) pool = job.pool;
  if (!job.ended()) {
    if (!job.started_ms) return pool ? safe(*pool) : "";
    return say(session.lang, Msg::row_running, {{"pool", pool}, {"for", span(session.now_ms)}});
  }
  if (job.state == "lost") return say(session.lang, Msg::row_ended_unseen, {{"note", noted(session, job)}});
  const bool ran = job.exit_code || job.signal;  // whatever is known of its times
  if (ran && (!job.started_ms || !job.ended_ms)) return noted(session, job).value_or("");
  if (!job.started_ms || !job.ended_ms) return say(session.lang, Msg::row_never_ran, {{"note", noted(session, job)}});
  return say(session.lang, Msg::row_ended, {{"for", span(*job.ended_ms)}, {"note", noted(session, job)}});
}

std::string outcome_line(const Session& session, const JobView& job) {
  std::optional<std::string> name;
  if (const std::string t = title(job); !t.empty()) name = t;
  return say(session.lang, Msg::job_ended_line,
             {{"job", job_ref(job.id)}, {"name", name}, {"state", state_of(session, job)}, {"note", noted(session, job)}});
}

int outcome_exit(const JobView& job) {
  if (job.state == "succeeded") return exits::good;
  if (job.signal) return static_cast<int>(128 + (*job.signal & 127));
  const auto code = static_cast<int>(job.exit_code.value_or(0) & 255);
  return code != 0 ? code : exits::no;  // it ended badly without a status of its own: cancelled before it ran, lost
}

}  // namespace jipsa::cli
