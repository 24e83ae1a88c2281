#include "daemon/restarter.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <vector>

namespace jipsa {
namespace {

constexpr std::chrono::milliseconds kPoll{500};

std::vector<std::string> command_of(const TenantConfig& config) {
  if (!config.restart_command.empty()) return config.restart_command;
  if (config.unit.empty()) return {};
  if (config.unit.rfind("user:", 0) == 0) return {"systemctl", "--user", "restart", config.unit.substr(5)};
  return {"systemctl", "restart", config.unit};
}

}  // namespace

Restarter::Restarter(Loop& loop, RecordClock& clock, TenantsWatch& tenants, std::string log_dir)
    : loop_(loop), clock_(clock), tenants_(tenants), log_dir_(std::move(log_dir)) {}

Restarter::~Restarter() {
  for (auto& [tenant, run] : runs_) {
    loop_.cancel(run.timer);
    if (run.pidfd < 0) continue;
    loop_.unwatch(run.pidfd);
    close(run.pidfd);
  }
}

void Restarter::restart(const std::string& tenant, std::function<void(Result<void>)> done) {
  if (runs_.count(tenant) != 0) {
    return loop_.post([done = std::move(done)] { done(fail(Code::conflict, "it is being restarted already")); });
  }
  Run& run = runs_[tenant];
  run.tenant = tenant;
  run.done = std::move(done);
  run.before = tenants_.find(tenant)->process;
  run.began_ns = clock_.steady_ns();
  if (auto spawned = spawn(run); !spawned) {
    loop_.post([this, tenant, error = spawned.error()] { finish(tenant, tl::unexpected(error)); });
    return;
  }
  run.timer = loop_.after(kPoll, [this, tenant] { poll(tenant); });
}

Result<void> Restarter::spawn(Run& run) {
  std::vector<std::string> command = command_of(tenants_.find(run.tenant)->config);
  if (command.empty()) {
    return fail(Code::unsupported, fmt::format("tenant {} has neither restart_command nor unit; give one of them", run.tenant));
  }
  std::error_code ec;
  std::filesystem::create_directories(log_dir_, ec);
  const std::string log = fmt::format("{}/{}.log", log_dir_, run.tenant);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  posix_spawn_file_actions_adddup2(&files, STDOUT_FILENO, STDERR_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none, defaults;
  sigemptyset(&none);
  sigfillset(&defaults);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  std::vector<char*> argv;
  for (std::string& argument : command) argv.push_back(argument.data());
  argv.push_back(nullptr);
  const int error = posix_spawnp(&run.child, argv[0], &files, &attributes, argv.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  if (error != 0) return fail(Code::io, fmt::format("restart command {}: {}", command[0], std::strerror(error)));
  run.pidfd = static_cast<int>(syscall(SYS_pidfd_open, run.child, 0));
  if (run.pidfd < 0) return fail(Code::io, fmt::format("pidfd_open: {}", std::strerror(errno)));
  fcntl(run.pidfd, F_SETFD, FD_CLOEXEC);
  return loop_.watch(run.pidfd, EPOLLIN, [this, tenant = run.tenant](std::uint32_t) { child_ended(tenant); });
}

void Restarter::child_ended(const std::string& tenant) {
  Run& run = runs_.at(tenant);
  int status = 0;
  const bool reaped = waitpid(run.child, &status, WNOHANG) == run.child;
  loop_.unwatch(run.pidfd);
  close(run.pidfd);
  run.pidfd = -1;
  if (!reaped) return;
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
    run.exited_well = true;
  } else {
    const std::string how =
        WIFEXITED(status) ? fmt::format("exit status {}", WEXITSTATUS(status)) : fmt::format("signal {}", WTERMSIG(status));
    finish(tenant, fail(Code::refused,
                        fmt::format("the restart command ended with {}; its output is in {}/{}.log", how, log_dir_, tenant)));
  }
}

void Restarter::poll(const std::string& tenant) {
  Run& run = runs_.at(tenant);
  run.timer = 0;
  const TenantsWatch::Watched& watched = *tenants_.find(tenant);
  const double waited = static_cast<double>(clock_.steady_ns() - run.began_ns) / 1e9;
  if (waited > watched.config.restart_deadline) {
    const bool up = watched.answer && watched.answer->reachable;
    return finish(tenant, fail(Code::timed_out, fmt::format("{} s after the restart {}", watched.config.restart_deadline,
                                                            up ? "the process of before still answers" : "nobody answers")));
  }
  run.timer = loop_.after(kPoll, [this, tenant] { poll(tenant); });
  if (watched.looking) return;
  tenants_.look_at(tenant, [this, tenant](const TenantAnswer& answer) { looked(tenant, answer); });
}

void Restarter::looked(const std::string& tenant, const TenantAnswer& answer) {
  const auto it = runs_.find(tenant);
  if (it == runs_.end()) return;
  if (!answer.reachable) {
    it->second.seen_down = true;
  } else if (is_new(it->second)) {
    finish(tenant, {});
  }
}

// An answer proves nothing while the old process lives: the command may only have begun.
bool Restarter::is_new(const Run& run) {
  if (!run.before.pid) return run.seen_down || run.exited_well;
  const auto now = read_stat(*run.before.pid);
  return !now || now->start != run.before.start || now->state == 'Z';
}

void Restarter::finish(const std::string& tenant, Result<void> result) {
  const auto it = runs_.find(tenant);
  if (it == runs_.end()) return;
  Run run = std::move(it->second);
  runs_.erase(it);
  loop_.cancel(run.timer);
  if (run.pidfd >= 0) {
    // A command that has become the server itself goes on; it is reaped when it ends.
    loop_.unwatch(run.pidfd);
    const int fd = run.pidfd;
    const pid_t child = run.child;
    if (!loop_.watch(fd, EPOLLIN, [loop = &loop_, fd, child](std::uint32_t) {
          waitpid(child, nullptr, WNOHANG);
          loop->unwatch(fd);
          close(fd);
        })) {
      close(fd);
    }
  }
  tenants_.find(tenant)->find = true;
  run.done(std::move(result));
}

}  // namespace jipsa
