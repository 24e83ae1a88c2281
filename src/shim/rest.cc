#include "shim/rest.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

namespace jipsa::shim {

namespace {

constexpr int term_ms = 2000;
constexpr int kill_ms = 30000;

struct Kin {
  pid_t pid = 0, parent = 0;
  bool ours = false;
};

// All processes of the machine. Grows by doubling; what does not fit is met in the next round.
struct Table {
  Kin* rows = nullptr;
  std::size_t count = 0, room = 0;

  void add(pid_t pid, pid_t parent) {
    if (count == room) {
      const std::size_t larger = room == 0 ? 1024 : room * 2;
      Kin* grown = static_cast<Kin*>(std::realloc(rows, larger * sizeof(Kin)));
      if (grown == nullptr) return;
      rows = grown;
      room = larger;
    }
    rows[count++] = {pid, parent, false};
  }
};

// Parent of a process that lives; 0 if it is gone or a zombie without its first thread.
pid_t living_parent(const char* pid) {
  char path[64], text[1024];
  std::snprintf(path, sizeof path, "/proc/%.20s/stat", pid);
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  const ssize_t n = read(fd, text, sizeof text - 1);
  close(fd);
  if (n <= 0) return 0;
  text[n] = 0;
  const char* at = std::strrchr(text, ')');
  char state = 0;
  int parent = 0;
  return at != nullptr && std::sscanf(at + 1, " %c %d", &state, &parent) == 2 ? parent : 0;
}

void read_table(Table& table) {
  table.count = 0;
  DIR* dir = opendir("/proc");
  if (dir == nullptr) return;
  while (const dirent* entry = readdir(dir)) {
    if (entry->d_name[0] < '1' || entry->d_name[0] > '9') continue;
    if (const pid_t parent = living_parent(entry->d_name); parent > 0) table.add(std::atoi(entry->d_name), parent);
  }
  closedir(dir);
}

void mark_descendants(Table& table) {
  const pid_t self = getpid();
  for (bool more = true; more;) {
    more = false;
    for (std::size_t i = 0; i < table.count; ++i) {
      Kin& row = table.rows[i];
      if (row.ours) continue;
      bool below = row.parent == self;
      for (std::size_t j = 0; !below && j < table.count; ++j) below = table.rows[j].ours && table.rows[j].pid == row.parent;
      row.ours = below;
      more = more || below;
    }
  }
}

void kill_cgroup(const char* cgroup) {
  if (*cgroup == 0) return;
  char path[4200];
  std::snprintf(path, sizeof path, "%s/cgroup.kill", cgroup);
  const int fd = open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return;
  [[maybe_unused]] const ssize_t n = write(fd, "1", 1);
  close(fd);
}

bool reap() {
  for (;;) {
    const pid_t pid = waitpid(-1, nullptr, WNOHANG);
    if (pid < 0) return false;  // no child, and as all orphans of the job become children, no descendant
    if (pid == 0) return true;
  }
}

void signal_all(Table& table, int sig) {
  read_table(table);
  mark_descendants(table);
  for (std::size_t i = 0; i < table.count; ++i) {
    if (!table.rows[i].ours) continue;
    kill(table.rows[i].pid, sig);
    if (sig == SIGTERM) kill(table.rows[i].pid, SIGCONT);  // a stopped process could not act on it
  }
}

std::int64_t now_ms() {
  timespec t{};
  clock_gettime(CLOCK_BOOTTIME, &t);
  return static_cast<std::int64_t>(t.tv_sec) * 1000 + t.tv_nsec / 1000000;
}

// Until no child is left or `until`; woken by each child's end. SIGCHLD is blocked. True: none is left.
bool wait_for_all(std::int64_t until) {
  sigset_t child;
  sigemptyset(&child);
  sigaddset(&child, SIGCHLD);
  while (reap()) {
    const std::int64_t left = until - now_ms();
    if (left <= 0) return false;
    const timespec wait{left / 1000, left % 1000 * 1000000};
    sigtimedwait(&child, nullptr, &wait);
  }
  return true;
}

}  // namespace

void end_rest(const char* cgroup) {
  if (!reap()) return;
  Table table;
  signal_all(table, SIGTERM);
  const std::int64_t begin = now_ms();
  if (wait_for_all(begin + term_ms)) return;
  for (std::int64_t now = now_ms(); now < begin + kill_ms; now = now_ms()) {
    kill_cgroup(cgroup);
    signal_all(table, SIGSTOP);  // what is stopped can't fork while the rest is being counted
    signal_all(table, SIGKILL);
    if (wait_for_all(now + 20)) return;
  }
}

}  // namespace jipsa::shim
