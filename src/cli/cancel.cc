// `jipsa cancel`: each of the jobs named; one that cannot be cancelled does not spare the others.
#include "cli/commands.h"
#include "cli/job_view.h"

namespace jipsa::cli {

int cmd_cancel(const Session& session, const Words& words) {
  const auto ids = job_ids(words.rest);
  if (!ids) return complain(session, ids.error());
  int first_failure = exits::good;
  for (const std::int64_t id : *ids) {
    Query query = job_query(id);
    query.method = "POST";
    query.target += "/cancel";
    query.instead.push_back({"conflict", {Msg::already_ended, {{"job", job_ref(id)}}}});
    const auto reply = ask(session, query);
    const auto job = reply ? read_job(session, query, *reply) : tl::make_unexpected(reply.error());
    if (!job) {
      if (first_failure == exits::good) first_failure = job.error();
    } else if (!print_json(session, *reply)) {
      print_line(session, job->ended() ? Msg::job_cancelled : Msg::job_cancel_asked, {{"job", job_ref(id)}});
    }
  }
  return first_failure;
}

}  // namespace jipsa::cli
