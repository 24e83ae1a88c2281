#include "tenants/comfyui_answers.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

namespace jipsa::comfyui {

namespace {

using nlohmann::json;

// More than any card or machine holds, less than what arithmetic on it could overflow.
constexpr std::int64_t kMostBytes = std::int64_t{1} << 50;
constexpr std::int64_t kMostCount = 1'000'000'000;
constexpr std::int64_t kMostDevices = 1024;
constexpr std::int64_t kYear2100Ms = 4'102'444'800'000;
constexpr std::size_t kLongestText = 200;

void add(std::string& trouble, const std::string& finding) {
  if (!trouble.empty()) trouble += "; ";
  trouble += finding;
}

// A server's words are shown on terminals: no control characters, and not endless. Cuts between UTF-8 characters.
std::string printable(const std::string& text, std::size_t longest = kLongestText) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (out.size() >= longest && (byte & 0xC0) != 0x80) break;
    out += byte < 0x20 || byte == 0x7f ? ' ' : c;
  }
  return out;
}

// The beginning of an answer that is not JSON; bytes outside ASCII may not be text at all.
std::string beginning(const std::string& body) {
  if (body.empty()) return "it is empty";
  std::string out = printable(body.substr(0, 40));
  std::replace_if(out.begin(), out.end(), [](char c) { return static_cast<unsigned char>(c) >= 0x80; }, '?');
  return fmt::format("it begins \"{}\"", out);
}

std::optional<json> parse_object(const std::string& body, std::string& trouble) {
  json value = json::parse(body, nullptr, false);
  if (value.is_discarded()) {
    add(trouble, fmt::format("not JSON, or cut off: {}", beginning(body)));
    return {};
  }
  if (!value.is_object()) {
    add(trouble, fmt::format("a JSON {} where an object was expected", value.type_name()));
    return {};
  }
  return value;
}

