#include "cli/table.h"

#include <algorithm>

#include "text/utf8.h"

namespace jipsa::cli {
namespace {

constexpr std::size_t gap = 2;

void append_cell(std::string& out, const Cell& cell, std::size_t blanks, bool last, bool color) {
  if (cell.right) out.append(blanks, ' ');
  const bool colored = color && !cell.color.empty();
  if (colored) out.append("\x1b[").append(cell.color) += 'm';
  out += cell.text;
  if (colored) out += "\x1b[0m";
  if (!cell.right && !last) out.append(blanks, ' ');
}

}  // namespace

void Table::append_to(std::string& out) const {
  std::vector<std::size_t> widths, row_widths;
  for (const auto& row : rows_) {
    if (widths.size() < row.size()) widths.resize(row.size());
    for (std::size_t i = 0; i < row.size(); ++i) {
      // The last column is as wide as it is; only numbers are aligned in it.
      const bool counts = i + 1 < row.size() || row[i].right;
      row_widths.push_back(counts ? display_width(row[i].text) : 0);
      widths[i] = std::max(widths[i], row_widths.back());
    }
  }
  std::size_t at = 0;
  for (const auto& row : rows_) {
    const std::size_t line = out.size();
    for (std::size_t i = 0; i < row.size(); ++i, ++at) {
      if (i > 0) out.append(gap, ' ');
      append_cell(out, row[i], widths[i] > row_widths[at] ? widths[i] - row_widths[at] : 0, i + 1 == row.size(), color_);
    }
    while (out.size() > line && out.back() == ' ') out.pop_back();
    out += '\n';
  }
}

}  // namespace jipsa::cli
