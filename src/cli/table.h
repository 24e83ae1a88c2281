// Lines in columns that line up in any script.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace jipsa::cli {

struct Cell {
  std::string text;          // already harmless for a terminal
  std::string_view color{};  // an SGR code such as "32"; empty: none
  bool right = false;        // numbers
};

// Rows of cells, two blanks between columns; the last column is not padded.
class Table {
 public:
  explicit Table(bool color) : color_(color) {}
  void add(std::vector<Cell> row) { rows_.push_back(std::move(row)); }
  void reserve(std::size_t rows) { rows_.reserve(rows); }
  void append_to(std::string& out) const;

 private:
  bool color_;
  std::vector<std::vector<Cell>> rows_;
};

}  // namespace jipsa::cli
