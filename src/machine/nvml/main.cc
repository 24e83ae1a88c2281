// jipsa-nvml [LIBRARY]: reads NVIDIA cards for jipsad, in a process of its own because the driver's library may hang or crash.
// Requests come on standard input, answers go to standard output (machine/driver_protocol.h). It ends when its input closes.
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <optional>
#include <string>

#include "machine/driver_protocol.h"
#include "machine/nvml/cards.h"
#include "machine/nvml/library.h"

namespace {

using jipsa::DriverReading;

bool write_all(std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = write(STDOUT_FILENO, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return false;
    text.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

std::optional<std::string> read_line(std::string& buffer) {
  for (;;) {
    if (const std::size_t end = buffer.find('\n'); end != std::string::npos) {
      std::string line = buffer.substr(0, end);
      buffer.erase(0, end + 1);
      return line;
    }
    char piece[256];
    const ssize_t n = read(STDIN_FILENO, piece, sizeof piece);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0 || buffer.size() > 4096) return std::nullopt;
    buffer.append(piece, static_cast<std::size_t>(n));
  }
}

class Helper {
 public:
  explicit Helper(std::string library) : library_(std::move(library)) {}

  int run() {
    std::string buffer;
    while (!finished_) {
      const auto line = read_line(buffer);
      if (!line) return 0;
      const auto request = jipsa::parse_request(*line);
      if (!request) {
        std::fprintf(stderr, "jipsa-nvml: %s\n", request.error().what.c_str());
        return 2;
      }
      if (!write_all(jipsa::write_answer({request->id, answer(request->processes)}))) return 1;
    }
    return 0;
  }

 private:
  DriverReading answer(bool processes) {
    if (!cards_) {
      const auto calls = jipsa::nvml::load(library_);
      if (!calls) return unloadable(calls.error());
      cards_.emplace(*calls);
    }
    DriverReading reading = cards_->read(processes);
    finished_ = cards_->worn();
    return reading;
  }

  // Nothing will change within this process: the daemon starts another one when it is time to look again.
  DriverReading unloadable(const jipsa::Error& error) {
    finished_ = true;
    DriverReading reading;
    reading.state = error.code == jipsa::Code::not_found ? DriverReading::State::none : DriverReading::State::failed;
    reading.trouble = error.what.substr(0, 500);
    reading.steady_ns = jipsa::nvml::boot_time_ns();
    return reading;
  }

  std::string library_;
  std::optional<jipsa::nvml::Cards> cards_;
  bool finished_ = false;
};

}  // namespace

int main(int argc, char** argv) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // a call that hangs for ever must not outlive the daemon; a closed input ends the rest
  signal(SIGPIPE, SIG_IGN);
  if (argc > 2) {
    std::fputs("usage: jipsa-nvml [LIBRARY]   (requests on standard input)\n", stderr);
    return 2;
  }
  return Helper(argc == 2 ? argv[1] : "").run();
}
