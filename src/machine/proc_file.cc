#include "machine/proc_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <limits>

namespace jipsa {

namespace {

// Length of the UTF-8 letter that `s` begins with; 0 if it begins with none.
std::size_t letter(std::string_view s) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(s[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return first >= 0x20 && first != 0x7f ? 1 : 0;
  const std::size_t n = first >= 0xc2 && first < 0xe0   ? 2
                        : first >= 0xe0 && first < 0xf0 ? 3
                        : first >= 0xf0 && first < 0xf5 ? 4
                                                        : 0;
  if (n == 0 || s.size() < n) return 0;
  for (std::size_t i = 1; i < n; ++i)
    if ((byte(i) & 0xc0) != 0x80) return 0;
  const unsigned char second = byte(1);
  const bool overlong = (first == 0xe0 && second < 0xa0) || (first == 0xf0 && second < 0x90);
  const bool beyond = (first == 0xed && second >= 0xa0) || (first == 0xf4 && second >= 0x90);
  return overlong || beyond ? 0 : n;
}

}  // namespace

std::optional<std::string> read_file(const std::string& path, std::size_t most) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY);
  if (fd < 0) return std::nullopt;
  std::string text;
  std::size_t size = 0;
  for (;;) {
    if (text.size() - size < 2048) text.resize(std::max<std::size_t>(4096, text.size() * 2));
    const ssize_t n = read(fd, text.data() + size, text.size() - size);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 || size + static_cast<std::size_t>(n) > most) {
      close(fd);
      return std::nullopt;
    }
    if (n == 0) break;
    size += static_cast<std::size_t>(n);
  }
  close(fd);
  text.resize(size);
  return text;
}

std::string_view next_word(std::string_view& text) {
  const std::size_t from = text.find_first_not_of(" \t\n");
  if (from == std::string_view::npos) return text = {};
  const std::size_t to = std::min(text.find_first_of(" \t\n", from), text.size());
  const std::string_view word = text.substr(from, to - from);
  text.remove_prefix(to);
  return word;
}

std::string_view next_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return line;
}

std::optional<Bytes> find_kib(std::string_view text, std::string_view name) {
  while (!text.empty()) {
    std::string_view line = next_line(text);
    if (!line.starts_with(name) || line.size() <= name.size() || line[name.size()] != ':') continue;
    line.remove_prefix(name.size() + 1);
    const auto kib = parse_number<std::int64_t>(next_word(line));
    if (!kib || *kib < 0 || *kib > std::numeric_limits<std::int64_t>::max() / 1024) return std::nullopt;
    return Bytes{*kib * 1024};
  }
  return std::nullopt;
}

std::string printable(std::string_view name) {
  std::string out;
  while (!name.empty()) {
    const std::size_t n = letter(name);
    if (n == 0) out += '?';
    out += name.substr(0, n);
    name.remove_prefix(n == 0 ? 1 : n);
  }
  return out;
}

}  // namespace jipsa
