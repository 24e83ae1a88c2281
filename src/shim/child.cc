#include "shim/child.h"

#include <fcntl.h>
#include <linux/sched.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "machine/shim_protocol.h"

namespace jipsa::shim {

namespace {

const char* variable(char** vars, const char* name) {
  const std::size_t size = std::strlen(name);
  for (; *vars != nullptr; ++vars)
    if (std::strncmp(*vars, name, size) == 0 && (*vars)[size] == '=') return *vars + size + 1;
  return nullptr;
}

// As execve, and a text file without "#!" goes to the shell, as people are used to.
void try_exec(const char* path, const Spec& spec) {
  execve(path, spec.args, spec.vars);
  if (errno != ENOEXEC) return;
  std::size_t count = 0;
  while (spec.args[count] != nullptr) ++count;
  char** args = static_cast<char**>(std::calloc(count + 2, sizeof(char*)));
  if (args == nullptr) return;
  args[0] = const_cast<char*>("/bin/sh");
  args[1] = const_cast<char*>(path);
  for (std::size_t i = 1; i < count; ++i) args[i + 1] = spec.args[i];
  execve(args[0], args, spec.vars);
  errno = ENOEXEC;
}

Failure exec_path(const char* path, const Spec& spec) {
  try_exec(path, spec);
  Failure failure{Failure::exec, errno, Failure::nothing};
  struct stat info{};
  if (stat(path, &info) != 0) return failure;
  if (failure.error == EACCES && S_ISDIR(info.st_mode)) failure.error = EISDIR;
  if (failure.error == ENOENT) failure.hint = Failure::no_interpreter;
  return failure;
}

// Looks through the job's own PATH, not the daemon's. What is found but may not be executed does not end the search.
Failure exec_job(const Spec& spec) {
  const char* name = spec.args[0];
  if (*name == 0) return {Failure::exec, ENOENT, Failure::nothing};
  if (std::strchr(name, '/') != nullptr) return exec_path(name, spec);
  const char* at = variable(spec.vars, "PATH");
  if (at == nullptr) at = "/usr/local/bin:/usr/bin:/bin";
  Failure worst{Failure::exec, ENOENT, Failure::not_in_path};
  static char path[4096];
  for (bool more = true; more;) {
    const char* end = std::strchr(at, ':');
    more = end != nullptr;
    const int size = static_cast<int>(more ? end - at : static_cast<long>(std::strlen(at)));
    const int n = std::snprintf(path, sizeof path, "%.*s%s%s", size, at, size > 0 ? "/" : "./", name);
    at = more ? end + 1 : at;
    if (n < 0 || static_cast<std::size_t>(n) >= sizeof path) continue;
    const Failure failure = exec_path(path, spec);
    const bool absent = failure.error == ENOENT && failure.hint == Failure::nothing;
    if (absent || failure.error == ENOTDIR || failure.error == EISDIR) continue;
    worst = failure;
    if (failure.error != EACCES) break;
  }
  return worst;
}

void default_signals() {
  // By system call: glibc's signal() leaves out 32 and 33, which whoever started the daemon may have ignored.
  const long plain[8] = {};  // the kernel's struct sigaction: all zero is the default
  for (int sig = 1; sig <= 64; ++sig) syscall(SYS_rt_sigaction, sig, plain, nullptr, 8);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
}

bool redirect(const char* path, int flags, int to) {
  const int fd = open(path, flags | O_NOCTTY | O_CLOEXEC, 0600);
  return fd >= 0 && dup2(fd, to) == to;
}

Failure become_job(const Spec& spec) {
  setsid();
  default_signals();
  if (!redirect(*spec.input ? spec.input : "/dev/null", O_RDONLY, 0)) return {Failure::input, errno, 0};
  if (!redirect(spec.output, O_WRONLY | O_APPEND | O_CREAT, 1) || dup2(1, 2) != 2) return {Failure::output, errno, 0};
  if (chdir(spec.dir) != 0) return {Failure::chdir, errno, 0};
  return exec_job(spec);
}

[[noreturn]] void run_child(const Spec& spec, int channel) {
  close(lock_fd);
  char go = 0;
  ssize_t n = 0;
  while ((n = read(channel, &go, 1)) < 0 && errno == EINTR) {}
  if (n != 1) _exit(127);  // the shim is gone, and with it the word that this job was started
  const Failure failure = become_job(spec);
  [[maybe_unused]] const ssize_t told = write(channel, &failure, sizeof failure);
  _exit(127);
}

// Born in its cgroup: moving a process later makes the kernel wait for all its CPUs, milliseconds.
pid_t fork_into(const char* cgroup) {
  const int fd = open(cgroup, O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return -1;
  clone_args args{};
  args.flags = CLONE_INTO_CGROUP;
  args.exit_signal = SIGCHLD;
  args.cgroup = static_cast<std::uint64_t>(fd);
  const pid_t pid = static_cast<pid_t>(syscall(SYS_clone3, &args, sizeof args));
  if (pid != 0) close(fd);
  return pid;
}

bool move_into(const char* cgroup, pid_t pid) {
  char path[4200], text[16];
  std::snprintf(path, sizeof path, "%s/cgroup.procs", cgroup);
  const int fd = open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return false;
  const int size = std::snprintf(text, sizeof text, "%d", pid);
  const bool moved = write(fd, text, static_cast<std::size_t>(size)) == size;
  close(fd);
  return moved;
}

}  // namespace

Child fork_child(const Spec& spec) {
  Child child;
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return child;
  if (*spec.cgroup != 0) child.pid = fork_into(spec.cgroup);
  child.in_cgroup = child.pid > 0;
  if (child.pid < 0) child.pid = fork();
  if (child.pid == 0) {
    close(ends[0]);
    run_child(spec, ends[1]);
  }
  const int error = errno;
  close(ends[1]);
  child.channel = ends[0];
  if (child.pid > 0 && !child.in_cgroup && *spec.cgroup != 0) child.in_cgroup = move_into(spec.cgroup, child.pid);
  errno = error;
  return child;
}

Failure release(const Child& child) {
  Failure failure;
  [[maybe_unused]] const ssize_t sent = send(child.channel, "g", 1, MSG_NOSIGNAL);
  ssize_t n = 0;
  while ((n = read(child.channel, &failure, sizeof failure)) < 0 && errno == EINTR) {}
  close(child.channel);
  return n == sizeof failure ? failure : Failure{};  // closed without a word: executed
}

void describe(const Failure& failure, const Spec& spec, char* text, std::size_t size) {
  const char* call = "exec";
  const char* what = spec.args[0];
  const char* hint = "";
  if (failure.call == Failure::input) call = "open input", what = spec.input;
  if (failure.call == Failure::output) call = "open output", what = spec.output;
  if (failure.call == Failure::chdir) call = "chdir", what = spec.dir;
  if (failure.hint == Failure::not_in_path) hint = " (it is not in the job's PATH)";
  if (failure.hint == Failure::no_interpreter) hint = " (the file is there; the interpreter that it names is not)";
  std::snprintf(text, size, "%s %s: %s%s", call, what, std::strerror(failure.error), hint);
}

}  // namespace jipsa::shim
