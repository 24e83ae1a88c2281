#include "daemon/json_text.h"

#include <fmt/format.h>

#include <cmath>
#include <ctime>

namespace jipsa {
namespace {

bool continues(std::string_view s, std::size_t at) {
  return at < s.size() && (static_cast<unsigned char>(s[at]) & 0xC0U) == 0x80U;
}

// Length of the UTF-8 sequence at `at`, 0 if there is none (overlong forms, surrogates and values past U+10FFFF included).
std::size_t sequence_length(std::string_view s, std::size_t at) {
  const auto c = static_cast<unsigned char>(s[at]);
  if (c < 0x80) return 1;
  if (c < 0xC2 || c > 0xF4 || !continues(s, at + 1)) return 0;
  if (c < 0xE0) return 2;
  const auto d = static_cast<unsigned char>(s[at + 1]);
  if (!continues(s, at + 2)) return 0;
  if (c < 0xF0) return (c == 0xE0 && d < 0xA0) || (c == 0xED && d > 0x9F) ? 0 : 3;
  if (!continues(s, at + 3)) return 0;
  return (c == 0xF0 && d < 0x90) || (c == 0xF4 && d > 0x8F) ? 0 : 4;
}

bool plain(char c) {
  return static_cast<unsigned char>(c) >= 0x20 && static_cast<unsigned char>(c) < 0x7f && c != '"' && c != '\\';
}

// One character that can't stand as it is; returns how many bytes it was.
std::size_t append_one(std::string& out, std::string_view s, std::size_t at) {
  const char c = s[at];
  if (c == '"' || c == '\\') {
    out += '\\';
    out += c;
  } else if (c == '\n') {
    out += "\\n";
  } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
    fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<unsigned>(c));
  } else if (const std::size_t n = sequence_length(s, at); n > 0) {
    out.append(s, at, n);
    return n;
  } else {
    out += "\xEF\xBF\xBD";
  }
  return 1;
}

void append_escaped(std::string& out, std::string_view s) {
  for (std::size_t at = 0; at < s.size();) {
    std::size_t end = at;
    while (end < s.size() && plain(s[end])) ++end;
    out.append(s, at, end - at);
    at = end;
    if (at < s.size()) at += append_one(out, s, at);
  }
}

void put_digits(char* at, std::int64_t value, int digits) {
  for (int i = digits - 1; i >= 0; --i, value /= 10) at[i] = static_cast<char>('0' + value % 10);
}

}  // namespace

std::string rfc3339(std::int64_t wall_ms) {
  std::int64_t seconds = wall_ms / 1000;
  std::int64_t rest = wall_ms % 1000;
  if (rest < 0) {
    rest += 1000;
    --seconds;
  }
  const auto when = static_cast<std::time_t>(seconds);
  std::tm tm{};
  gmtime_r(&when, &tm);
  std::string text = "0000-00-00T00:00:00.000Z";
  put_digits(&text[0], tm.tm_year + 1900, 4);
  put_digits(&text[5], tm.tm_mon + 1, 2);
  put_digits(&text[8], tm.tm_mday, 2);
  put_digits(&text[11], tm.tm_hour, 2);
  put_digits(&text[14], tm.tm_min, 2);
  put_digits(&text[17], tm.tm_sec, 2);
  put_digits(&text[20], rest, 3);
  return text;
}

void JsonText::comma() {
  if (!first_) out_ += ',';
  first_ = false;
}

JsonText& JsonText::open(char c) {
  comma();
  out_ += c;
  first_ = true;
  return *this;
}

JsonText& JsonText::close(char c) {
  out_ += c;
  first_ = false;
  return *this;
}

JsonText& JsonText::key(std::string_view name) {
  comma();
  out_ += '"';
  out_ += name;
  out_.append("\":", 2);
  first_ = true;
  return *this;
}

JsonText& JsonText::members(std::string_view json) { return raw(json); }

JsonText& JsonText::text(std::string_view value) {
  comma();
  out_ += '"';
  append_escaped(out_, value);
  out_ += '"';
  return *this;
}

JsonText& JsonText::number(std::int64_t value) {
  comma();
  const fmt::format_int digits(value);
  out_.append(digits.data(), digits.size());
  return *this;
}

JsonText& JsonText::real(double value) {
  if (!std::isfinite(value)) return null();
  comma();
  fmt::format_to(std::back_inserter(out_), "{:.3f}", value);
  while (out_.back() == '0') out_.pop_back();
  if (out_.back() == '.') out_.pop_back();
  return *this;
}

JsonText& JsonText::truth(bool value) { return raw(value ? "true" : "false"); }
JsonText& JsonText::null() { return raw("null"); }
JsonText& JsonText::time(std::int64_t wall_ms) { return text(rfc3339(wall_ms)); }

JsonText& JsonText::raw(std::string_view json) {
  comma();
  out_ += json;
  return *this;
}

}  // namespace jipsa
