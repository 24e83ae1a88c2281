// `jipsa add`: prints the new job's number, and nothing else, on standard output.
#include "cli/commands.h"
#include "cli/job_view.h"
#include "cli/request.h"

namespace jipsa::cli {

int cmd_add(const Session& session, const Words& words) {
  Query query;
  query.method = "POST";
  query.target = "/v1/jobs";
  auto body = job_request(session, words);
  if (!body) return body.error();
  query.body = std::move(*body);
  const auto reply = ask(session, query);
  if (!reply) return reply.error();
  if (print_json(session, *reply)) return exits::good;
  const auto job = read_job(session, query, *reply);
  if (!job) return job.error();
  print(session, std::to_string(job->id) + '\n');
  if (session.err_is_terminal) {
    std::optional<std::string> reason;
    if (job->waits() && job->reason) reason = reason_short(session.lang, *job->reason, session.now_ms);
    note(session, Msg::queued_as, {{"job", job_ref(job->id)}, {"reason", reason}});
  }
  return exits::good;
}

}  // namespace jipsa::cli
