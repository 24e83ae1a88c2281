#include "daemon/log.h"

#include <unistd.h>

namespace jipsa {
namespace {

bool plain(std::string_view value) {
  if (value.empty()) return false;
  for (const char c : value) {
    if (c == ' ' || c == '"' || c == '=' || c == '\\' || static_cast<unsigned char>(c) < 0x20) return false;
  }
  return true;
}

std::string quoted(std::string_view value) {
  std::string out = "\"";
  for (const char c : value) {
    if (c == '"' || c == '\\') out += '\\';
    out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return out + '"';
}

}  // namespace

void log_line(std::string_view event, std::initializer_list<std::pair<std::string_view, std::string>> fields) {
  std::string line(event);
  for (const auto& [key, value] : fields) {
    line += ' ';
    line += key;
    line += '=';
    line += plain(value) ? value : quoted(value);
  }
  line += '\n';
  // One write a line: lines of jobs and of helpers that share this file do not get mixed into it. A log that can't be written
  // (its reader is gone) must not stop the daemon.
  [[maybe_unused]] const auto n = write(STDERR_FILENO, line.data(), line.size());
}

}  // namespace jipsa
