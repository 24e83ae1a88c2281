// jipsad: the daemon.
#include <fmt/format.h>
#include <signal.h>

#include <exception>

#include "daemon/daemon.h"
#include "daemon/log.h"
#include "daemon/options.h"
#include "daemon/state_lock.h"

namespace jipsa {
namespace {

int exit_code_of(Code code) {
  switch (code) {
    case Code::bad_input:
      return 2;
    case Code::not_found:
      return 3;
    case Code::conflict:
    case Code::refused:
      return 4;
    case Code::unsupported:
      return 5;
    case Code::io:
      return 6;
    case Code::running:
      return 9;
    default:
      return 7;
  }
}

int complain(const Error& error) {
  fmt::print(stderr, "jipsad: {}\n", error.what);
  return exit_code_of(error.code);
}

// Before the first thread, so that every thread inherits it.
void set_signals() {
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN);  // a file that may not grow is an error of a write, not our end
  signal(SIGHUP, SIG_IGN);   // the terminal that it was started from may go
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGINT);
  sigprocmask(SIG_BLOCK, &set, nullptr);
}

int run(const Options& options) {
  auto places = find_places(options.places);
  if (!places) return complain(places.error());
  ConfigReading reading = read_config(places->config_file, options.config_named);
  for (const ConfigFinding& finding : reading.findings) fmt::print(stderr, "jipsad: {}\n", to_string(finding));
  if (!reading.findings.empty()) return 2;
  auto shim = find_helper("jipsa-shim");
  if (!shim) return complain(shim.error());
  auto nvml = find_helper("jipsa-nvml");
  if (!nvml) return complain(nvml.error());
  auto lock = StateLock::take(places->state_dir);
  if (!lock) return complain(lock.error());
  auto daemon = Daemon::make({std::move(reading.config), *places, JIPSA_VERSION, *shim, *nvml});
  if (!daemon) return complain(daemon.error());
  (*daemon)->run();
  return 0;
}

}  // namespace
}  // namespace jipsa

int main(int argc, char** argv) {
  try {
    int exit_code = 0;
    const auto options = jipsa::parse_options(argc, argv, JIPSA_VERSION, exit_code);
    if (!options) return exit_code;
    jipsa::set_signals();
    return jipsa::run(*options);
  } catch (const std::exception& error) {
    fmt::print(stderr, "jipsad: {}\n", error.what());
    return 7;
  }
}
