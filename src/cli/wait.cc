// `jipsa wait`: until all of these jobs have ended.
#include "cli/commands.h"
#include "cli/job_view.h"
#include "cli/job_watch.h"

namespace jipsa::cli {
namespace {

int print_all_json(const Session& session, const std::vector<std::int64_t>& ids) {
  Query query;
  query.target = "/v1/jobs?ids=";
  for (std::size_t i = 0; i < ids.size(); ++i) query.target += (i == 0 ? "" : ",") + std::to_string(ids[i]);
  const auto reply = ask(session, query);
  if (!reply) return reply.error();
  print_json(session, *reply);
  return exits::good;
}

}  // namespace

int cmd_wait(const Session& session, const Words& words) {
  const auto ids = job_ids(words.rest);
  if (!ids) return complain(session, ids.error());
  int worst = exits::good;
  for (const std::int64_t id : *ids) {
    JobWatch watch(session, id);
    auto state = JobWatch::State::going;
    while (state == JobWatch::State::going) state = watch.step(std::chrono::milliseconds{60000});
    if (state == JobWatch::State::failed) return watch.exit();
    if (watch.job().state != "succeeded") worst = exits::no;
    if (!session.json) print(session, outcome_line(session, watch.job()) + '\n');
  }
  if (session.json) {
    if (const int exit = print_all_json(session, *ids); exit != exits::good) return exit;
  }
  return worst;
}

}  // namespace jipsa::cli
