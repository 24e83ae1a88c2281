// `jipsa show` and `jipsa why`: one job.
#include "cli/commands.h"
#include "cli/job_view.h"
#include "cli/table.h"
#include "text/units.h"
#include "text/utf8.h"
#include "text/words.h"

namespace jipsa::cli {
namespace {

// As a shell would take it back, so that it can be copied.
std::string command_line(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) {
    if (!out.empty()) out += ' ';
    const bool plain = !word.empty() && word.find_first_of(" \t\n\"'\\$`|&;<>()*?[]{}#~!") == std::string::npos;
    if (plain) {
      out += word;
      continue;
    }
    out += '\'';
    for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
    out += '\'';
  }
  return out;
}

class Sheet {
 public:
  explicit Sheet(const Session& session) : session_(session), table_(session.color) {}
  void add(Msg label, const std::string& value) {
    if (!value.empty()) table_.add({{say(session_.lang, label), "2"}, {safe(value)}});
  }
  void add(Msg label, std::optional<std::int64_t> wall_ms) {
    if (wall_ms) add(label, clock_text(session_.lang, *wall_ms, session_.now_ms, ClockDetail::seconds));
  }
  [[nodiscard]] std::string text() const {
    std::string out;
    table_.append_to(out);
    return out;
  }

 private:
  const Session& session_;
  Table table_;
};

std::string after_text(const JobView& job) {
  std::string out;
  for (const std::int64_t id : job.after) out += (out.empty() ? "" : ", ") + job_ref(id);
  return out;
}

std::string sheet(const Session& session, const JobView& job) {
  Sheet sheet(session);
  sheet.add(Msg::head_id, job_ref(job.id));
  sheet.add(Msg::show_name, job.name);
  sheet.add(Msg::show_state, state_of(session, job));
  if (job.waits()) sheet.add(Msg::show_why, reason_long(session.lang, job.reason.value_or(ReasonFacts{}), session.now_ms));
  if (!job.note.empty()) sheet.add(Msg::show_note, note_text(session.lang, job.note));
  sheet.add(Msg::show_needs, needs_text(job));
  sheet.add(Msg::show_pool, job.pool);
  if (job.priority != 0) sheet.add(Msg::show_priority, std::to_string(job.priority));
  sheet.add(Msg::show_tenant, job.tenant);
  sheet.add(Msg::show_bundle, job.bundle);
  sheet.add(Msg::show_after, after_text(job));
  sheet.add(Msg::show_launcher, job.launcher);
  sheet.add(Msg::show_command, command_line(job.command));
  sheet.add(Msg::show_dir, job.dir);
  sheet.add(Msg::show_output, job.output);
  if (job.pid) sheet.add(Msg::show_pid, std::to_string(*job.pid));
  sheet.add(Msg::show_submitted, job.submitted_ms);
  sheet.add(Msg::show_started, job.started_ms);
  sheet.add(Msg::show_ended, job.ended_ms);
  return sheet.text();
}

std::string why_line(const Session& session, const JobView& job) {
  if (job.waits()) {
    const auto reason = reason_long(session.lang, job.reason.value_or(ReasonFacts{}), session.now_ms);
    return say(session.lang, Msg::why_waits, {{"job", job_ref(job.id)}, {"reason", reason}});
  }
  std::string state = state_of(session, job);
  if (const std::string course = course_text(session, job); !course.empty()) state += ", " + course;
  return say(session.lang, Msg::why_runs, {{"job", job_ref(job.id)}, {"state", state}});
}

int one(const Session& session, const Words& words, std::string (*text)(const Session&, const JobView&)) {
  const auto id = one_job_id(words.rest);
  if (!id) return complain(session, id.error());
  const Query query = job_query(*id);
  const auto reply = ask(session, query);
  if (!reply) return reply.error();
  if (print_json(session, *reply)) return exits::good;
  const auto job = read_job(session, query, *reply);
  if (!job) return job.error();
  std::string out = text(session, *job);
  if (!out.ends_with('\n')) out += '\n';
  print(session, out);
  return exits::good;
}

}  // namespace

int cmd_show(const Session& session, const Words& words) { return one(session, words, sheet); }
int cmd_why(const Session& session, const Words& words) { return one(session, words, why_line); }

}  // namespace jipsa::cli
