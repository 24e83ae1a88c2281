#include <fmt/format.h>

#include <algorithm>
#include <exception>

#include "config/config.h"
#include "config/file.h"
#include "config/section.h"
#include "config/tenant.h"
#include "config/tree.h"

namespace jipsa {
namespace config {
namespace {

using Zero = Section::Zero;

// A section of the file, if it is there and is a table.
template <class F>
void with_section(Section& top, const char* key, F&& read) {
  const auto* table = top.table(key);
  if (table == nullptr) return;
  Section section(*table, top.any(key)->line, key, top.findings());
  read(section);
  section.finish();
}

void read_policy(Section& section, Policy& policy) {
  section.size("headroom", policy.headroom);
  section.size("ram_headroom", policy.ram_headroom);
  section.duration("release_window", policy.release_window, Zero::refused);
  section.duration("release_deadline", policy.release_deadline, Zero::refused);
  section.duration("ask_deadline", policy.ask_deadline, Zero::refused);
  section.duration("release_cooldown", policy.release_cooldown, Zero::allowed);
  section.duration("stuck_after", policy.stuck_after, Zero::refused);
  section.duration("idle_grace", policy.idle_grace, Zero::allowed);
  if (policy.release_window <= policy.release_deadline) return;
  section.complain("release_window",
                   fmt::format("{} s is longer than release_deadline, {} s", policy.release_window, policy.release_deadline),
                   "make it shorter, or the deadline longer");
  policy.release_window = Policy{}.release_window;
  policy.release_deadline = Policy{}.release_deadline;
}

void read_pools(Section& pools, const Table& table, Policy& policy) {
  for (const auto& member : table.members) {
    const auto* settings = pools.table(member.key.c_str());
    if (settings == nullptr) continue;
    Section section(*settings, member.line, pools.path_of(member.key), pools.findings());
    if (!good_pool(member.key)) {
      pools.complain(member.key.c_str(), "unknown pool", "pools are gpu0, gpu1, … and ram");
    } else if (member.key == "ram") {
      if (section.any("baseline") != nullptr)
        section.complain("baseline", "host memory has none: what no listed process holds is its baseline", "remove this line");
      section.finish();
    } else {
      if (Bytes baseline; section.size("baseline", baseline)) policy.baseline[member.key] = baseline;
      section.finish();
    }
  }
}

void read_sense(Section& section, Config& config) {
  const Config defaults;
  section.duration("sample_every", config.sample_every, Zero::refused);
  section.duration("idle_every", config.idle_every, Zero::refused);
  if (config.sample_every < 0.02) {
    section.complain("sample_every", fmt::format("{} s is too often", config.sample_every), "write 0.02 or more");
    config.sample_every = defaults.sample_every;
  }
  if (config.idle_every >= config.sample_every) return;
  const bool given = section.any("idle_every") != nullptr;
  section.complain(given ? "idle_every" : "sample_every", "an idle daemon would look more often than a busy one",
                   "make idle_every at least as long as sample_every");
  config.sample_every = defaults.sample_every;
  config.idle_every = defaults.idle_every;
}

void read_recording(Section& section, Config& config) {
  constexpr Bytes least{64 << 10};
  Bytes size;
  if (!section.size("max_size", size)) return;
  if (size < least)
    section.complain("max_size", "is too small to hold anything", "write \"64K\" or more");
  else
    config.recording_bytes = size.count();
}

void read_driver(Section& section, Config& config) {
  std::string path;
  if (!section.text("nvml", path)) return;
  if (path.front() != '/')
    section.complain("nvml", quoted(path) + " is not an absolute path", "begin it with '/'");
  else
    config.nvml = path;
}

void read_tenants(Section& top, Config& config) {
  const auto* value = top.any("tenant");
  if (value == nullptr) return;
  const auto* list = std::get_if<Array>(&value->data);
  if (list == nullptr) {
    top.complain("tenant", fmt::format("is {}", kind_of(*value)), "write [[tenant]], with two brackets, once for each server");
    return;
  }
  for (std::size_t i = 0; i < list->size(); ++i) {
    const auto& item = (*list)[i];
    if (const auto* table = std::get_if<Table>(&item.data))
      read_tenant(*table, item.line, i, config, top.findings());
    else
      top.findings().add(item.line, fmt::format("tenant[{}]", i), fmt::format("is {}", kind_of(item)), "write [[tenant]]");
  }
}

void read_launchers(Section& launchers, const Table& table, Config& config) {
  for (const auto& member : table.members) {
    const auto key = launchers.path_of(member.key);
    const auto* settings = std::get_if<Table>(&member.value.data);
    launchers.any(member.key.c_str());
    if (settings == nullptr) {
      launchers.findings().add(member.line, key, fmt::format("is {}", kind_of(member.value)),
                               "write [launcher.NAME] and below it command = [\"program\", \"{text}\"]");
      continue;
    }
    Section section(*settings, member.line, key, launchers.findings());
    LauncherEntry entry;
    const bool good = section.words("command", entry.command);
    if (!good && section.any("command") == nullptr)
      section.complain("command", "is missing", "write command = [\"program\", \"{text}\"]");
    section.finish();
    if (!good_name(member.key))
      launchers.complain(member.key.c_str(), quoted(member.key) + " is not a name", kNameMend);
    else if (good)
      config.launchers[member.key] = std::move(entry);
  }
}

void read_sections(const Table& table, Config& config, Findings& findings) {
  Section top(table, 0, "", findings);
  with_section(top, "policy", [&](Section& s) { read_policy(s, config.policy); });
  with_section(top, "pool", [&](Section& s) { read_pools(s, *top.table("pool"), config.policy); });
  with_section(top, "driver", [&](Section& s) { read_driver(s, config); });
  with_section(top, "sense", [&](Section& s) { read_sense(s, config); });
  with_section(top, "recording", [&](Section& s) { read_recording(s, config); });
  with_section(top, "queue", [&](Section& s) { s.duration("kill_grace", config.kill_grace, Zero::allowed); });
  with_section(top, "launcher", [&](Section& s) { read_launchers(s, *top.table("launcher"), config); });
  read_tenants(top, config);
  top.finish();
}

void read(const std::string& path, bool must_exist, ConfigReading& reading) {
  Findings findings(path, reading.findings);
  const auto text = read_file(path);
  if (!text) return findings.add(0, "", text.error().what, text.error().mend);
  if (!*text) {
    if (must_exist) findings.add(0, "", "there is no such file", "name the right one with --config");
    return;
  }
  const auto table = parse(**text);
  if (!table) return findings.add(table.error().line, "", table.error().what, table.error().mend);
  read_sections(*table, reading.config, findings);
  std::stable_sort(reading.findings.begin(), reading.findings.end(),
                   [](const auto& a, const auto& b) { return a.line < b.line; });
}

}  // namespace
}  // namespace config

std::string to_string(const ConfigFinding& finding) {
  std::string result = finding.file;
  if (finding.line > 0) result += fmt::format(":{}", finding.line);
  if (!finding.key.empty()) result += ": " + finding.key;
  result += ": " + finding.what;
  if (!finding.mend.empty()) result += "; " + finding.mend;
  return result;
}

ConfigReading read_config(const std::string& path, bool must_exist) {
  ConfigReading reading;
  try {
    config::read(path, must_exist, reading);
  } catch (const std::exception& e) {
    reading.findings.push_back(
        {path, 0, "", fmt::format("could not be read: {}", e.what()), "see to that file or name another with --config"});
  }
  return reading;
}

}  // namespace jipsa
