// jipsa-shim FOLDER: starts one job, sees it end, and writes down how. Started by Runner, outlives the daemon.
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <initializer_list>

#include "machine/shim_protocol.h"
#include "shim/child.h"
#include "shim/files.h"
#include "shim/rest.h"

namespace {

using namespace jipsa::shim;

// A job is stopped by signals to its processes. This one must live to see them end.
void ignore_signals() {
  for (int sig : {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGPIPE, SIGUSR1, SIGUSR2, SIGALRM, SIGTSTP, SIGTTIN, SIGTTOU})
    signal(sig, SIG_IGN);
  signal(SIGCHLD, SIG_DFL);
  sigset_t child;
  sigemptyset(&child);
  sigaddset(&child, SIGCHLD);
  sigprocmask(SIG_SETMASK, &child, nullptr);
}

void tell(Status::Kind kind, int value, const char* text) {
  char message[2048];
  const Status status{kind, value};
  std::memcpy(message, &status, sizeof status);
  const std::size_t size = strnlen(text, sizeof message - sizeof status);
  std::memcpy(message + sizeof status, text, size);
  [[maybe_unused]] const ssize_t n = write(status_fd, message, sizeof status + size);  // nobody listens if the daemon is gone
  close(status_fd);
}

int not_started(int folder, int reserved, int error, const char* text) {
  const bool kept = folder >= 0 && reserved >= 0 && write_end(folder, reserved, "not_started", error, wall_ms(), text);
  tell(Status::failed, error, text);
  return kept ? 0 : 1;
}

int call_failed(int folder, int reserved, const char* call) {
  const int error = errno;
  char text[256];
  std::snprintf(text, sizeof text, "%s: %s", call, std::strerror(error));
  return not_started(folder, reserved, error, text);
}

// Ends of others' processes that were handed to this one are taken in passing. False: nobody can say how the job ended.
bool wait_for(pid_t job, int& status) {
  for (;;) {
    const pid_t pid = waitpid(-1, &status, 0);
    if (pid == job) return true;
    if (pid < 0 && errno != EINTR) return false;
  }
}

int finish(int folder, int reserved, int status, std::int64_t ended) {
  const bool exited = WIFEXITED(status);
  const char* how = exited ? "exited" : "signalled";
  const int value = exited ? WEXITSTATUS(status) : WTERMSIG(status);
  for (int attempt = 0; attempt < 600; ++attempt) {  // a full disk may become less full; nobody else knows this result
    if (write_end(folder, reserved, how, value, ended, "")) return 0;
    usleep(500000);
  }
  return 1;
}

int run(const char* path) {
  const int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return call_failed(-1, -1, "open the job's folder");
  const int reserved = reserve_end(folder);
  if (reserved < 0) return call_failed(folder, -1, "write end.tmp in the job's folder");
  Spec spec;
  if (!read_spec(folder, spec)) return call_failed(folder, reserved, "read spec in the job's folder");
  const Child child = fork_child(spec);
  if (child.pid < 0) return call_failed(folder, reserved, "fork");
  if (!write_pids(folder, spec, child.pid, child.in_cgroup)) {
    const int error = errno;
    close(child.channel);  // and so the child ends
    waitpid(child.pid, nullptr, 0);
    errno = error;
    return call_failed(folder, reserved, "write pids in the job's folder");
  }
  const Failure failure = release(child);
  if (failure.call != Failure::none) {
    waitpid(child.pid, nullptr, 0);
    char text[1000];
    describe(failure, spec, text, sizeof text);
    return not_started(folder, reserved, failure.error, text);
  }
  tell(Status::executed, child.pid, "");
  int status = 0;
  if (!wait_for(child.pid, status)) return 1;
  const std::int64_t ended = wall_ms();
  end_rest(child.in_cgroup ? spec.cgroup : "");
  return finish(folder, reserved, status, ended);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2 || fcntl(lock_fd, F_SETFD, FD_CLOEXEC) != 0 || fcntl(status_fd, F_SETFD, FD_CLOEXEC) != 0) {
    dprintf(2, "jipsa-shim is started by jipsad; there is nothing to call it for by hand\n");
    return 2;
  }
  ignore_signals();
  close_range(status_fd + 1, ~0U, 0);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  _exit(run(argv[1]));  // nothing to flush or to free: the sooner it ends, the sooner the daemon knows
}
