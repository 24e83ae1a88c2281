#include "daemon/state_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

namespace jipsa {
namespace {

std::string read_owner(int fd) {
  std::array<char, 32> buffer{};
  const ssize_t n = pread(fd, buffer.data(), buffer.size() - 1, 0);
  std::string text(buffer.data(), n > 0 ? static_cast<std::size_t>(n) : 0);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text.empty() ? "unknown" : text;
}

Result<void> make_private_dir(const std::string& dir) {
  std::error_code ec;
  const bool made = std::filesystem::create_directories(dir, ec);
  if (ec) return fail(Code::io, fmt::format("cannot make the folder {}: {}", dir, ec.message()));
  if (made && chmod(dir.c_str(), 0700) != 0)
    return fail(Code::io, fmt::format("cannot set {} to 0700: {}", dir, std::strerror(errno)));
  return {};
}

bool answers(const sockaddr_un& address) {
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return false;
  const bool yes = connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 || errno == EAGAIN;
  close(fd);
  return yes;
}

}  // namespace

Result<StateLock> StateLock::take(const std::string& state_dir) {
  if (auto made = make_private_dir(state_dir); !made) return tl::unexpected(made.error());
  const std::string path = state_dir + "/lock";
  const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) return fail(Code::io, fmt::format("cannot open {}: {}", path, std::strerror(errno)));
  if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
    const int error = errno;
    const std::string owner = read_owner(fd);
    close(fd);
    if (error == EWOULDBLOCK) {
      return fail(Code::running, fmt::format("a daemon already runs on {} (pid {}); stop it, or use --state for another folder",
                                             state_dir, owner));
    }
    return fail(Code::io, fmt::format("cannot lock {}: {}", path, std::strerror(error)));
  }
  const std::string pid = fmt::format("{}\n", getpid());
  // The pid is for people's eyes alone; on a full disk the lock holds all the same.
  if (ftruncate(fd, 0) == 0) [[maybe_unused]]
    const auto n = pwrite(fd, pid.data(), pid.size(), 0);
  return StateLock(fd);
}

StateLock::~StateLock() {
  if (fd_ >= 0) close(fd_);
}

Result<int> listen_at(const std::string& socket_path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (socket_path.size() >= sizeof address.sun_path) {
    return fail(Code::bad_input,
                fmt::format("the socket's path is {} bytes long, the system allows {}: {}; give a shorter one with --socket",
                            socket_path.size(), sizeof address.sun_path - 1, socket_path));
  }
  std::memcpy(address.sun_path, socket_path.c_str(), socket_path.size() + 1);
  const std::string dir = std::filesystem::path(socket_path).parent_path().string();
  if (!dir.empty()) {
    if (auto made = make_private_dir(dir); !made) return tl::unexpected(made.error());
  }
  struct stat st{};
  if (lstat(socket_path.c_str(), &st) == 0) {
    if (!S_ISSOCK(st.st_mode))
      return fail(Code::conflict, fmt::format("{} exists and is not a socket; move it away or use --socket", socket_path));
    if (answers(address)) {
      return fail(Code::running,
                  fmt::format("somebody already answers at {} (pid unknown); use --socket for another path", socket_path));
    }
    unlink(socket_path.c_str());
  }
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return fail(Code::io, fmt::format("socket: {}", std::strerror(errno)));
  const mode_t before = umask(0177);  // no instant at which others may connect
  const bool bound = bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  const int error = errno;
  umask(before);
  if (!bound || listen(fd, 128) != 0) {
    const int why = bound ? errno : error;
    close(fd);
    return fail(Code::io, fmt::format("cannot listen at {}: {}", socket_path, std::strerror(why)));
  }
  return fd;
}

}  // namespace jipsa
