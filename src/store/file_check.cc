#include "store/file_check.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "store/errors.h"
#include "store/schema.h"

namespace jipsa::store {
namespace {

using Header = std::array<unsigned char, 100>;  // the first bytes of every SQLite file; numbers in them are big-endian
constexpr std::size_t kPageSizeAt = 16;         // two bytes; 1 stands for 65536
constexpr std::size_t kUserVersionAt = 60;
constexpr std::size_t kApplicationIdAt = 68;
constexpr std::string_view kMagic{"SQLite format 3\0", 16};

class File {
 public:
  explicit File(int fd) : fd_(fd) {}
  ~File() {
    if (fd_ >= 0) ::close(fd_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  [[nodiscard]] int fd() const { return fd_; }

 private:
  int fd_;
};

std::int32_t number_at(const Header& header, std::size_t at) {
  const std::uint32_t value = (std::uint32_t{header[at]} << 24) | (std::uint32_t{header[at + 1]} << 16) |
                              (std::uint32_t{header[at + 2]} << 8) | std::uint32_t{header[at + 3]};
  return static_cast<std::int32_t>(value);
}

Result<std::size_t> read_header(const std::string& path, Header& header) {
  const File file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.fd() < 0) return tl::unexpected<Error>(system_error(path, "open", errno));
  std::size_t got = 0;
  while (got < header.size()) {
    const auto n = ::read(file.fd(), header.data() + got, header.size() - got);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return tl::unexpected<Error>(system_error(path, "read", errno));
    if (n == 0) break;
    got += static_cast<std::size_t>(n);
  }
  return got;
}

bool has_log(const std::string& path) {
  struct stat info{};
  return ::stat((path + "-wal").c_str(), &info) == 0 && info.st_size > 0;
}

// SQLite takes a last page that is cut short for one that ends in zeros. With a log beside it the page may still be completed.
bool ends_within_a_page(const std::string& path, const Header& header, std::int64_t size) {
  const std::int64_t stored = header[kPageSizeAt] * 256 + header[kPageSizeAt + 1];
  const std::int64_t page = stored == 1 ? 65536 : stored;
  return page >= 512 && size % page != 0 && !has_log(path);
}

// A write-ahead log without its database would be taken for that of a new one, and spoil it.
Result<bool> inspect_missing(const std::string& path) {
  struct stat info{};
  if (::lstat(path.c_str(), &info) == 0)
    return fail(Code::unreadable, path + ": is a link that leads nowhere; restore what it points to, or remove the link");
  if (has_log(path))
    return fail(Code::unreadable,
                fmt::format("{}: is missing, but its log {} is there; put the database back, or move the log away "
                            "to begin with an empty queue",
                            path, path + "-wal"));
  return false;
}

}  // namespace

Error not_ours(const std::string& path) {
  return {Code::unreadable, path + ": is a database of another program; move it away or choose another folder with --state"};
}

Error too_new(const std::string& path, std::int64_t version) {
  return {Code::unreadable,
          fmt::format("{}: has schema version {}, and this program knows up to {}; use the jipsad that wrote it, or "
                      "choose another folder with --state",
                      path, version, kSchemaVersion)};
}

Result<bool> inspect(const std::string& path) {
  struct stat info{};
  if (::stat(path.c_str(), &info) != 0) {
    if (errno == ENOENT) return inspect_missing(path);
    return tl::unexpected<Error>(system_error(path, "look at", errno));
  }
  if (!S_ISREG(info.st_mode))
    return fail(Code::unreadable,
                fmt::format("{}: is {}, not a database file; move it away or choose another folder with --state", path,
                            S_ISDIR(info.st_mode) ? "a folder" : "not a regular file"));
  Header header{};
  const auto size = read_header(path, header);
  if (!size) return tl::unexpected<Error>(size.error());
  if (*size == 0) return tl::unexpected<Error>(damaged(path, "the file is empty"));
  const std::string_view start{reinterpret_cast<const char*>(header.data()), kMagic.size()};
  if (*size >= kMagic.size() && start != kMagic)
    return tl::unexpected<Error>(damaged(path, "it does not begin as an SQLite database does"));
  if (*size < header.size()) return tl::unexpected<Error>(damaged(path, fmt::format("cut off after {} bytes", *size)));
  if (ends_within_a_page(path, header, info.st_size))
    return tl::unexpected<Error>(damaged(path, fmt::format("cut off within a page, after {} bytes", info.st_size)));
  if (number_at(header, kApplicationIdAt) != kApplicationId) return tl::unexpected<Error>(not_ours(path));
  const auto version = number_at(header, kUserVersionAt);
  if (version > kSchemaVersion) return tl::unexpected<Error>(too_new(path, version));
  if (version < 1) return tl::unexpected<Error>(damaged(path, fmt::format("schema version {}", version)));
  return true;
}

Result<void> make_private_file(const std::string& path) {
  const File file(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (file.fd() < 0) return tl::unexpected<Error>(system_error(path, "create", errno));
  return {};
}

Result<void> sync_folder(const std::string& dir) {
  const File folder(::open(dir.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder.fd() < 0) return tl::unexpected<Error>(system_error(dir, "open", errno));
  // Some file systems can't sync a folder and say EINVAL: nothing more can be done there.
  if (::fsync(folder.fd()) != 0 && errno != EINVAL) return tl::unexpected<Error>(system_error(dir, "sync", errno));
  return {};
}

}  // namespace jipsa::store
