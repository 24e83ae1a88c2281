#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>

#include "wire/recording_parse.h"

namespace jipsa {

namespace {

constexpr std::size_t chunk = std::size_t{1} << 20;

struct File {
  int fd = -1;
  bool ours = false;
  File() = default;
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() {
    if (ours && fd >= 0) ::close(fd);
  }
  Result<void> open(const std::string& path) {
    if (path == "-") {
      fd = STDIN_FILENO;
      return {};
    }
    fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    ours = true;
    if (fd >= 0) return {};
    return fail(errno == ENOENT ? Code::not_found : Code::io, path + ": " + std::strerror(errno));
  }
  // Appends up to a chunk to `out`; false: the end.
  Result<bool> read(const std::string& path, std::string& out) const {
    const std::size_t before = out.size();
    out.resize(before + chunk);
    ssize_t got = 0;
    do { got = ::read(fd, out.data() + before, chunk); } while (got < 0 && errno == EINTR);
    const int error = errno;
    out.resize(before + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    if (got < 0) return fail(Code::io, path + ": " + std::strerror(error));
    return got > 0;
  }
};

bool is_blank(std::string_view text) { return text.find_first_not_of(" \t\r") == std::string_view::npos; }

}  // namespace

struct RecordingReader::Impl {
  std::string name;
  File file;
  std::string buffer;
  std::size_t at = 0, scanned = 0;
  bool at_end = false;
  int number = 0;
  RecordingHeader header;
  bool has_header = false;
  bool may_be_state = true;
  Seconds last_t = 0;
  int last_t_line = 0;

  [[nodiscard]] Error bad(const std::string& what) const {
    return {Code::unreadable, fmt::format("{}:{}: {}", name, number, what)};
  }

  // The next raw line, without its end; valid until the next call. Empty optional: no more.
  Result<std::optional<std::string_view>> raw_line() {
    for (;;) {
      const std::size_t newline = buffer.find('\n', std::max(at, scanned));
      if (newline != std::string::npos) return take(newline, newline + 1);
      scanned = buffer.size();
      if (at_end) {
        if (at == buffer.size()) return std::nullopt;
        return take(buffer.size(), buffer.size());
      }
      if (buffer.size() - at > longest_line) {
        ++number;
        return tl::unexpected(bad("the line is longer than 64 MiB; this is no recording"));
      }
      buffer.erase(0, at);
      at = 0;
      scanned = buffer.size();
      const auto more = file.read(name, buffer);
      if (!more) return tl::unexpected(more.error());
      at_end = !*more;
    }
  }

  Result<std::optional<std::string_view>> take(std::size_t end, std::size_t next) {
    const std::string_view line(buffer.data() + at, end - at);
    at = next;
    ++number;
    if (line.size() > longest_line) return tl::unexpected(bad("the line is longer than 64 MiB; this is no recording"));
    return line;
  }

  // The next line that is neither blank nor a comment.
  Result<std::optional<std::string_view>> content_line() {
    for (;;) {
      auto line = raw_line();
      if (!line || !*line) return line;
      if (!valid_utf8(**line)) return tl::unexpected(bad("not valid UTF-8; save the file as UTF-8"));
      if ((*line)->starts_with('#') || is_blank(**line)) continue;
      return line;
    }
  }

  // Which type a line is of; an error says what kind of line it is not.
  Result<std::string> type_of(std::string_view text) const {
    JsonCursor cursor(text);
    if (cursor.peek() != '{') {
      return tl::unexpected(
          bad(fmt::format("not an object but {}; a recording has one JSON object a line", cursor.kind_of_next())));
    }
    if (auto type = cursor.find_string("type")) return *type;
    JsonCursor whole(text);
    std::string type;
    whole.object({"type"}, [&](std::string_view key) { return key == "type" && whole.read(type); });
    whole.end();
    if (!whole.ok()) return tl::unexpected(bad(whole.error()));
    return type;  // given twice, the first time as something else
  }

  Result<void> read_header() {
    auto line = content_line();
    if (!line) return tl::unexpected(line.error());
    const char* mend = "the first line must be {\"type\":\"recording\",\"version\":1,…}";
    if (!*line) return fail(Code::unreadable, fmt::format("{}:{}: no header and nothing else; {}", name, number, mend));
    const auto type = type_of(**line);
    if (!type) return tl::unexpected(type.error());
    if (*type != "recording")
      return tl::unexpected(bad(fmt::format("no header before this line of type \"{}\"; {}", *type, mend)));
    JsonCursor cursor(**line);
    parse_header(cursor, header);
    if (!cursor.ok()) return tl::unexpected(bad(cursor.error()));
    return {};
  }

