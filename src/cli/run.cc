// `jipsa run`: as `add`, then shows the output as it comes and ends as the job ends.
#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "cli/commands.h"
#include "cli/job_view.h"
#include "cli/job_watch.h"
#include "cli/output_file.h"
#include "cli/request.h"

namespace jipsa::cli {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds look_again{1000};   // where the file's growth is announced
constexpr milliseconds look_for_file{50};  // while there is no file, or no announcement
enum class Choice { cancel, leave, go_on };

// Ctrl-C and TERM as something to wait for, so that they never come in the middle of anything.
class Interrupts {
 public:
  Interrupts() {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigprocmask(SIG_BLOCK, &set, nullptr);
    fd_ = ::signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
  }
  ~Interrupts() {
    if (fd_ >= 0) ::close(fd_);
  }
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;
  [[nodiscard]] int fd() const { return fd_; }
  [[nodiscard]] int take() const {  // the signal's number, or 0
    signalfd_siginfo info{};
    return ::read(fd_, &info, sizeof info) == sizeof info ? static_cast<int>(info.ssi_signo) : 0;
  }

 private:
  int fd_ = -1;
};

class Run {
 public:
  Run(const Session& session, JobView job)
      : session_(session), job_(std::move(job)), file_(session, job_.output), watch_(session, job_.id) {}

  int go() {
    for (;;) {
      const bool readable = file_.copy_new();
      if (session_.output_error != 0) return exits::io;
      if (!readable && file_.error() != ENOENT && !told_) {
        told_ = true;
        complain(session_, Code::io, Msg::cannot_read_file, {{"file", job_.output}, {"what", std::strerror(file_.error())}});
      }
      const std::array<int, 2> also{interrupts_.fd(), file_.watch_fd()};
      const auto state = watch_.step(file_.watch_fd() >= 0 ? look_again : look_for_file, also);
      file_.drain_watch();
      if (state == JobWatch::State::ended) return ended();
      if (state == JobWatch::State::failed) return left(watch_.exit());
      if (const int signal = interrupts_.take(); signal != 0) {
        const Choice choice = signal == SIGINT ? ask_person() : Choice::leave;
        if (choice == Choice::leave) return left(128 + signal);
        if (choice == Choice::cancel) cancel();
      }
    }
  }

 private:
  int ended() {
    file_.copy_new();
    const JobView& job = watch_.job();
    if (job.state != "succeeded") note_line(outcome_line(session_, job));
    return outcome_exit(job);
  }

  int left(int exit) {
    note(session_, Msg::job_left_running, {{"job", job_ref(job_.id)}, {"id", std::to_string(job_.id)}});
    return exit;
  }

  void cancel() {
    Query query = job_query(job_.id);
    query.method = "POST";
    query.target += "/cancel";
    (void)ask(session_, query);  // what went wrong has been said, and the job's end is waited for either way
  }

  // Nobody to ask: it is left running.
  Choice ask_person() {
    if (!session_.err_is_terminal || ::isatty(STDIN_FILENO) != 1) return Choice::leave;
    const std::string question = '\n' + say(session_.lang, Msg::ask_interrupt, {{"job", job_ref(job_.id)}});
    if (::write(STDERR_FILENO, question.data(), question.size()) < 0) return Choice::leave;
    std::array<pollfd, 2> waits{{{STDIN_FILENO, POLLIN, 0}, {interrupts_.fd(), POLLIN, 0}}};
    while (::poll(waits.data(), waits.size(), -1) < 0 && errno == EINTR) {}
    if (waits[1].revents != 0 && interrupts_.take() != 0) return Choice::leave;  // Ctrl-C once more: out
    std::array<char, 64> answer{};
    const ssize_t got = ::read(STDIN_FILENO, answer.data(), answer.size());
    if (got <= 0 || answer[0] == 'l' || answer[0] == 'L') return Choice::leave;
    return answer[0] == 'c' || answer[0] == 'C' ? Choice::cancel : Choice::go_on;
  }

  const Session& session_;
  JobView job_;
  Interrupts interrupts_;
  OutputFile file_;
  JobWatch watch_;
  bool told_ = false;
};

// With --json there is no output to stream: the job, once it has ended.
int run_json(const Session& session, std::int64_t id) {
  JobWatch watch(session, id);
  for (;;) {
    const auto state = watch.step(milliseconds{60000});
    if (state == JobWatch::State::failed) return watch.exit();
    if (state != JobWatch::State::ended) continue;
    const auto reply = ask(session, job_query(id));
    if (!reply) return reply.error();
    print_json(session, *reply);
    return outcome_exit(watch.job());
  }
}

}  // namespace

int cmd_run(const Session& session, const Words& words) {
  Query query;
  query.method = "POST";
  query.target = "/v1/jobs";
  auto body = job_request(session, words);
  if (!body) return body.error();
  query.body = std::move(*body);
  const auto reply = ask(session, query);
  if (!reply) return reply.error();
  auto job = read_job(session, query, *reply);
  if (!job) return job.error();
  if (session.json) return run_json(session, job->id);
  if (session.err_is_terminal && job->waits()) {
    std::optional<std::string> reason;
    if (job->reason) reason = reason_short(session.lang, *job->reason, session.now_ms);
    note(session, Msg::queued_as, {{"job", job_ref(job->id)}, {"reason", reason}});
  }
  return Run(session, std::move(*job)).go();
}

}  // namespace jipsa::cli
