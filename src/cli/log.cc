// `jipsa log`: a job's output as it is, byte for byte.
#include <array>
#include <cerrno>
#include <cstring>

#include "cli/commands.h"
#include "cli/job_view.h"
#include "cli/job_watch.h"
#include "cli/output_file.h"

namespace jipsa::cli {
namespace {

int cannot_read(const Session& session, const std::string& path, int error) {
  return complain(session, error == ENOENT ? Code::not_found : Code::io, Msg::cannot_read_file,
                  {{"file", path}, {"what", std::strerror(error)}});
}

int follow(const Session& session, const JobView& job) {
  OutputFile file(session, job.output);
  JobWatch watch(session, job.id);
  for (;;) {
    const bool readable = file.copy_new();
    if (session.output_error != 0) return exits::io;
    if (!readable && file.error() != ENOENT) return cannot_read(session, job.output, file.error());
    const std::array<int, 1> also{file.watch_fd()};
    const auto state = watch.step(std::chrono::milliseconds(file.watch_fd() >= 0 ? 1000 : 100), also);
    file.drain_watch();
    if (state == JobWatch::State::failed) return watch.exit();
    if (state == JobWatch::State::ended) {
      file.copy_new();
      return exits::good;
    }
  }
}

}  // namespace

int cmd_log(const Session& session, const Words& words) {
  const auto id = one_job_id(words.rest);
  if (!id) return complain(session, id.error());
  const Query query = job_query(*id);
  const auto reply = ask(session, query);
  if (!reply) return reply.error();
  if (print_json(session, *reply)) return exits::good;
  const auto job = read_job(session, query, *reply);
  if (!job) return job.error();
  if (words.has("--follow") && !job->ended()) return follow(session, *job);
  OutputFile file(session, job->output);
  if (file.copy_new() || session.output_error != 0) return exits::good;
  if (file.error() != ENOENT || job->started_ms) return cannot_read(session, job->output, file.error());
  note(session, Msg::no_output_yet, {{"job", job_ref(*id)}});
  return exits::good;
}

}  // namespace jipsa::cli
