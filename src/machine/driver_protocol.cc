#include "machine/driver_protocol.h"

#include <charconv>
#include <utility>

namespace jipsa {
namespace {

constexpr std::size_t longest_line = 4096, most_lines = 200'000;  // a helper gone mad must not fill the daemon's memory

std::string escape(std::string_view text) {
  static constexpr char hex[] = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte != 0x7F && c != '%') {
      out += c;
    } else {
      out += {'%', hex[byte >> 4], hex[byte & 15]};
    }
  }
  return out;
}

template <class T>
std::optional<T> number(std::string_view text, int base = 10) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<std::string> unescape(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    const auto byte = i + 2 < text.size() ? number<unsigned char>(text.substr(i + 1, 2), 16) : std::nullopt;
    if (!byte) return std::nullopt;
    out += static_cast<char>(*byte);
    i += 2;
  }
  return out;
}

const char* word(DriverReading::State state) {
  switch (state) {
    case DriverReading::State::ok:
      return "ok";
    case DriverReading::State::none:
      return "none";
    case DriverReading::State::failed:
      return "failed";
    case DriverReading::State::silent:
      break;
  }
  return "silent";
}

std::optional<DriverReading::State> state_of(std::string_view text) {
  using State = DriverReading::State;
  for (const State state : {State::ok, State::none, State::failed, State::silent}) {
    if (text == word(state)) return state;
  }
  return std::nullopt;
}

void put(std::string& out, std::string_view key, std::string_view value) {
  out.append(key).append("=").append(escape(value)).append("\n");
}

void put(std::string& out, std::string_view key, const std::optional<Bytes>& bytes) {
  if (bytes) put(out, key, std::to_string(bytes->count()));
}

void put_card(std::string& out, const GpuReading& card) {
  put(out, "gpu", std::to_string(card.index));
  put(out, "uuid", card.uuid);
  put(out, "name", card.name);
  put(out, "total", card.total);
  put(out, "used", card.used);
  put(out, "free", card.free);
  put(out, "reserved", card.reserved);
  put(out, "card_trouble", card.trouble);
  if (!card.processes) return;
  put(out, "processes", "known");
  for (const DeviceProcess& row : *card.processes) {
    put(out, "row", std::to_string(row.pid) + (row.bytes ? " " + std::to_string(row.bytes->count()) : ""));
  }
}

std::optional<DeviceProcess> row_of(std::string_view text) {
  const std::size_t space = text.find(' ');
  const auto pid = number<Pid>(text.substr(0, space));
  if (!pid) return std::nullopt;
  DeviceProcess row{*pid, std::nullopt};
  if (space != std::string_view::npos) {
    const auto bytes = number<std::int64_t>(text.substr(space + 1));
    if (!bytes) return std::nullopt;
    row.bytes = Bytes{*bytes};
  }
  return row;
}

tl::unexpected<Error> nonsense(std::string_view what, std::string_view line) {
  return fail(Code::unreadable, "jipsa-nvml's answer: " + std::string(what) + ": \"" + escape(line.substr(0, 80)) +
                                    "\"; are jipsad and jipsa-nvml of one version?");
}

}  // namespace

std::string write_request(const DriverRequest& request) {
  return std::string("read ") + (request.processes ? "processes " : "totals ") + std::to_string(request.id) + "\n";
}

Result<DriverRequest> parse_request(std::string_view line) {
  for (const bool processes : {false, true}) {
    const std::string_view head = processes ? "read processes " : "read totals ";
    if (!line.starts_with(head)) continue;
    if (const auto id = number<std::uint64_t>(line.substr(head.size()))) return DriverRequest{*id, processes};
  }
  return fail(Code::bad_input,
              "\"" + escape(line.substr(0, 80)) + "\" is no request; write: read totals N, or: read processes N");
}

