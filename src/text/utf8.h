// UTF-8 as a terminal shows it: validity, columns, and making foreign words harmless.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace jipsa {

// The code point at `at`, which is moved behind it. Empty: the bytes there are not UTF-8 (`at` moves by one byte).
std::optional<char32_t> next_code_point(std::string_view text, std::size_t& at);

std::optional<std::size_t> find_invalid_utf8(std::string_view text);  // offset of the first bad byte; empty: all valid

void append_utf8(std::string& out, char32_t code_point);

// Terminal columns: Hangul, Han and most emoji take two, combining signs none.
std::size_t display_width(std::string_view text);

// Control characters, escape sequences, direction overrides and bad bytes are spelled out (\x1b, \n, \u{202e}), so that a name
// from a user or a server cannot move the cursor, recolour the screen or end the line.
std::string safe(std::string_view text);

std::string pad_right(std::string text, std::size_t columns);
std::string pad_left(std::string text, std::size_t columns);
std::string truncate(std::string_view text, std::size_t columns);  // ends in "…" when something was cut

}  // namespace jipsa
