#include "shim/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include "machine/shim_protocol.h"

namespace jipsa::shim {

namespace {

bool write_all(int fd, const char* text, std::size_t size) {
  while (size > 0) {
    const ssize_t n = write(fd, text, size);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return false;
    text += n;
    size -= static_cast<std::size_t>(n);
  }
  return true;
}

bool read_all(int fd, char* text, std::size_t size) {
  while (size > 0) {
    const ssize_t n = read(fd, text, size);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return n == 0 ? (errno = EBADMSG, false) : false;
    text += n;
    size -= static_cast<std::size_t>(n);
  }
  return true;
}

// Points `out` at the string at `at` and moves on to the next; false if there is none.
bool take(char*& at, const char* end, const char*& out) {
  char* nul = at < end ? static_cast<char*>(std::memchr(at, 0, static_cast<std::size_t>(end - at))) : nullptr;
  if (nul == nullptr) return false;
  out = at;
  at = nul + 1;
  return true;
}

bool take_list(char*& at, const char* end, std::uint32_t count, char**& out) {
  if (count > static_cast<std::size_t>(end - at)) return false;
  out = static_cast<char**>(std::calloc(std::size_t{count} + 1, sizeof(char*)));
  if (out == nullptr) return false;
  for (std::uint32_t i = 0; i < count; ++i) {
    const char* text = nullptr;
    if (!take(at, end, text)) return false;
    out[i] = const_cast<char*>(text);
  }
  return true;
}

bool parse(char* text, std::size_t size, Spec& spec) {
  SpecHead head;
  if (size < sizeof head) return false;
  std::memcpy(&head, text, sizeof head);
  if (head.magic != spec_magic || head.args == 0) return false;
  char* at = text + sizeof head;
  const char* end = text + size;
  return take(at, end, spec.output) && take(at, end, spec.dir) && take(at, end, spec.input) && take(at, end, spec.cgroup) &&
         take(at, end, spec.boot) && take_list(at, end, head.args, spec.args) && take_list(at, end, head.vars, spec.vars) &&
         at == end;
}

}  // namespace

bool read_spec(int folder, Spec& spec) {
  const int fd = openat(folder, "spec", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  struct stat info{};
  bool good = fstat(fd, &info) == 0;
  const std::size_t size = good ? static_cast<std::size_t>(info.st_size) : 0;
  char* text = static_cast<char*>(std::malloc(size + 1));  // lives as long as the shim
  good = good && text != nullptr && read_all(fd, text, size);
  const int error = errno;
  close(fd);
  errno = error;
  if (!good) return false;
  errno = EBADMSG;
  return parse(text, size, spec);
}

std::int64_t start_time(pid_t pid) {
  char path[48];
  std::snprintf(path, sizeof path, "/proc/%d/stat", pid);
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  char text[1024];
  const ssize_t n = read(fd, text, sizeof text - 1);
  close(fd);
  if (n <= 0) return 0;
  text[n] = 0;
  const char* at = std::strrchr(text, ')');  // the name before it may hold anything
  for (int field = 2; at != nullptr && field < 22; ++field) at = std::strchr(at + 1, ' ');
  return at == nullptr ? 0 : std::strtoll(at + 1, nullptr, 10);
}

bool write_pids(int folder, const Spec& spec, pid_t job, bool in_cgroup) {
  static char text[8192];
  const pid_t self = getpid();
  const int size = std::snprintf(text, sizeof text, "boot %s\nshim %d %lld\njob %d %lld\ncgroup %s\n", spec.boot, self,
                                 static_cast<long long>(start_time(self)), job, static_cast<long long>(start_time(job)),
                                 in_cgroup ? spec.cgroup : "");
  if (size < 0 || static_cast<std::size_t>(size) >= sizeof text) return errno = ENAMETOOLONG, false;
  const int fd = openat(folder, "pids.tmp", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (fd < 0) return false;
  const bool written = write_all(fd, text, static_cast<std::size_t>(size));
  const int error = errno;
  close(fd);
  errno = error;
  return written && renameat(folder, "pids.tmp", folder, "pids") == 0;
}

int reserve_end(int folder) {
  static const char room[1024] = {};
  const int fd = openat(folder, "end.tmp", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (fd >= 0 && !write_all(fd, room, sizeof room)) {
    const int error = errno;
    close(fd);
    errno = error;
    return -1;
  }
  return fd;
}

bool write_end(int folder, int reserved, const char* how, int value, std::int64_t wall, const char* error) {
  char text[1024];
  int size =
      std::snprintf(text, sizeof text, "%s %d %lld%s%s\n", how, value, static_cast<long long>(wall), *error ? " " : "", error);
  if (size < 0) return false;
  if (static_cast<std::size_t>(size) >= sizeof text) {  // a very long path in the error: its beginning will do
    size = static_cast<int>(sizeof text);
    text[size - 1] = '\n';
  }
  return lseek(reserved, 0, SEEK_SET) == 0 && write_all(reserved, text, static_cast<std::size_t>(size)) &&
         ftruncate(reserved, size) == 0 && renameat(folder, "end.tmp", folder, "end") == 0;
}

std::int64_t wall_ms() {
  timespec t{};
  clock_gettime(CLOCK_REALTIME, &t);
  return static_cast<std::int64_t>(t.tv_sec) * 1000 + t.tv_nsec / 1000000;
}

}  // namespace jipsa::shim
