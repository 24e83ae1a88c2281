// Reading the small text files of /proc: whole, bounded, and never with an exception.
#pragma once

#include <charconv>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "core/model.h"

namespace jipsa {

// Empty if it can't be opened or read, or is longer than `most`. Files of /proc say 0 for their size, so it is read to its end.
std::optional<std::string> read_file(const std::string& path, std::size_t most = std::size_t{4} << 20);

// Takes the next blank-separated word off the front of `text`; empty at the end.
std::string_view next_word(std::string_view& text);
std::string_view next_line(std::string_view& text);

template <class Number>
std::optional<Number> parse_number(std::string_view word, int base = 10) {
  Number n{};
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), n, base);
  if (error != std::errc{} || end != word.data() + word.size()) return std::nullopt;
  return n;
}

// "Name:   123 kB" in a text of such lines (status, meminfo, smaps). Empty if there is no such line.
std::optional<Bytes> find_kib(std::string_view text, std::string_view name);

// A process's name may hold any byte, and is cut at 15 of them, within a letter too: what is not UTF-8 or not printable becomes
// '?'.
std::string printable(std::string_view name);

}  // namespace jipsa
