// How much of a process's anonymous memory the C allocator holds: its heap and its arenas.
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>

#include "machine/proc_file.h"
#include "machine/sense.h"

namespace jipsa {

namespace {

constexpr std::uint64_t arena_size = std::uint64_t{64} << 20;
constexpr std::size_t most_text = std::size_t{256} << 20;  // some 300,000 maps; the kernel's own default limit is 65,530
constexpr std::chrono::seconds most_time{5};

// glibc reserves its heaps in 64 MiB units at 64 MiB boundaries: a writable part, then an inaccessible rest up to the boundary.
// Units side by side melt into one map when the first is full. So a map counts if it starts at a boundary, and it or the rest
// right behind it ends at one; and one of more than a unit only with such a rest, else any large aligned allocation would pass
// for arenas.
class Arenas {
 public:
  void map(std::uint64_t start, std::uint64_t end, std::string_view access, bool anonymous, bool heap) {
    if (candidate_) settle(start, end, access, anonymous);
    candidate_ = false;
    heap_ = heap;
    if (heap || !anonymous || !access.starts_with("rw-p") || start % arena_size != 0) return;
    candidate_ = true;
    start_ = start;
    end_ = end;
    held_ = Bytes{};
  }

  void anonymous_bytes(Bytes bytes) {
    if (heap_) sum_ += bytes;
    if (candidate_) held_ += bytes;
  }

  Bytes finish() {
    if (candidate_) settle(0, 0, {}, false);
    candidate_ = false;
    return sum_;
  }

 private:
  void settle(std::uint64_t start, std::uint64_t end, std::string_view access, bool anonymous) {
    const bool rest =
        anonymous && start == end_ && access.starts_with("---p") && end - start < arena_size && end % arena_size == 0;
    const bool whole = end_ - start_ == arena_size;
    if (rest || whole) sum_ += held_;
  }

  bool candidate_ = false, heap_ = false;
  std::uint64_t start_ = 0, end_ = 0;
  Bytes held_, sum_;
};

// "7f00e4000000-7f00e4021000 rw-p 00000000 00:00 0    [name]". False: no such line, so one of "Field: value".
bool map_line(std::string_view line, Arenas& arenas) {
  std::string_view rest = line;
  const std::string_view range = next_word(rest);
  const std::size_t dash = range.find('-');
  if (dash == std::string_view::npos) return false;
  const auto start = parse_number<std::uint64_t>(range.substr(0, dash), 16);
  const auto end = parse_number<std::uint64_t>(range.substr(dash + 1), 16);
  if (!start || !end) return false;
  const std::string_view access = next_word(rest);
  next_word(rest);  // offset
  next_word(rest);  // device
  const bool no_file = next_word(rest) == "0";
  const std::string_view name = next_word(rest);
  arenas.map(*start, *end, access, no_file && (name.empty() || name.starts_with("[anon:")), name == "[heap]");
  return true;
}

bool take_line(std::string_view line, Arenas& arenas) {
  if (line.starts_with("Anonymous:")) {
    const auto bytes = find_kib(line, "Anonymous");
    if (!bytes) return false;
    arenas.anonymous_bytes(*bytes);
    return true;
  }
  map_line(line, arenas);
  return true;
}

std::optional<Bytes> sum_arenas(int fd) {
  const auto until = std::chrono::steady_clock::now() + most_time;
  Arenas arenas;
  std::string text;
  std::size_t seen = 0;
  std::array<char, 65536> chunk{};
  for (;;) {
    const ssize_t n = read(fd, chunk.data(), chunk.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return std::nullopt;
    if (n == 0) break;
    seen += static_cast<std::size_t>(n);
    if (seen > most_text || std::chrono::steady_clock::now() > until) return std::nullopt;  // half a sum would be a wrong one
    text.append(chunk.data(), static_cast<std::size_t>(n));
    const std::size_t lines = text.rfind('\n') + 1;
    std::string_view rest = std::string_view(text).substr(0, lines);
    while (!rest.empty())
      if (!take_line(next_line(rest), arenas)) return std::nullopt;
    text.erase(0, lines);
  }
  if (seen == 0) return std::nullopt;  // a kernel thread or a zombie
  return arenas.finish();
}

}  // namespace

std::optional<Bytes> read_anon_arena(Pid pid, const std::string& proc) {
  const auto before = read_stat(pid, proc);
  if (!before) return std::nullopt;
  const int fd = open((proc + "/" + std::to_string(pid) + "/smaps").c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return std::nullopt;
  const auto sum = sum_arenas(fd);
  close(fd);
  const auto after = read_stat(pid, proc);
  if (!after || after->start != before->start) return std::nullopt;
  return sum;
}

}  // namespace jipsa
