#include "wire/recording_json.h"

#include <charconv>
#include <cmath>
#include <cstring>

namespace jipsa {

namespace {

bool continuation(unsigned char c) { return (c & 0xC0U) == 0x80U; }

void append_utf8(std::uint32_t code, std::string& out) {
  const auto put = [&out](std::uint32_t c) { out.push_back(static_cast<char>(c)); };
  if (code < 0x80) return put(code);
  if (code < 0x800) {
    put(0xC0 | (code >> 6));
  } else {
    if (code < 0x10000) {
      put(0xE0 | (code >> 12));
    } else {
      put(0xF0 | (code >> 18));
      put(0x80 | ((code >> 12) & 0x3F));
    }
    put(0x80 | ((code >> 6) & 0x3F));
  }
  put(0x80 | (code & 0x3F));
}

bool hex4(std::string_view raw, std::size_t at, std::uint32_t& out) {
  if (at + 4 > raw.size()) return false;
  const auto [rest, error] = std::from_chars(raw.data() + at, raw.data() + at + 4, out, 16);
  return error == std::errc{} && rest == raw.data() + at + 4;
}

char plain_escape(char c) {
  switch (c) {
    case '"':
    case '\\':
    case '/':
      return c;
    case 'b':
      return '\b';
    case 'f':
      return '\f';
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    default:
      return '\0';
  }
}

template <class T>
bool convert(std::string_view text, T& out) {
  return std::from_chars(text.data(), text.data() + text.size(), out).ec == std::errc{};
}

bool digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

std::size_t utf8_sequence(std::string_view text) {
  const auto* s = reinterpret_cast<const unsigned char*>(text.data());
  const std::size_t n = text.size();
  if (n == 0) return 0;
  const unsigned char c = s[0];
  if (c < 0x80) return 1;
  if (c >= 0xC2 && c <= 0xDF) return n > 1 && continuation(s[1]) ? 2 : 0;
  if (c >= 0xE0 && c <= 0xEF) {
    if (n < 3 || !continuation(s[1]) || !continuation(s[2])) return 0;
    if (c == 0xE0 && s[1] < 0xA0) return 0;
    if (c == 0xED && s[1] > 0x9F) return 0;
    return 3;
  }
  if (c >= 0xF0 && c <= 0xF4) {
    if (n < 4 || !continuation(s[1]) || !continuation(s[2]) || !continuation(s[3])) return 0;
    if (c == 0xF0 && s[1] < 0x90) return 0;
    if (c == 0xF4 && s[1] > 0x8F) return 0;
    return 4;
  }
  return 0;
}

bool valid_utf8(std::string_view text) {
  while (!text.empty()) {
    std::uint64_t eight = 0;
    if (text.size() >= 8 && (std::memcpy(&eight, text.data(), 8), (eight & 0x8080808080808080U) == 0)) {
      text.remove_prefix(8);
      continue;
    }
    const std::size_t length = utf8_sequence(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string JsonCursor::path() const {
  std::string out;
  for (int i = 0; i < depth_; ++i) {
    const Step& step = steps_[static_cast<std::size_t>(i)];
    if (step.index >= 0) {
      out += '[' + std::to_string(step.index) + ']';
    } else if (!step.key.empty()) {
      if (!out.empty()) out += '.';
      out += step.key.substr(0, 60);
    }
  }
  return out;
}

void JsonCursor::fail(const std::string& what) {
  if (!ok()) return;
  const std::string where = path();
  error_ = where.empty() ? what : where + ": " + what;
}

void JsonCursor::fail_at(const std::string& what) { fail(what + " at column " + std::to_string(at_ - begin_ + 1)); }

bool JsonCursor::enter() {
  if (depth_ == deepest) {
    fail_at("nested too deep");
    return false;
  }
  steps_[static_cast<std::size_t>(depth_++)] = {};
  return true;
}

char JsonCursor::peek() {
  space();
  return at_ == end_ ? '\0' : *at_;
}

const char* JsonCursor::kind_of_next() {
  const char c = peek();
  if (at_ == end_) return "the end of the line";
  if (c == '{') return "an object";
  if (c == '[') return "a list";
  if (c == '"') return "a string";
  if (c == 't' || c == 'f') return "a truth value";
  if (c == 'n') return "null";
  if (c == '-' || digit(c)) return "a number";
  return "something that is not JSON";
}

void JsonCursor::wrong_type(const char* expected, const char* mend) {
  fail(std::string("expected ") + expected + ", found " + kind_of_next() + mend);
}

bool JsonCursor::open(char c, const char* expected) {
  if (!ok()) return false;
  if (peek() != c) {
    wrong_type(expected, "");
    return false;
  }
  ++at_;
  return true;
}

bool JsonCursor::more(char close) {
  if (!ok()) return false;
  const char c = peek();
  if (at_ == end_) {
    fail("the line ends too early; it is cut off");
    return false;
  }
  if (c == close) {
    ++at_;
    return false;
  }
  if (c == ',') {
    ++at_;
    return true;
  }
  fail_at(std::string("expected ',' or '") + close + "'");
  return false;
}

void JsonCursor::end() {
  if (ok() && (space(), at_ != end_)) fail_at("more text after the object; one object a line");
}

bool JsonCursor::string(std::string_view& raw, bool& escaped) {
  const char* start = ++at_;  // the caller saw the quote
  escaped = false;
  for (; at_ != end_; ++at_) {
    const char c = *at_;
    if (c == '"') {
      raw = {start, static_cast<std::size_t>(at_++ - start)};
      return true;
    }
    if (static_cast<unsigned char>(c) < 0x20) {
      fail_at("a control character in a string; write it as \\u00XX");
      return false;
    }
    if (c != '\\') continue;
    escaped = true;
    if (++at_ == end_) break;
  }
  fail("a string without an end; the line is cut off");
  return false;
}

bool JsonCursor::unescape(std::string_view raw, std::string& out) {
  out.clear();
  for (std::size_t i = 0; i < raw.size(); ++i) {
    if (raw[i] != '\\') {
      out.push_back(raw[i]);
      continue;
    }
    const char c = raw[++i];  // string() saw to it that there is one
    if (c != 'u') {
      const char plain = plain_escape(c);
      if (plain == '\0') return fail("an unknown escape in a string"), false;
      out.push_back(plain);
      continue;
    }
    std::uint32_t code = 0;
    if (!hex4(raw, i + 1, code)) return fail("\\u needs four hexadecimal digits"), false;
    i += 4;
    if (code >= 0xD800 && code < 0xE000) {
      std::uint32_t low = 0;
      const bool pair = code < 0xDC00 && i + 2 < raw.size() && raw[i + 1] == '\\' && raw[i + 2] == 'u' && hex4(raw, i + 3, low) &&
                        low >= 0xDC00 && low < 0xE000;
      if (!pair) return fail("\\u with half of a surrogate pair"), false;
      code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
      i += 6;
    }
    append_utf8(code, out);
  }
  return true;
}

std::string_view JsonCursor::key(std::string_view& raw) {
  if (peek() != '"') {
    fail_at("expected a key in quotes");
    return {};
  }
  bool escaped = false;
  if (!string(raw, escaped)) return {};
  if (peek() != ':') {
    fail_at("expected ':'");
    return {};
  }
  ++at_;
  if (!escaped) return raw;
  return unescape(raw, scratch_) ? std::string_view(scratch_) : std::string_view{};
}

bool JsonCursor::word(std::string_view expected) {
  if (static_cast<std::size_t>(end_ - at_) < expected.size() || std::string_view(at_, expected.size()) != expected) return false;
  at_ += expected.size();
  return true;
}

bool JsonCursor::null() {
  if (!ok() || peek() != 'n') return false;
  if (word("null")) return true;
  fail_at("not JSON");
  return false;
}

bool JsonCursor::number(Number& out) {
  const char* start = at_;
  out.integral = true;
  const auto digits = [this] {
    const char* first = at_;
    while (at_ != end_ && digit(*at_)) ++at_;
    return at_ - first;
  };
  if (at_ != end_ && *at_ == '-') ++at_;
  const bool zero = at_ != end_ && *at_ == '0';
  const auto whole = digits();
  bool good = whole == 1 || (whole > 1 && !zero);
  if (good && at_ != end_ && *at_ == '.') {
    out.integral = false;
    ++at_;
    good = digits() > 0;
  }
  if (good && at_ != end_ && (*at_ == 'e' || *at_ == 'E')) {
    out.integral = false;
    ++at_;
    if (at_ != end_ && (*at_ == '+' || *at_ == '-')) ++at_;
    good = digits() > 0;
  }
  out.text = {start, static_cast<std::size_t>(at_ - start)};
  if (!good) fail_at("not a JSON number");
  return good;
}

bool JsonCursor::read(std::string& out) {
  if (!ok()) return true;
  if (peek() != '"') return wrong_type("a string", ""), true;
  std::string_view raw;
  bool escaped = false;
  if (!string(raw, escaped)) return true;
  if (escaped) return unescape(raw, out), true;
  out.assign(raw);
  return true;
}

bool JsonCursor::read(bool& out) {
  if (!ok()) return true;
  const char c = peek();
  if (c == 't' && word("true")) return out = true;
  if (c == 'f' && word("false")) return out = false, true;
  return wrong_type("true or false", ""), true;
}

bool JsonCursor::read(double& out) {
  if (!ok()) return true;
  const char c = peek();
  if (c != '-' && !digit(c)) return wrong_type("a number", ""), true;
  Number found;
  if (!number(found)) return true;
  if (!convert(found.text, out)) fail("the number is out of range");
  return true;
}

bool JsonCursor::read_int(std::int64_t& out, std::int64_t low, std::int64_t high) {
  if (!ok()) return true;
  const char c = peek();
  if (c != '-' && !digit(c)) return wrong_type("an integer", ""), true;
  Number found;
  if (!number(found)) return true;
  bool in_range = true;
  if (found.integral) {
    in_range = convert(found.text, out);
  } else {
    double value = 0;
    in_range = convert(found.text, value);
    if (in_range && value != std::trunc(value))
      return fail("expected an integer, found " + std::string(found.text.substr(0, 40))), true;
    in_range = in_range && value >= -9223372036854775808.0 && value < 9223372036854775808.0;
    if (in_range) out = static_cast<std::int64_t>(value);
  }
  if (in_range && out >= low && out <= high) return true;
  fail(std::string(found.text.substr(0, 40)) + " is out of range; it must be from " + std::to_string(low) + " to " +
       std::to_string(high));
  return true;
}

bool JsonCursor::read_int(std::optional<std::int64_t>& out, std::int64_t low, std::int64_t high) {
  if (!null()) return read_int(out.emplace(), low, high);
  out.reset();
  return true;
}

bool JsonCursor::read(Bytes& out) {
  if (!ok()) return true;
  const char c = peek();
  if (c != '-' && !digit(c)) return wrong_type("an integer count of bytes", "; null where it is not known"), true;
  std::int64_t count = 0;
  read_int(count, 0, int_max);
  out = Bytes{count};
  return true;
}

bool JsonCursor::read_raw(std::string& out) {
  space();
  const char* start = at_;
  skip_value(depth_);
  if (ok()) out.assign(start, at_);
  return true;
}

bool JsonCursor::skip() { return skip_value(depth_), true; }

void JsonCursor::skip_number() {
  Number ignored;
  number(ignored);
}

void JsonCursor::skip_value(int depth) {
  if (!ok()) return;
  const char c = peek();
  if (c == '{' || c == '[') return skip_compound(c, depth);
  if (c == '"') {
    std::string_view raw;
    bool escaped = false;
    std::string ignored;
    if (string(raw, escaped) && escaped) unescape(raw, ignored);
    return;
  }
  if (c == '-' || digit(c)) return skip_number();
  if (word("true") || word("false") || word("null")) return;
  wrong_type("a value", "");
}

void JsonCursor::skip_compound(char opened, int depth) {
  if (depth >= deepest) return fail_at("nested too deep");
  const char close = opened == '{' ? '}' : ']';
  ++at_;
  if (peek() == close) {
    ++at_;
    return;
  }
  do {
    std::string_view raw;
    if (opened == '{') key(raw);
    skip_value(depth + 1);
  } while (more(close));
}

std::optional<std::string> JsonCursor::find_string(std::string_view wanted) const {
  JsonCursor probe({at_, static_cast<std::size_t>(end_ - at_)});
  if (!probe.open('{', "an object") || probe.peek() == '}') return std::nullopt;
  do {
    std::string_view raw;
    const bool here = probe.key(raw) == wanted;
    if (!probe.ok()) return std::nullopt;
    if (here && probe.peek() == '"') {
      std::string out;
      probe.read(out);
      return probe.ok() ? std::optional(std::move(out)) : std::nullopt;
    }
    if (here) return std::nullopt;
    probe.skip_value(1);
  } while (probe.more('}'));
  return std::nullopt;
}

}  // namespace jipsa
