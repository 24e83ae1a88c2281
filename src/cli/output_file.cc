#include "cli/output_file.h"

#include <fcntl.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace jipsa::cli {

OutputFile::~OutputFile() {
  if (file_ >= 0) ::close(file_);
  if (watch_ >= 0) ::close(watch_);
}

bool OutputFile::open() {
  if (file_ >= 0) return true;
  file_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC);
  error_ = file_ < 0 ? errno : 0;
  if (file_ < 0) return false;
  watch_ = ::inotify_init1(IN_NONBLOCK | IN_CLOEXEC);  // without one the file is looked at now and then
  if (watch_ >= 0) ::inotify_add_watch(watch_, path_.c_str(), IN_MODIFY);
  return true;
}

bool OutputFile::copy_new() {
  if (!open()) return false;
  std::array<char, 65536> buffer;
  for (;;) {
    const ssize_t got = ::read(file_, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      error_ = errno;
      return false;
    }
    if (got == 0) return true;
    print(session_, {buffer.data(), static_cast<std::size_t>(got)});
    if (session_.output_error != 0) return false;
  }
}

void OutputFile::drain_watch() const {
  std::array<char, 4096> events;
  while (watch_ >= 0 && ::read(watch_, events.data(), events.size()) > 0) {}
}

}  // namespace jipsa::cli
