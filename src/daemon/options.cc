#include "daemon/options.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <system_error>

namespace jipsa {

std::optional<Options> parse_options(int argc, char** argv, const std::string& version, int& exit_code) {
  Options options;
  CLI::App app{
      "The daemon of Jipsa: watches the machine's memory and starts jobs when they fit. It stays in the foreground and logs to "
      "standard error."};
  bool foreground = true;
  app.add_option("--config", options.places.config_file, "configuration file");
  app.add_option("--state", options.places.state_dir, "folder of jobs, outputs and recordings");
  app.add_option("--socket", options.places.socket, "socket that jipsa talks to");
  app.add_flag("--foreground", foreground, "stay in the foreground (it always does)");
  app.set_version_flag("--version", "jipsad " + version);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    exit_code = app.exit(error) == 0 ? 0 : 2;
    return std::nullopt;
  }
  options.config_named = !options.places.config_file.empty();
  return options;
}

Result<std::string> find_helper(const std::string& program) {
  std::error_code ec;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", ec).parent_path();
  for (const std::filesystem::path& dir : {self, self.parent_path() / "libexec" / "jipsa"}) {
    const std::string path = (dir / program).string();
    if (access(path.c_str(), X_OK) == 0) return path;
  }
  return fail(Code::not_found, fmt::format("{} is neither in {} nor in {}/libexec/jipsa; install it there", program,
                                           self.string(), self.parent_path().string()));
}

}  // namespace jipsa
