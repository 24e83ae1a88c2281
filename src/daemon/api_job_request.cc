// What POST /v1/jobs says, checked.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <set>

#include "daemon/api.h"

namespace jipsa {
namespace {

using nlohmann::json;

// Thrown and caught inside this file alone: a wrong word anywhere ends the reading.
struct Wrong {
  std::string what;
};

[[noreturn]] void wrong(std::string what) { throw Wrong{std::move(what)}; }

std::string text_at(const json& object, const char* key) {
  const auto it = object.find(key);
  if (it == object.end() || it->is_null()) return "";
  if (!it->is_string()) wrong(fmt::format("{}: must be a string", key));
  auto text = it->get<std::string>();
  if (text.find('\0') != std::string::npos) wrong(fmt::format("{}: a NUL character; leave it out", key));
  return text;
}

std::vector<std::string> texts_at(const json& object, const char* key) {
  std::vector<std::string> list;
  const auto it = object.find(key);
  if (it == object.end() || it->is_null()) return list;
  if (!it->is_array()) wrong(fmt::format("{}: must be a list of strings", key));
  for (std::size_t i = 0; i < it->size(); ++i) {
    const json& item = (*it)[i];
    if (!item.is_string()) wrong(fmt::format("{}[{}]: must be a string", key, i));
    list.push_back(item.get<std::string>());
    if (list.back().find('\0') != std::string::npos) wrong(fmt::format("{}[{}]: a NUL character; leave it out", key, i));
  }
  return list;
}

std::int64_t integer(const json& value, const std::string& place, std::int64_t least, std::int64_t most) {
  const bool whole =
      value.is_number_integer() && (!value.is_number_unsigned() || value.get<std::uint64_t>() <= std::uint64_t{INT64_MAX});
  if (!whole) wrong(fmt::format("{}: must be a whole number", place));
  const auto number = value.get<std::int64_t>();
  if (number < least || number > most) wrong(fmt::format("{}: {} is not between {} and {}", place, number, least, most));
  return number;
}

bool is_pool(const std::string& pool) {
  if (pool == "gpu" || pool == "ram") return true;
  return pool.size() > 3 && pool.size() < 8 && pool.rfind("gpu", 0) == 0 &&
         pool.find_first_not_of("0123456789", 3) == std::string::npos;
}

std::vector<Need> needs_at(const json& object) {
  std::vector<Need> needs;
  const auto it = object.find("needs");
  if (it == object.end() || it->is_null()) return needs;
  if (!it->is_object()) wrong("needs: must be an object such as {\"gpu\":17179869184}");
  for (const auto& [pool, bytes] : it->items()) {
    if (!is_pool(pool)) wrong(fmt::format("needs.{}: no such pool; use gpu (any one card), gpu0, gpu1 … or ram", pool));
    const std::int64_t count = integer(bytes, "needs." + pool, 0, std::int64_t{1} << 60);
    if (count > 0) needs.push_back({pool, Bytes{count}});  // nothing needed is no need
  }
  std::size_t cards = 0;
  for (const Need& need : needs) cards += need.pool != "ram" ? 1 : 0;
  if (cards > 1 && object["needs"].contains("gpu"))
    wrong("needs: \"gpu\" (any one card) beside a card by name; give one or the other");
  return needs;
}

std::vector<JobId> ids_at(const json& object) {
  std::vector<JobId> ids;
  const auto it = object.find("after");
  if (it == object.end() || it->is_null()) return ids;
  if (!it->is_array()) wrong("after: must be a list of job ids");
  std::set<JobId> seen;
  for (std::size_t i = 0; i < it->size(); ++i) {
    const JobId id = integer((*it)[i], fmt::format("after[{}]", i), 1, INT64_MAX);
    if (seen.insert(id).second) ids.push_back(id);
  }
  return ids;
}

template <class Map>
std::string names_of(const Map& map) {
  std::string names;
  for (const auto& [key, value] : map) names += (names.empty() ? "" : ", ") + key;
  return names.empty() ? "none is configured" : "there are: " + names;
}

void read_command(const json& object, const Config& config, JobRecord& record) {
  record.command = texts_at(object, "command");
  record.launcher = text_at(object, "launcher");
  record.text = text_at(object, "text");
  if (record.launcher.empty()) {
    if (!record.text.empty()) wrong("text: given without a launcher; name one in launcher");
    if (record.command.empty()) wrong("command: missing or empty; give [\"program\",\"argument\",…], or launcher and text");
    if (record.command.front().empty()) wrong("command[0]: empty; name a program");
    return;
  }
  if (!record.command.empty()) wrong("command: given beside launcher; give one or the other");
  if (record.text.empty()) wrong("text: missing or empty; a launcher needs the job's instructions");
  const auto it = config.launchers.find(record.launcher);
  if (it == config.launchers.end())
    throw Error{Code::not_found, fmt::format("no launcher \"{}\"; {}", record.launcher, names_of(config.launchers))};
  record.command = it->second.command;
}

void read_place(const json& object, JobRecord& record) {
  record.env = texts_at(object, "env");
  for (std::size_t i = 0; i < record.env.size(); ++i) {
    const auto equals = record.env[i].find('=');
    if (equals == std::string::npos || equals == 0) wrong(fmt::format("env[{}]: must be NAME=VALUE", i));
  }
  const char* home = std::getenv("HOME");
  if (!object.contains("env") || object["env"].is_null()) {
    record.env = {"PATH=/usr/local/bin:/usr/bin:/bin"};
    if (home != nullptr) record.env.push_back(fmt::format("HOME={}", home));
  }
  record.dir = text_at(object, "dir");
  if (record.dir.empty()) record.dir = home != nullptr && *home == '/' ? home : "/";
  if (record.dir.front() != '/') wrong(fmt::format("dir: \"{}\" is not absolute; give a path from /", record.dir));
}

void read_tenant(const json& object, const Config& config, JobRecord& record) {
  record.job.tenant = text_at(object, "tenant");
  record.job.bundle = text_at(object, "bundle");
  if (record.job.tenant.empty()) {
    if (!record.job.bundle.empty()) wrong("bundle: given without the tenant that loads it; name it in tenant");
    return;
  }
  std::string names;
  for (const TenantEntry& entry : config.tenants) {
    if (entry.id == record.job.tenant) return;
    names += (names.empty() ? "" : ", ") + entry.id;
  }
  throw Error{Code::not_found, fmt::format("no tenant \"{}\"; {}", record.job.tenant,
                                           names.empty() ? "none is configured" : "there are: " + names)};
}

JobRecord read(const json& object, const Config& config) {
  if (!object.is_object()) wrong("the body must be a JSON object");
  static const std::set<std::string> known{"name",   "command", "dir",   "env",      "needs", "priority",
                                           "tenant", "bundle",  "after", "launcher", "text"};
  for (const auto& [key, value] : object.items()) {
    if (known.count(key) == 0) wrong(fmt::format("{}: no such key; see docs/api.md", key));
  }
  JobRecord record;
  record.job.name = text_at(object, "name");
  record.job.needs = needs_at(object);
  record.job.after = ids_at(object);
  if (const auto it = object.find("priority"); it != object.end() && !it->is_null()) {
    record.job.priority = integer(*it, "priority", -1000000, 1000000);
  }
  read_tenant(object, config, record);
  read_command(object, config, record);
  read_place(object, record);
  return record;
}

}  // namespace

Result<JobRecord> parse_job(const std::string& body, const Config& config) {
  try {
    return read(json::parse(body), config);
  } catch (const Wrong& error) { return fail(Code::bad_input, error.what); } catch (const Error& error) {
    return tl::unexpected(error);
  } catch (const json::exception& error) { return fail(Code::bad_input, fmt::format("the body is not JSON: {}", error.what())); }
}

}  // namespace jipsa
