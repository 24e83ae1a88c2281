#include "daemon/recorder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <vector>

#include "daemon/json_text.h"
#include "daemon/log.h"

namespace jipsa {
namespace fs = std::filesystem;

Recorder::Recorder(Loop& loop, std::string dir, std::int64_t max_bytes)
    : loop_(loop), dir_(std::move(dir)), max_bytes_(max_bytes) {}

Recorder::~Recorder() {
  flush();
  loop_.cancel(timer_);
  if (fd_ >= 0) close(fd_);
}

void Recorder::begin(const RecordingHeader& header, Seconds t, const std::string& state_json, std::int64_t wall_ms) {
  flush();
  if (fd_ >= 0) close(fd_);
  fd_ = -1;
  bytes_in_file_ = 0;
  trouble_.clear();
  make_room();
  open_file(wall_ms);
  writer_ = RecordingWriter();
  writer_.header(header, buffer_);
  writer_.state(t, state_json, buffer_);
  flush_soon();
}

void Recorder::begun() {
  flush();
  bytes_in_file_ = 0;
}

void Recorder::open_file(std::int64_t wall_ms) {
  std::error_code ec;
  fs::create_directories(dir_, ec);
  std::string stamp = rfc3339(wall_ms);
  stamp.erase(std::remove_if(stamp.begin(), stamp.end(), [](char c) { return c == '-' || c == ':' || c == '.'; }), stamp.end());
  for (int n = 0; n < 100 && fd_ < 0; ++n) {
    path_ = n == 0 ? fmt::format("{}/{}.jsonl", dir_, stamp) : fmt::format("{}/{}-{:02}.jsonl", dir_, stamp, n);
    fd_ = open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0600);
    if (fd_ < 0 && errno != EEXIST) break;
  }
  if (fd_ < 0) give_up(fmt::format("cannot create {}: {}", path_, std::strerror(errno)));
}

// Names begin with the time, so their order is their age. One file's worth is kept free for the file to come.
void Recorder::make_room() const {
  std::error_code ec;
  std::vector<std::pair<std::string, std::int64_t>> files;
  std::int64_t total = 0;
  for (fs::directory_iterator it(dir_, ec), end; !ec && it != end; it.increment(ec)) {
    if (it->path().extension() != ".jsonl") continue;
    const auto size = static_cast<std::int64_t>(it->file_size(ec));
    if (ec) continue;
    files.emplace_back(it->path().string(), size);
    total += size;
  }
  std::sort(files.begin(), files.end());
  for (const auto& [path, size] : files) {
    if (total <= max_bytes_ - max_bytes_ / 8) return;
    if (fs::remove(path, ec)) total -= size;
  }
}

void Recorder::give_up(const std::string& what) {
  if (trouble_.empty()) log_line("recording.stopped", {{"what", what}});
  trouble_ = what;
  buffer_.clear();
  // Whoever records next begins a new file, as if this one were full; that comes with a look, so it is not tried in a tight loop.
  if (fd_ >= 0) close(fd_);
  fd_ = -1;
  bytes_in_file_ = 0;
}

void Recorder::input(const Input& input) {
  if (fd_ < 0) return;
  writer_.input(input, buffer_);
  flush_soon();
}

void Recorder::output(const Output& output) {
  if (fd_ < 0) return;
  RecordingWriter::output(output, buffer_);
}

void Recorder::flush_soon() {
  if (timer_ != 0 || buffer_.empty()) return;
  timer_ = loop_.after(std::chrono::seconds(1), [this] {
    timer_ = 0;
    flush();
  });
}

void Recorder::flush() {
  std::size_t written = 0;
  while (fd_ >= 0 && written < buffer_.size()) {
    const ssize_t n = write(fd_, buffer_.data() + written, buffer_.size() - written);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return give_up(fmt::format("cannot write {}: {}", path_, std::strerror(errno)));
    written += static_cast<std::size_t>(n);
  }
  bytes_in_file_ += static_cast<std::int64_t>(written);
  buffer_.clear();
}

}  // namespace jipsa
