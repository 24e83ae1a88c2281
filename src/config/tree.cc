#include "config/tree.h"

#include <algorithm>
#include <cstddef>

namespace jipsa::config {

// The parser asserts what some texts make false ("[.a]" does). That must be an error about the text, and in every kind of build.
struct ParserSlip {};
[[noreturn]] static void slip() { throw ParserSlip{}; }

}  // namespace jipsa::config

#undef NDEBUG
#define TOML_ASSERT(condition) ((condition) ? static_cast<void>(0) : jipsa::config::slip())

// Debian's toml++ is a shared library by default, and the client is linked statically: the parser is compiled here instead.
#undef TOML_SHARED_LIB
#undef TOML_HEADER_ONLY
#define TOML_HEADER_ONLY 1
#define TOML_EXCEPTIONS 1
#define TOML_ENABLE_FORMATTERS 0

#include <fmt/format.h>
#include <toml++/toml.h>

#include <string_view>
#include <tuple>
#include <utility>

namespace jipsa::config {
namespace {

// The parser and its tables are recursive: a line of a hundred thousand dots would be as many nested tables, and the end of the
// stack.
constexpr int kMostDots = 128;
constexpr std::size_t kLongestLine = 64 << 10;

int line_of(const toml::source_region& source) { return static_cast<int>(source.begin.line); }

Value to_value(const toml::node& node);

Table to_table(const toml::table& table) {
  Table result;
  for (auto&& [key, node] : table) result.members.push_back({std::string(key.str()), line_of(key.source()), to_value(node)});
  return result;
}

Array to_array(const toml::array& array) {
  Array result;
  for (auto&& node : array) result.push_back(to_value(node));
  return result;
}

Value to_value(const toml::node& node) {
  const int line = line_of(node.source());
  if (const auto* table = node.as_table()) return {line, to_table(*table)};
  if (const auto* array = node.as_array()) return {line, to_array(*array)};
  if (const auto* text = node.as_string()) return {line, text->get()};
  if (const auto* integer = node.as_integer()) return {line, integer->get()};
  if (const auto* number = node.as_floating_point()) return {line, number->get()};
  if (const auto* flag = node.as_boolean()) return {line, flag->get()};
  return {line, Time{}};
}

// Dots outside of quotes and comments.
int count_dots(std::string_view line) {
  int dots = 0;
  char quote = 0;
  for (const char c : line) {
    if (quote != 0) {
      if (c == quote) quote = 0;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '#') {
      break;
    } else if (c == '.') {
      ++dots;
    }
  }
  return dots;
}

tl::expected<void, SyntaxError> check_lines(std::string_view text) {
  for (int number = 1; !text.empty(); ++number) {
    const auto end = std::min(text.find('\n'), text.size());
    const auto line = text.substr(0, end);
    if (line.size() > kLongestLine)
      return tl::unexpected<SyntaxError>(
          {number, fmt::format("a line of {} bytes", line.size()), "break it into several (\"\"\"…\"\"\")"});
    if (count_dots(line) > kMostDots)
      return tl::unexpected<SyntaxError>(
          {number, fmt::format("more than {} dots outside of quotes", kMostDots), "put quotes around text"});
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return {};
}

std::string one_line(std::string_view text) {
  std::string result(text);
  for (auto& c : result)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  return result;
}

bool slips(std::string_view text) {
  try {
    std::ignore = toml::parse(text);
  } catch (const toml::parse_error&) { return false; } catch (const ParserSlip&) {
    return true;
  }
  return false;
}

// The slip says no place, but the parser reads from the top: it is in the last line of the shortest beginning that slips.
int line_of_slip(std::string_view text) {
  std::vector<std::size_t> ends;
  for (auto at = text.find('\n'); at != std::string_view::npos; at = text.find('\n', at + 1)) ends.push_back(at + 1);
  ends.push_back(text.size());
  const auto first = std::partition_point(ends.begin(), ends.end(), [&](std::size_t end) { return !slips(text.substr(0, end)); });
  return static_cast<int>(first - ends.begin()) + 1;
}

}  // namespace

const char* kind_of(const Value& value) {
  struct Names {
    const char* operator()(const std::string&) const { return "text"; }
    const char* operator()(std::int64_t) const { return "a number"; }
    const char* operator()(double) const { return "a number with a fraction"; }
    const char* operator()(bool) const { return "true or false"; }
    const char* operator()(Time) const { return "a date or time"; }
    const char* operator()(const Array&) const { return "a list"; }
    const char* operator()(const Table&) const { return "a table"; }
  };
  return std::visit(Names{}, value.data);
}

tl::expected<Table, SyntaxError> parse(const std::string& text) {
  if (auto good = check_lines(text); !good) return tl::unexpected<SyntaxError>(good.error());
  constexpr const char* kMend = "correct this line (text needs quotes, a section is [name])";
  try {
    return to_table(toml::parse(std::string_view{text}));
  } catch (const toml::parse_error& error) {
    return tl::unexpected<SyntaxError>(
        {line_of(error.source()),
         fmt::format("not TOML at column {}: {}", error.source().begin.column, one_line(error.description())), kMend});
  } catch (const ParserSlip&) {
    return tl::unexpected<SyntaxError>({line_of_slip(text), "not TOML: no key or value can begin like this", kMend});
  }
}

}  // namespace jipsa::config
