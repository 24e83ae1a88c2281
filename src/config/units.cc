#include "config/units.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>

#include "config/config.h"

namespace jipsa::config {
namespace {

constexpr std::int64_t kSizeLimit = std::int64_t{1} << 62;
constexpr double kLongest = 366.0 * 24 * 3600;
constexpr const char* kSizeForms =
    "write \"15G\", \"1.5 GiB\" or \"512M\" (of 1024), \"15GB\" or \"512MB\" (of 1000), or a whole number of bytes";
constexpr const char* kDurationForms = "write seconds as a number, or \"500ms\", \"30s\", \"10m\", \"2h\" or \"1d\"";

struct Unit {
  std::string_view name;
  std::int64_t size;
};
constexpr std::int64_t kKi = 1024;
constexpr std::int64_t kKilo = 1000;
constexpr std::array kSizeUnits = {
    Unit{"", 1},
    Unit{"b", 1},
    Unit{"k", kKi},
    Unit{"kib", kKi},
    Unit{"kb", kKilo},
    Unit{"m", kKi* kKi},
    Unit{"mib", kKi* kKi},
    Unit{"mb", kKilo* kKilo},
    Unit{"g", kKi* kKi* kKi},
    Unit{"gib", kKi* kKi* kKi},
    Unit{"gb", kKilo* kKilo* kKilo},
    Unit{"t", kKi* kKi* kKi* kKi},
    Unit{"tib", kKi* kKi* kKi* kKi},
    Unit{"tb", kKilo* kKilo* kKilo* kKilo},
};
constexpr std::array kTimeUnits = {
    Unit{"ms", 1}, Unit{"", 1000}, Unit{"s", 1000}, Unit{"m", 60'000}, Unit{"h", 3'600'000}, Unit{"d", 86'400'000},
};

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_blank(char c) { return c == ' ' || c == '\t'; }

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

std::string lower(std::string_view text) {
  std::string result(text);
  for (auto& c : result)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return result;
}

std::string_view take_digits(std::string_view& text) {
  std::size_t n = 0;
  while (n < text.size() && is_digit(text[n])) ++n;
  const auto digits = text.substr(0, n);
  text.remove_prefix(n);
  return digits;
}

// "12.5 GiB" in its parts. A sign, an exponent or a bare dot does not fit this form.
struct Parts {
  std::string_view whole, fraction;
  std::string unit;
};
bool split(std::string_view text, Parts& parts) {
  text = trimmed(text);
  parts.whole = take_digits(text);
  if (parts.whole.empty()) return false;
  if (!text.empty() && text.front() == '.') {
    text.remove_prefix(1);
    parts.fraction = take_digits(text);
    if (parts.fraction.empty()) return false;
  }
  parts.unit = lower(trimmed(text));
  return true;
}

const Unit* find_unit(const auto& units, const std::string& name) {
  const auto found = std::find_if(units.begin(), units.end(), [&](const Unit& unit) { return unit.name == name; });
  return found == units.end() ? nullptr : &*found;
}

// whole.fraction times `unit`, rounded down, exact; -1 if it is `limit` or more.
std::int64_t multiply(const Parts& parts, std::int64_t unit, std::int64_t limit) {
  __int128 total = 0;
  for (const char c : parts.whole) {
    total = total * 10 + (c - '0');
    if (total >= limit) return -1;
  }
  total *= unit;
  __int128 part = 0;
  __int128 scale = 1;
  for (const char c : parts.fraction.substr(0, 18)) {
    part = part * 10 + (c - '0');
    scale *= 10;
  }
  total += part * unit / scale;
  return total >= limit ? -1 : static_cast<std::int64_t>(total);
}

tl::unexpected<Complaint> no(std::string what, std::string mend) {
  return tl::unexpected<Complaint>(Complaint{std::move(what), std::move(mend)});
}

}  // namespace

std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (const char c : text.substr(0, 60)) {
    const auto code = static_cast<unsigned char>(c);
    result += code < 0x20 || code == 0x7f ? '?' : c;
  }
  // A character of several bytes must not be cut in the middle.
  if (text.size() > 60) {
    while (result.size() > 1 && (static_cast<unsigned char>(result.back()) & 0xc0) == 0x80) result.pop_back();
    if (result.size() > 1 && static_cast<unsigned char>(result.back()) >= 0xc0) result.pop_back();
    result += "…";
  }
  return result + '"';
}

Read<Bytes> size_from_integer(std::int64_t count) {
  if (count < 0) return no(fmt::format("{} is negative", count), kSizeForms);
  if (count >= kSizeLimit) return no(fmt::format("{} is too large", count), "write less than 4 EiB");
  return Bytes{count};
}

Complaint fraction_without_unit(std::string_view number) {
  return {fmt::format("{} has a fraction and no unit", number), kSizeForms};
}

Read<Bytes> read_size(std::string_view text) {
  Parts parts;
  if (!split(text, parts)) return no(quoted(text) + " is not a size", kSizeForms);
  const Unit* unit = find_unit(kSizeUnits, parts.unit);
  if (unit == nullptr)
    return no(fmt::format("{} is not a size: no unit is called {}", quoted(text), quoted(parts.unit)), kSizeForms);
  if (unit->size == 1 && !parts.fraction.empty()) return tl::unexpected<Complaint>(fraction_without_unit(quoted(text)));
  const auto bytes = multiply(parts, unit->size, kSizeLimit);
  if (bytes < 0) return no(quoted(text) + " is too large", "write less than 4 EiB");
  return Bytes{bytes};
}

Read<double> duration_from_number(double seconds) {
  if (!std::isfinite(seconds) || seconds < 0) return no(fmt::format("{} is not a duration", seconds), kDurationForms);
  if (seconds > kLongest) return no(fmt::format("{} seconds is longer than a year", seconds), "write less");
  return seconds;
}

Read<double> read_duration(std::string_view text) {
  Parts parts;
  if (!split(text, parts)) return no(quoted(text) + " is not a duration", kDurationForms);
  const Unit* unit = find_unit(kTimeUnits, parts.unit);
  if (unit == nullptr)
    return no(fmt::format("{} is not a duration: no unit is called {}", quoted(text), quoted(parts.unit)), kDurationForms);
  double number = 0;
  const std::string digits = fmt::format("{}.{}", parts.whole, parts.fraction.empty() ? "0" : parts.fraction);
  const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (parsed.ec != std::errc{}) return no(quoted(text) + " is not a duration", kDurationForms);
  return duration_from_number(number * static_cast<double>(unit->size) / 1000);
}

}  // namespace jipsa::config

namespace jipsa {

Result<Bytes> parse_size(const std::string& text) {
  auto size = config::read_size(text);
  if (!size) return fail(Code::bad_input, size.error().what + "; " + size.error().mend);
  return *size;
}

Result<double> parse_duration(const std::string& text) {
  auto seconds = config::read_duration(text);
  if (!seconds) return fail(Code::bad_input, seconds.error().what + "; " + seconds.error().mend);
  return *seconds;
}

}  // namespace jipsa
