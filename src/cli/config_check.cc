// `jipsa config check [FILE]`: is the configuration good? Needs no daemon.
#include <unistd.h>

#include "cli/commands.h"
#include "text/utf8.h"

namespace jipsa::cli {
namespace {

std::string findings_json(const std::string& file, const std::vector<ConfigFinding>& findings) {
  std::string out = "{\"file\":";
  append_json_string(out, safe(file));
  out += ",\"findings\":[";
  for (const ConfigFinding& finding : findings) {
    if (out.back() == '}') out += ',';
    out += "{\"line\":" + std::to_string(finding.line) + ",\"key\":";
    append_json_string(out, safe(finding.key));
    out += ",\"what\":";
    append_json_string(out, safe(finding.what));
    out += ",\"mend\":";
    append_json_string(out, safe(finding.mend));
    out += '}';
  }
  return out + "]}\n";
}

}  // namespace

int cmd_config(const Session& session, const Words& words) {
  if (words.rest.empty() || words.rest.front() != "check") return complain(session, Complaint{Msg::wants_check, {}});
  if (const auto wrong = too_many(words, 2)) return complain(session, *wrong);
  std::string file;
  const bool named = words.rest.size() > 1 || !session.given.config_file.empty();
  if (words.rest.size() > 1) {
    file = words.rest[1];
  } else {
    const auto places = find_places(session.given);
    if (!places) return complain(session, places.error().code, Msg::bad_places, {{"what", places.error().what}});
    file = places->config_file;
  }
  const ConfigReading reading = read_config(file, named);
  const int exit = reading.findings.empty() ? exits::good : exits::bad_input;
  if (session.json) {
    print(session, findings_json(file, reading.findings));
    return exit;
  }
  std::string out;
  for (const ConfigFinding& finding : reading.findings) out += safe(to_string(finding)) + '\n';
  const bool absent = reading.findings.empty() && ::access(file.c_str(), F_OK) != 0;
  const Msg last = exit != exits::good ? Msg::config_bad : absent ? Msg::config_absent : Msg::config_good;
  out += say(session.lang, last, {{"file", file}, {"count", std::to_string(reading.findings.size())}}) + '\n';
  print(session, out);
  return exit;
}

}  // namespace jipsa::cli