// The member, or null where there is none (or it is null): older servers leave fields out.
const json* member(const json& object, const char* key) {
  const auto found = object.find(key);
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

std::optional<std::int64_t> whole(const json& value) {
  if (value.is_number_unsigned() && value.get<std::uint64_t>() > static_cast<std::uint64_t>(INT64_MAX)) return {};
  if (value.is_number_integer()) return value.get<std::int64_t>();
  if (!value.is_number_float()) return {};
  const double number = value.get<double>();
  if (!std::isfinite(number) || std::abs(number) > 9e15) return {};
  return static_cast<std::int64_t>(number);
}

// A whole number from `least` to `most`; a missing one is unknown, a wrong one is unknown and trouble.
std::optional<std::int64_t> number(const json& object, const char* key, std::int64_t least, std::int64_t most,
                                   const std::string& where, std::string& trouble) {
  const json* value = member(object, key);
  if (value == nullptr) return {};
  const auto count = whole(*value);
  if (!value->is_number()) {
    add(trouble, fmt::format("{}{} is a {}, not a number", where, key, value->type_name()));
    return {};
  }
  if (!count || *count < least || *count > most) {
    add(trouble, fmt::format("{}{} = {} can't be true", where, key, printable(value->dump(), 40)));
    return {};
  }
  return count;
}

std::optional<Bytes> amount(const json& object, const char* key, std::int64_t least, const std::string& where,
                            std::string& trouble) {
  const auto count = number(object, key, least, kMostBytes, where, trouble);
  if (!count) return {};
  return Bytes{*count};
}

std::string text(const json& object, const char* key, const std::string& where, std::string& trouble) {
  const json* value = member(object, key);
  if (value == nullptr) return "";
  if (!value->is_string()) {
    add(trouble, fmt::format("{}{} is a {}, not a text", where, key, value->type_name()));
    return "";
  }
  return printable(value->get<std::string>());
}

// The figures must not contradict each other: of two that do, nobody knows which is right.
void check_against_total(DeviceReport& device, const std::string& where, std::string& trouble) {
  if (!device.total) return;
  if (device.free && *device.free > *device.total) {
    add(trouble, where + "more is free than there is");
    device.free.reset();
  }
  if (device.own && *device.own > *device.total) {
    add(trouble, where + "torch_vram_total is more than vram_total");
    device.own.reset();
  }
}

std::optional<Bytes> device_free(std::optional<Bytes> said_free, std::optional<Bytes> cache, const std::string& where,
                                 std::string& trouble) {
  if (!said_free || !cache) return {};
  if (*cache > *said_free) {
    add(trouble, where + "torch_vram_free is more than vram_free");
    return {};
  }
  return *said_free - *cache;
}

void read_amounts(const json& row, DeviceReport& device, const std::string& where, std::string& trouble) {
  device.total = amount(row, "vram_total", 1, where, trouble);
  const auto said_free = amount(row, "vram_free", 0, where, trouble);
  if (device.host_memory) {
    // The torch_ fields repeat the machine's RAM here; they say nothing of what this server holds.
    device.free = said_free;
  } else {
    // vram_free counts what the server's own allocator could reuse as free; to everyone else it is in use.
    device.free = device_free(said_free, amount(row, "torch_vram_free", 0, where, trouble), where, trouble);
    device.own = amount(row, "torch_vram_total", 0, where, trouble);
  }
  check_against_total(device, where, trouble);
}

std::optional<DeviceReport> read_device(const json& row, std::size_t place, std::string& trouble) {
  const std::string where = fmt::format("devices[{}].", place);
  if (!row.is_object()) {
    add(trouble, fmt::format("devices[{}] is a {}, not an object", place, row.type_name()));
    return {};
  }
  const std::string type = text(row, "type", where, trouble);
  if (type.empty()) {  // it could be a card or host memory: its figures can't be put anywhere
    add(trouble, where + "type is missing");
    return {};
  }
  DeviceReport device;
  device.host_memory = type == "cpu";
  device.name = text(row, "name", where, trouble);
  device.index = number(row, "index", 0, kMostDevices - 1, where, trouble);
  read_amounts(row, device, where, trouble);
  return device;
}

std::optional<std::int64_t> length(const json& object, const char* key, std::string& trouble) {
  const json* value = member(object, key);
  if (value != nullptr && value->is_array()) return static_cast<std::int64_t>(value->size());
  add(trouble, fmt::format("{} is {}, not a list", key, value == nullptr ? "missing" : value->type_name()));
  return {};
}

// A message is [name, {…, "timestamp": ms}].
std::optional<std::int64_t> stamp(const json& message) {
  if (!message.is_array() || message.size() < 2 || !message[1].is_object()) return {};
  const json* value = member(message[1], "timestamp");
  if (value == nullptr) return {};
  const auto ms = whole(*value);
  if (!ms || *ms <= 0 || *ms > kYear2100Ms) return {};
  return ms;
}

std::optional<std::int64_t> newest_stamp(const json& item) {
  const json* status = item.is_object() ? member(item, "status") : nullptr;
  const json* messages = status != nullptr && status->is_object() ? member(*status, "messages") : nullptr;
  if (messages == nullptr || !messages->is_array()) return {};
  std::optional<std::int64_t> newest;
  for (const json& message : *messages) newest = std::max(newest, stamp(message));
  return newest;
}

}  // namespace

Stats read_system_stats(const std::string& body) {
  Stats stats;
  const auto root = parse_object(body, stats.trouble);
  if (!root) return stats;
  if (const json* system = member(*root, "system"); system != nullptr && system->is_object()) {
    stats.version = text(*system, "comfyui_version", "system.", stats.trouble);
  } else {
    add(stats.trouble, fmt::format("system is {}, not an object", system == nullptr ? "missing" : system->type_name()));
  }
  const json* devices = member(*root, "devices");
  if (devices == nullptr || !devices->is_array()) {
    add(stats.trouble, fmt::format("devices is {}, not a list", devices == nullptr ? "missing" : devices->type_name()));
    return stats;
  }
  const auto rows = std::min<std::size_t>(devices->size(), kMostDevices);
  for (std::size_t i = 0; i < rows; ++i) {
    if (auto device = read_device((*devices)[i], i, stats.trouble)) stats.devices.push_back(std::move(*device));
  }
  return stats;
}