std::string write_answer(const DriverAnswer& answer) {
  std::string out = "begin " + std::to_string(answer.id) + "\n";
  put(out, "state", word(answer.reading.state));
  put(out, "trouble", answer.reading.trouble);
  put(out, "driver", answer.reading.driver_version);
  for (const GpuReading& card : answer.reading.gpus) put_card(out, card);
  put(out, "at", std::to_string(answer.reading.steady_ns));
  return out + "end " + std::to_string(answer.id) + "\n";
}

Result<void> AnswerReader::feed(std::string_view bytes, std::vector<DriverAnswer>& out) {
  while (!bytes.empty()) {
    const std::size_t end = bytes.find('\n');
    rest_.append(bytes.substr(0, end));
    if (rest_.size() > longest_line) return nonsense("a line without end", rest_);
    if (end == std::string_view::npos) return {};
    bytes.remove_prefix(end + 1);
    if (auto taken = line(std::exchange(rest_, {}), out); !taken) return taken;
  }
  return {};
}

Result<void> AnswerReader::line(std::string_view text, std::vector<DriverAnswer>& out) {
  if (!open_) return open(text);
  if (++lines_ > most_lines) return nonsense("too many lines", text);
  if (text.starts_with("end ")) {
    if (number<std::uint64_t>(text.substr(4)) != open_->id) return nonsense("ends another answer than it began", text);
    out.push_back(std::move(*open_));
    open_.reset();
    return {};
  }
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos) return nonsense("a line that is not KEY=VALUE", text);
  const auto value = unescape(text.substr(equals + 1));
  if (!value) return nonsense("a % without two hexadecimal digits", text);
  if (!take(text.substr(0, equals), *value)) return nonsense("a value that its key does not allow", text);
  return {};
}

Result<void> AnswerReader::open(std::string_view text) {
  const auto id = text.starts_with("begin ") ? number<std::uint64_t>(text.substr(6)) : std::nullopt;
  if (!id) return nonsense("does not start with \"begin N\"", text);
  open_.emplace().id = *id;
  lines_ = 0;
  return {};
}

// A key that is not known here is of a newer helper than this daemon, and left alone.
bool AnswerReader::take(std::string_view key, const std::string& value) {
  DriverReading& reading = open_->reading;
  if (key == "trouble") return reading.trouble = value, true;
  if (key == "driver") return reading.driver_version = value, true;
  if (key == "state") {
    const auto state = state_of(value);
    if (state) reading.state = *state;
    return state.has_value();
  }
  if (key == "at") {
    const auto at = number<std::int64_t>(value);
    if (at) reading.steady_ns = *at;
    return at.has_value();
  }
  if (key == "gpu") {
    const auto index = number<unsigned>(value);
    if (index) reading.gpus.emplace_back().index = *index;
    return index.has_value();
  }
  return reading.gpus.empty() || take_card(key, value);
}

bool AnswerReader::take_card(std::string_view key, const std::string& value) {
  GpuReading& card = open_->reading.gpus.back();
  if (key == "uuid") return card.uuid = value, true;
  if (key == "name") return card.name = value, true;
  if (key == "card_trouble") return card.trouble = value, true;
  if (key == "processes") return card.processes.emplace(), true;
  if (key == "row") {
    const auto row = row_of(value);
    if (!row || !card.processes) return false;
    card.processes->push_back(*row);
    return true;
  }
  using Amount = std::optional<Bytes> GpuReading::*;
  static constexpr std::pair<std::string_view, Amount> amounts[] = {{"total", &GpuReading::total},
                                                                    {"used", &GpuReading::used},
                                                                    {"free", &GpuReading::free},
                                                                    {"reserved", &GpuReading::reserved}};
  for (const auto& [name, member] : amounts) {
    if (key != name) continue;
    const auto bytes = number<std::int64_t>(value);
    if (bytes) card.*member = Bytes{*bytes};
    return bytes.has_value();
  }
  return true;
}

}  // namespace jipsa
