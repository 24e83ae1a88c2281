#include "config/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace jipsa::config {
namespace {

tl::unexpected<Complaint> no(std::string what, std::string mend) {
  return tl::unexpected<Complaint>(Complaint{std::move(what), std::move(mend)});
}

tl::unexpected<Complaint> no_access(int error_number) {
  return no(fmt::format("can't be read: {}", std::strerror(error_number)),
            error_number == EACCES ? "give this user the right to read it" : "see to that file or name another with --config");
}

Read<std::string> read_all(int fd) {
  std::string text;
  std::array<char, 16384> buffer{};
  while (text.size() <= kLargestFile) {
    const auto n = ::read(fd, buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return no_access(errno);
    if (n == 0) return text;
    text.append(buffer.data(), static_cast<std::size_t>(n));
  }
  return no("is larger than 1 MiB", "name the right file with --config");
}

Read<std::string> check_encoding(std::string text) {
  if (text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff")) return no("is UTF-16", "save it as UTF-8");
  return text;
}

}  // namespace

Read<std::optional<std::string>> read_file(const std::string& path) {
  // Not blocking: a pipe that nobody writes to must not hold up the start.
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) {
    struct stat link{};
    if (errno == ENOENT && ::lstat(path.c_str(), &link) == 0)
      return no("is a link that leads nowhere", "remove it or restore what it points to");
    if (errno == ENOENT || errno == ENOTDIR) return std::optional<std::string>{};
    return no_access(errno);
  }
  struct stat info{};
  Read<std::string> text = std::string{};
  if (::fstat(fd, &info) != 0)
    text = no_access(errno);
  else if (S_ISDIR(info.st_mode))
    text = no("is a folder", "name the file in it");
  else if (S_ISFIFO(info.st_mode) || S_ISSOCK(info.st_mode))
    text = no("is not a regular file", "name a file with --config");
  else
    text = read_all(fd).and_then(check_encoding);
  ::close(fd);
  if (!text) return tl::unexpected<Complaint>(text.error());
  return std::optional<std::string>(std::move(*text));
}

}  // namespace jipsa::config