Remaining read_prompt(const std::string& body) {
  Remaining remaining;
  const auto root = parse_object(body, remaining.trouble);
  if (!root) return remaining;
  const json* info = member(*root, "exec_info");
  if (info == nullptr || !info->is_object()) {
    add(remaining.trouble, fmt::format("exec_info is {}, not an object", info == nullptr ? "missing" : info->type_name()));
    return remaining;
  }
  if (member(*info, "queue_remaining") == nullptr) add(remaining.trouble, "exec_info.queue_remaining is missing");
  remaining.count = number(*info, "queue_remaining", 0, kMostCount, "exec_info.", remaining.trouble);
  return remaining;
}

Queue read_queue(const std::string& body) {
  Queue queue;
  const auto root = parse_object(body, queue.trouble);
  if (!root) return queue;
  queue.running = length(*root, "queue_running", queue.trouble);
  queue.pending = length(*root, "queue_pending", queue.trouble);
  return queue;
}

History read_history(const std::string& body) {
  History history;
  const auto root = parse_object(body, history.trouble);
  if (!root) return history;
  for (const json& item : *root) history.newest_ms = std::max(history.newest_ms, newest_stamp(item));
  return history;
}

std::string not_data(const HttpAnswer& answer) {
  if (answer.outcome != HttpAnswer::Outcome::answered) return answer.error;
  switch (answer.status) {
    case 200:
      return "";
    case 401:
      return "HTTP 401: something in front of the server asks for a password; give `url` the server's own address";
    case 403:
      return "HTTP 403: refused; something stands in front of the server: give `url` the server's own address";
    case 404:
      return "HTTP 404: no such page; is this a ComfyUI server, and is the path in `url` right?";
    case 500:
      return "HTTP 500: the server failed to answer; its log holds a traceback";
    case 502:
    case 503:
    case 504:
      return fmt::format("HTTP {}: a proxy answers, the server behind it does not", answer.status);
    default:
      return fmt::format("HTTP {} where 200 was expected", answer.status);
  }
}

namespace {

std::string free_refused(int status) {
  switch (status) {
    case 401:
    case 407:
      return "a proxy in front of the server asks for a password; give `url` the server's own address";
    case 403:
      return "refused for its origin, or by a proxy in front of the server; give `url` the server's own address";
    case 404:
    case 405:
      return "this server has no /free (ComfyUI older than 2024-01-04), or the path in `url` is wrong; update it, or allow a "
             "restart";
    case 500:
      return "the server (or a proxy) could not read the request or failed on it; its log holds a traceback";
    case 502:
    case 503:
    case 504:
      return "a proxy answers, the server behind it does not; look whether the server runs";
    default:
      if (status >= 300 && status < 400) return "a redirect, which is not followed; give `url` the address it points to";
      return "not the answer of a ComfyUI server; check `url`";
  }
}

}  // namespace

ReleaseAnswer read_free(const HttpAnswer& answer, const std::string& address) {
  ReleaseAnswer release;
  const std::string what = "POST " + address + "/free: ";
  if (answer.outcome == HttpAnswer::Outcome::connection_refused) {
    release.error = what + "connection refused: the server does not run, or not there; nothing was asked";
    return release;
  }
  if (answer.status == 0) {
    release.error = what + answer.error + "; the request may still be carried out";
    return release;
  }
  release.status = answer.status;
  release.ok = answer.status == 200;
  if (!release.ok) release.error = what + fmt::format("HTTP {}: {}", answer.status, free_refused(answer.status));
  return release;
}

}  // namespace jipsa::comfyui
