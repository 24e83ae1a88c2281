#include "text/utf8.h"

#include <algorithm>
#include <iterator>

namespace jipsa {
namespace {

struct Range {
  char32_t first, last;
};
#include "text/width_table.inc"

template <std::size_t N>
bool in(const Range (&table)[N], char32_t c) {
  const auto* it = std::lower_bound(std::begin(table), std::end(table), c, [](const Range& r, char32_t x) { return r.last < x; });
  return it != std::end(table) && it->first <= c;
}

constexpr char32_t zero_width_joiner = 0x200d;
constexpr char32_t emoji_presentation = 0xfe0f;

std::size_t width_of(char32_t c) {
  if (c < 0x300) return c < 0x20 || (c >= 0x7f && c < 0xa0) ? 0 : 1;
  if (in(zero_width, c)) return 0;
  return in(double_width, c) ? 2 : 1;
}

// Columns of a text read code point by code point.
class Columns {
 public:
  std::size_t add(char32_t c) {  // returns the total so far
    std::size_t w = width_of(c);
    if (joined_) w = 0;                                              // what follows a joiner melts into the sign before it
    if (c == emoji_presentation && last_ == 1 && total_ > 0) w = 1;  // "❤" + this is drawn as a two-column emoji
    joined_ = c == zero_width_joiner && last_ == 2;
    if (w > 0) last_ = w;
    return total_ += w;
  }

 private:
  std::size_t total_ = 0, last_ = 0;
  bool joined_ = false;
};

bool ascii_printable(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= 0x20 && c < 0x7f; });
}

// Signs that are invisible or change what is read around them.
bool harmful(char32_t c) {
  return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x61c || c == 0x200e || c == 0x200f || (c >= 0x2028 && c <= 0x202e) ||
         (c >= 0x2066 && c <= 0x2069) || c == 0xfeff || (c >= 0xe0000 && c <= 0xe007f);
}

void append_hex(std::string& out, std::uint32_t value, int least_digits) {
  static constexpr char digits[] = "0123456789abcdef";
  int shift = 28;
  while (shift >= 4 * least_digits && (value >> shift) == 0) shift -= 4;
  for (; shift >= 0; shift -= 4) out += digits[(value >> shift) & 15U];
}

void spell_out(std::string& out, char32_t c) {
  if (c == '\n') {
    out += "\\n";
  } else if (c == '\t') {
    out += "\\t";
  } else if (c == '\r') {
    out += "\\r";
  } else if (c < 0x100) {
    out += "\\x";
    append_hex(out, c, 2);
  } else {
    out += "\\u{";
    append_hex(out, c, 4);
    out += '}';
  }
}

}  // namespace

std::optional<char32_t> next_code_point(std::string_view text, std::size_t& at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(at);
  const std::size_t start = at++;
  if (lead < 0x80) return lead;
  const int more = lead >= 0xf0 ? 3 : lead >= 0xe0 ? 2 : 1;
  if (lead < 0xc2 || lead > 0xf4 || start + static_cast<std::size_t>(more) >= text.size()) return std::nullopt;
  char32_t c = lead & (0x3fU >> more);
  for (int i = 1; i <= more; ++i) {
    const unsigned char next = byte(start + static_cast<std::size_t>(i));
    if ((next & 0xc0U) != 0x80) return std::nullopt;
    c = c << 6U | (next & 0x3fU);
  }
  const bool overlong = (more == 2 && c < 0x800) || (more == 3 && c < 0x10000);
  if (overlong || c > 0x10ffff || (c >= 0xd800 && c < 0xe000)) return std::nullopt;
  at = start + static_cast<std::size_t>(more) + 1;
  return c;
}

std::optional<std::size_t> find_invalid_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t start = at;
    if (!next_code_point(text, at)) return start;
  }
  return std::nullopt;
}

void append_utf8(std::string& out, char32_t c) {
  if (c < 0x80) {
    out += static_cast<char>(c);
    return;
  }
  const int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
  static constexpr unsigned lead[] = {0, 0xc0, 0xe0, 0xf0};
  out += static_cast<char>(lead[more] | c >> (6 * more));
  for (int i = more - 1; i >= 0; --i) out += static_cast<char>(0x80U | (c >> (6 * i) & 0x3fU));
}

std::size_t display_width(std::string_view text) {
  if (ascii_printable(text)) return text.size();
  Columns columns;
  std::size_t total = 0;
  for (std::size_t at = 0; at < text.size();) total = columns.add(next_code_point(text, at).value_or(0xfffd));
  return total;
}

std::string safe(std::string_view text) {
  if (ascii_printable(text)) return std::string(text);
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t start = at;
    const auto c = next_code_point(text, at);
    if (!c) {
      out += "\\x";
      append_hex(out, static_cast<unsigned char>(text[start]), 2);
    } else if (harmful(*c)) {
      spell_out(out, *c);
    } else {
      out += text.substr(start, at - start);
    }
  }
  return out;
}

std::string pad_right(std::string text, std::size_t columns) {
  const std::size_t width = display_width(text);
  if (width < columns) text.append(columns - width, ' ');
  return text;
}

std::string pad_left(std::string text, std::size_t columns) {
  const std::size_t width = display_width(text);
  if (width < columns) text.insert(0, columns - width, ' ');
  return text;
}

std::string truncate(std::string_view text, std::size_t columns) {
  if (text.size() <= columns || display_width(text) <= columns) return std::string(text);
  if (columns == 0) return "";
  Columns counted;
  std::size_t end = 0;
  for (std::size_t at = 0; at < text.size();) {
    if (counted.add(next_code_point(text, at).value_or(0xfffd)) > columns - 1) break;
    end = at;
  }
  return std::string(text.substr(0, end)) + "…";
}

}  // namespace jipsa