  Result<void> check_time(Seconds t) {
    if (t < last_t) {
      if (last_t_line == 0) return tl::unexpected(bad(fmt::format("t {} is before the recording began, at 0", t)));
      return tl::unexpected(
          bad(fmt::format("t goes back from {} (line {}) to {}; lines stand in the order of time", last_t, last_t_line, t)));
    }
    last_t = t;
    last_t_line = number;
    return {};
  }

  Result<Seconds> parse(const std::string& type, std::string_view text, RecordingLine& out) {
    JsonCursor cursor(text);
    Seconds t = last_t;
    if (parse_input(type, cursor, std::get<Input>(out.what))) {
      t = std::get<Input>(out.what).t;
    } else if (parse_output(type, cursor, out.what.emplace<Output>())) {
      t = std::get<Output>(out.what).t;
    } else if (type == "expect") {
      auto& expectation = out.what.emplace<Expectation>();
      parse_expectation(cursor, expectation);
      expectation.text = text;
    } else if (type == "state") {
      auto& state = out.what.emplace<StateLine>();
      cursor.object({"t", "state"}, [&](std::string_view key) {
        if (key == "t") return cursor.read(state.t);
        return key == "state" && cursor.read_raw(state.json);
      });
      cursor.end();
      t = state.t;
    } else if (type == "recording") {
      return tl::unexpected(bad("a second header; one recording a file"));
    } else {
      return tl::unexpected(
          bad(fmt::format("unknown type \"{}\"; docs/recordings.md lists the types, or a newer jipsa wrote this", type)));
    }
    if (!cursor.ok()) return tl::unexpected(bad(cursor.error()));
    return t;
  }

  Result<bool> next(RecordingLine& out) {
    for (;;) {
      auto line = content_line();
      if (!line) return tl::unexpected(line.error());
      if (!*line) return false;
      const auto type = type_of(**line);
      if (!type) return tl::unexpected(type.error());
      if (*type == "ledger") {  // written by `jipsa replay --ledger`: follows from the inputs
        if (auto good = skim_ledger(**line); !good) return tl::unexpected(good.error());
        continue;
      }
      out.number = number;
      out.what.emplace<Input>();
      const auto t = parse(*type, **line, out);
      if (!t) return tl::unexpected(t.error());
      if (auto good = check_time(*t); !good) return tl::unexpected(good.error());
      return check_place(out);
    }
  }

  Result<bool> check_place(const RecordingLine& line) {
    if (std::holds_alternative<Expectation>(line.what)) return true;
    if (std::holds_alternative<StateLine>(line.what) && !may_be_state) {
      return tl::unexpected(bad("a state after other lines; it may only follow the header"));
    }
    may_be_state = false;
    return true;
  }

  Result<void> skim_ledger(std::string_view text) {
    JsonCursor cursor(text);
    Seconds t = 0;
    cursor.object({"t", "pool"}, [&](std::string_view key) { return key == "t" && cursor.read(t); });
    cursor.end();
    if (!cursor.ok()) return tl::unexpected(bad(cursor.error()));
    return check_time(t);
  }
};

RecordingReader::RecordingReader(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
RecordingReader::~RecordingReader() = default;
RecordingReader::RecordingReader(RecordingReader&&) noexcept = default;
RecordingReader& RecordingReader::operator=(RecordingReader&&) noexcept = default;

Result<RecordingReader> RecordingReader::open(const std::string& path) {
  auto impl = std::make_unique<Impl>();
  impl->name = path == "-" ? "(standard input)" : path;
  if (auto opened = impl->file.open(path); !opened) return tl::unexpected(opened.error());
  if (auto good = impl->read_header(); !good) return tl::unexpected(good.error());
  return RecordingReader(std::move(impl));
}

Result<RecordingReader> RecordingReader::from_text(std::string name, std::string text) {
  auto impl = std::make_unique<Impl>();
  impl->name = std::move(name);
  impl->buffer = std::move(text);
  impl->at_end = true;
  if (auto good = impl->read_header(); !good) return tl::unexpected(good.error());
  return RecordingReader(std::move(impl));
}

const RecordingHeader& RecordingReader::header() const { return impl_->header; }

Result<bool> RecordingReader::next(RecordingLine& line) { return impl_->next(line); }

Result<std::string> read_recording_text(const std::string& path) {
  File file;
  if (auto opened = file.open(path); !opened) return tl::unexpected(opened.error());
  std::string text;
  for (;;) {
    const auto more = file.read(path, text);
    if (!more) return tl::unexpected(more.error());
    if (!*more) return text;
  }
}

}  // namespace jipsa
