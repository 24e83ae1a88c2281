#include "machine/runner_spawn.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "machine/shim_protocol.h"

namespace jipsa {

namespace {

constexpr int above = 10;  // clear of every number that the shim's own descriptors are moved to

struct Actions {
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  Actions() {
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&attributes);
  }
  ~Actions() {
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
  }
  Actions(const Actions&) = delete;
  Actions& operator=(const Actions&) = delete;
};

void set_session(Actions& actions) {
  sigset_t all, none;
  sigfillset(&all);
  sigemptyset(&none);
  posix_spawnattr_setsigdefault(&actions.attributes, &all);
  posix_spawnattr_setsigmask(&actions.attributes, &none);
  posix_spawnattr_setflags(&actions.attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
}

int spawn(const std::string& shim, const std::string& folder, int lock, int status, Pid& pid) {
  Actions actions;
  set_session(actions);
  for (int fd : {0, 1, 2}) posix_spawn_file_actions_addopen(&actions.files, fd, "/dev/null", O_RDWR, 0);
  posix_spawn_file_actions_adddup2(&actions.files, lock, shim::lock_fd);
  posix_spawn_file_actions_adddup2(&actions.files, status, shim::status_fd);
  std::string name = "jipsa-shim", argument = folder;
  char* argv[] = {name.data(), argument.data(), nullptr};
  char* env[] = {nullptr};
  return posix_spawn(&pid, shim.c_str(), &actions.files, &actions.attributes, argv, env);
}

}  // namespace

Result<Spawned> spawn_shim(const std::string& shim, const std::string& folder, const Fd& lock) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return fail(Code::io, fmt::format("pipe: {}", std::strerror(errno)));
  Spawned spawned;
  spawned.status = Fd(ends[0]);
  const Fd theirs(ends[1]);
  fcntl(ends[0], F_SETFL, O_NONBLOCK);
  const Fd high_lock(fcntl(lock.get(), F_DUPFD_CLOEXEC, above));
  const Fd high_status(fcntl(ends[1], F_DUPFD_CLOEXEC, above));
  if (!high_lock || !high_status) return fail(Code::io, fmt::format("fcntl: {}", std::strerror(errno)));
  const int error = spawn(shim, folder, high_lock.get(), high_status.get(), spawned.pid);
  if (error != 0) return fail(Code::io, fmt::format("start {}: {}", shim, std::strerror(error)));
  spawned.pidfd = open_pidfd(spawned.pid);
  if (spawned.pidfd) return spawned;
  const int open_error = errno;
  kill(spawned.pid, SIGKILL);  // unwatched it would be of no use; the caller clears away what it may have started
  waitpid(spawned.pid, nullptr, 0);
  return fail(Code::io, fmt::format("pidfd_open: {}", std::strerror(open_error)));
}

Fd open_pidfd(Pid pid) { return Fd(static_cast<int>(syscall(SYS_pidfd_open, pid, 0))); }

void reap(const Fd& pidfd) {
  siginfo_t info{};
  waitid(P_PIDFD, static_cast<id_t>(pidfd.get()), &info, WEXITED | WNOHANG);
}

}  // namespace jipsa
