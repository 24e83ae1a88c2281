// `jipsa pause` and `jipsa resume`: whether the queue starts anything.
#include "cli/commands.h"

namespace jipsa::cli {
namespace {

int post(const Session& session, const Words& words, const char* target, Msg done) {
  if (const auto wrong = too_many(words, 0)) return complain(session, *wrong);
  Query query;
  query.method = "POST";
  query.target = target;
  const auto reply = ask(session, query);
  if (!reply) return reply.error();
  if (!print_json(session, *reply)) print_line(session, done);
  return exits::good;
}

}  // namespace

int cmd_pause(const Session& session, const Words& words) { return post(session, words, "/v1/queue/pause", Msg::paused_now); }
int cmd_resume(const Session& session, const Words& words) { return post(session, words, "/v1/queue/resume", Msg::resumed_now); }

}  // namespace jipsa::cli
