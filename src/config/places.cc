#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <cstdlib>
#include <exception>
#include <filesystem>

#include "config/config.h"

namespace jipsa {
namespace {

constexpr std::size_t kLongestSocket = sizeof(sockaddr_un{}.sun_path) - 1;

// An empty variable counts as one that is not set.
std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// Relative paths in XDG variables are to be ignored, says the standard.
std::string folder_variable(const char* name) {
  auto value = variable(name);
  return value.starts_with('/') ? value : "";
}

std::string first_of(const std::string& option, const char* name) { return option.empty() ? variable(name) : option; }

std::string absolute(const std::string& path) { return std::filesystem::absolute(path).lexically_normal().string(); }

Result<std::string> under_home(const char* variable_name, const char* option, const std::string& below) {
  const auto home = variable("HOME");
  if (home.starts_with('/')) return home + below;
  return fail(Code::bad_input, fmt::format("HOME is {}: set HOME or {}, or give {}",
                                           home.empty() ? "not set" : "not an absolute path", variable_name, option));
}

Result<std::string> find_config(const std::string& option) {
  if (const auto given = first_of(option, "JIPSA_CONFIG"); !given.empty()) return absolute(given);
  if (const auto folder = folder_variable("XDG_CONFIG_HOME"); !folder.empty()) return folder + "/jipsa/config.toml";
  return under_home("JIPSA_CONFIG", "--config", "/.config/jipsa/config.toml");
}

Result<std::string> find_state(const std::string& given) {
  if (!given.empty()) {
    auto path = absolute(given);
    if (path.size() > 1 && path.back() == '/') path.pop_back();
    return path;
  }
  if (const auto folder = folder_variable("XDG_STATE_HOME"); !folder.empty()) return folder + "/jipsa";
  return under_home("JIPSA_STATE", "--state", "/.local/state/jipsa");
}

bool is_folder(const std::string& path) {
  struct stat info{};
  return ::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

std::string find_socket(const std::string& given, bool state_given, const std::string& state_dir) {
  if (!given.empty()) return absolute(given);
  const auto runtime = folder_variable("XDG_RUNTIME_DIR");
  if (!state_given && !runtime.empty() && is_folder(runtime)) return runtime + "/jipsa/jipsa.sock";
  return state_dir + "/jipsa.sock";
}

Result<Places> find(const PlaceOptions& options) {
  const auto config_file = find_config(options.config_file);
  if (!config_file) return tl::unexpected<Error>(config_file.error());
  const auto given_state = first_of(options.state_dir, "JIPSA_STATE");
  const auto state_dir = find_state(given_state);
  if (!state_dir) return tl::unexpected<Error>(state_dir.error());
  const auto socket = find_socket(first_of(options.socket, "JIPSA_SOCKET"), !given_state.empty(), *state_dir);
  if (socket.size() > kLongestSocket)
    return fail(Code::bad_input,
                fmt::format("{}: a socket's path can have {} bytes, this one has {}; give a shorter one with --socket or "
                            "JIPSA_SOCKET",
                            socket, kLongestSocket, socket.size()));
  return Places{*config_file, *state_dir, socket};
}

}  // namespace

Result<Places> find_places(const PlaceOptions& options) {
  try {
    return find(options);
  } catch (const std::exception& e) {  // the working folder is gone, or there is no memory
    return fail(Code::io, fmt::format("the working folder can't be told: {}; give absolute paths", e.what()));
  }
}

}  // namespace jipsa
