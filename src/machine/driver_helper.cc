#include "machine/driver_helper.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

extern char** environ;

namespace jipsa {
namespace {

// The child's half on its standard input and output; nothing else of ours, and no signal setting of ours.
int spawn(pid_t& pid, const std::string& program, const std::string& library, int child_end) {
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&files);
  posix_spawnattr_init(&attributes);
  posix_spawn_file_actions_adddup2(&files, child_end, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&files, child_end, STDOUT_FILENO);
  posix_spawn_file_actions_addclosefrom_np(&files, STDERR_FILENO + 1);
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setpgroup(&attributes, 0);  // a terminal's interrupt is for the daemon, which then ends its helper
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  std::string argument0 = program, argument1 = library;
  char* argv[] = {argument0.data(), argument1.data(), nullptr};
  const int error = posix_spawn(&pid, program.c_str(), &files, &attributes, argv, environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  return error;
}

}  // namespace

Result<std::unique_ptr<DriverHelper>> DriverHelper::start(const std::string& program, const std::string& library) {
  // A socket pair rather than pipes: writing to a helper that has died must not raise SIGPIPE in the daemon.
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    return fail(Code::io, std::string("socketpair for jipsa-nvml: ") + std::strerror(errno));
  }
  fcntl(ends[0], F_SETFL, O_NONBLOCK);
  pid_t pid = 0;
  const int error = spawn(pid, program, library, ends[1]);
  close(ends[1]);
  if (error != 0) {
    close(ends[0]);
    return fail(Code::io, program + ": cannot be started: " + std::strerror(error) + "; is it installed beside jipsad?");
  }
  const int pidfd = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
  if (pidfd < 0) {
    const int why = errno;
    ::kill(pid, SIGKILL);
    waitpid(pid, nullptr, 0);
    close(ends[0]);
    return fail(Code::io, std::string("pidfd_open for jipsa-nvml: ") + std::strerror(why));
  }
  return std::unique_ptr<DriverHelper>(new DriverHelper(ends[0], pidfd));
}

DriverHelper::~DriverHelper() {
  close(socket_);
  if (!reaped_) {
    kill();
    pollfd end{pidfd_, POLLIN, 0};
    poll(&end, 1, 200);
    reap();
  }
  close(pidfd_);
}

bool DriverHelper::send(std::string_view text) {
  return ::send(socket_, text.data(), text.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(text.size());
}

std::optional<std::string> DriverHelper::receive() {
  std::string text(64 << 10, '\0');
  const ssize_t n = recv(socket_, text.data(), text.size(), 0);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return "";
  if (n <= 0) return std::nullopt;
  text.resize(static_cast<std::size_t>(n));
  return text;
}

void DriverHelper::kill() { syscall(SYS_pidfd_send_signal, pidfd_, SIGKILL, nullptr, 0); }

std::optional<std::string> DriverHelper::reap() {
  siginfo_t info{};
  const int error = waitid(P_PIDFD, static_cast<id_t>(pidfd_), &info, WEXITED | WNOHANG);
  if (error == 0 && info.si_pid == 0) return std::nullopt;
  reaped_ = true;
  if (error != 0) return "its end was not seen";  // someone else in this process waits for every child
  return (info.si_code == CLD_EXITED ? "exit status " : "signal ") + std::to_string(info.si_status);
}

}  // namespace jipsa
