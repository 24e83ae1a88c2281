#include "config/tenant.h"

#include <fmt/format.h>

#include <algorithm>

namespace jipsa::config {
namespace {

const std::vector<std::string> kKinds = {"comfyui"};
constexpr std::int64_t kHighestPid = 4'194'304;

bool required(Section& section, const char* key, std::string& out, const char* mend) {
  if (section.text(key, out)) return true;
  if (section.any(key) == nullptr) section.complain(key, "is missing", mend);
  return false;
}

// Each of the three is looked at, whatever is wrong with the others.
bool read_id(Section& section, const Config& config, TenantEntry& entry) {
  if (!required(section, "id", entry.id, "write id = \"comfyui\", a name of your choice")) return false;
  if (!good_name(entry.id)) {
    section.complain("id", quoted(entry.id) + " is not a name", kNameMend);
    return false;
  }
  const bool taken =
      std::any_of(config.tenants.begin(), config.tenants.end(), [&](const auto& other) { return other.id == entry.id; });
  if (taken) section.complain("id", quoted(entry.id) + " is the id of an earlier tenant too", "give each its own");
  return !taken;
}

bool read_kind(Section& section, TenantEntry& entry) {
  const auto mend = "known kinds: " + listed(kKinds);
  if (!required(section, "kind", entry.kind, mend.c_str())) return false;
  if (std::find(kKinds.begin(), kKinds.end(), entry.kind) != kKinds.end()) return true;
  const auto near = nearest(entry.kind, kKinds);
  section.complain("kind", quoted(entry.kind) + " is not a known kind",
                   near.empty() ? mend : fmt::format("did you mean \"{}\"?", near));
  return false;
}

bool read_address(Section& section, const Config& config, TenantEntry& entry) {
  if (!required(section, "url", entry.url, "write url = \"http://127.0.0.1:8188\"")) return false;
  const auto url = read_url(entry.url);
  if (!url) {
    section.complain("url", url.error().what, url.error().mend);
    return false;
  }
  entry.url = *url;
  const auto same =
      std::find_if(config.tenants.begin(), config.tenants.end(), [&](const auto& other) { return other.url == entry.url; });
  if (same == config.tenants.end()) return true;
  section.complain("url", fmt::format("is the url of tenant {} too", quoted(same->id)),
                   "remove one of the two: a server is one tenant");
  return false;
}

bool good_unit(std::string_view unit) {
  if (unit.starts_with("user:")) unit.remove_prefix(5);
  const auto good = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view(":_.\\@-").find(c) != std::string_view::npos;
  };
  return !unit.empty() && unit.front() != '-' && std::all_of(unit.begin(), unit.end(), good);
}

void read_unit(Section& section, TenantEntry& entry) {
  if (!section.text("unit", entry.unit)) return;
  if (!good_unit(entry.unit)) {
    section.complain("unit", quoted(entry.unit) + " is not a unit's name",
                     "write \"comfyui.service\", or \"user:comfyui.service\" for your own manager");
    entry.unit.clear();
  } else if (section.any("restart_command") != nullptr) {
    section.complain("unit", "stands beside restart_command", "keep one of the two");
  }
}

void read_restart(Section& section, TenantEntry& entry, TenantPolicy& policy) {
  section.words("restart_command", entry.restart_command);
  read_unit(section, entry);
  section.duration("restart_deadline", entry.restart_deadline, Section::Zero::refused);
  std::string leave;
  if (!section.text("restart", leave)) return;
  if (leave == "never") {
    policy.restart = RestartLeave::never;
  } else if (leave == "ask") {
    policy.restart = RestartLeave::ask;
  } else if (leave != "auto") {
    section.complain("restart", quoted(leave) + " is not known", "write \"never\", \"ask\" or \"auto\"");
  } else if (!entry.restart_command.empty() || !entry.unit.empty()) {
    policy.restart = RestartLeave::automatic;
  } else if (section.any("restart_command") == nullptr && section.any("unit") == nullptr) {
    section.complain("restart", "\"auto\" needs a way to restart", "add restart_command = [\"…\"] or unit = \"….service\"");
  }  // else what is wrong with the way is reported already
}

void read_floor(Section& section, TenantPolicy& policy) {
  const auto* table = section.table("floor");
  if (table == nullptr) return;
  for (const auto& member : table->members) {
    const auto key = section.path_of("floor." + member.key);
    const auto size = size_of(member.value);
    if (!good_pool(member.key))
      section.findings().add(member.line, key, "unknown pool", "pools are gpu0, gpu1, … and ram");
    else if (!size)
      section.findings().add(member.line, key, size.error().what, size.error().mend);
    else
      policy.floor[member.key] = *size;
  }
}

}  // namespace

void read_tenant(const Table& table, int line, std::size_t position, Config& config, Findings& findings) {
  Section section(table, line, fmt::format("tenant[{}]", position), findings);
  TenantEntry entry;
  TenantPolicy policy;
  const bool id = read_id(section, config, entry);
  const bool kind = read_kind(section, entry);
  const bool address = read_address(section, config, entry);
  read_restart(section, entry, policy);
  section.flag("keep", policy.keep);
  section.integer("slots", policy.slots, 1, 1000);
  if (std::int64_t pid = 0; section.integer("pid", pid, 1, kHighestPid)) entry.pid = static_cast<Pid>(pid);
  read_floor(section, policy);
  section.finish();
  if (!id || !kind || !address) return;
  config.policy.tenants[entry.id] = std::move(policy);
  config.tenants.push_back(std::move(entry));
}

}  // namespace jipsa::config
