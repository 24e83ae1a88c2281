// A parsed file as plain data, each value with its line. What knows TOML stays in tree.cc.
#pragma once

#include <cstdint>
#include <string>
#include <tl/expected.hpp>
#include <variant>
#include <vector>

namespace jipsa::config {

struct Value;
struct Member;
using Array = std::vector<Value>;
struct Table {
  std::vector<Member> members;  // in the order of their keys
};
struct Time {};  // dates and times: TOML has them, no setting takes one

struct Value {
  int line = 0;
  std::variant<std::string, std::int64_t, double, bool, Time, Array, Table> data;
};
struct Member {
  std::string key;
  int line = 0;
  Value value;
};

const char* kind_of(const Value& value);  // "text", "a number", "a list", …

struct SyntaxError {
  int line = 0;
  std::string what, mend;
};
// `text` is at most some megabyte. Never throws but std::bad_alloc.
tl::expected<Table, SyntaxError> parse(const std::string& text);

}  // namespace jipsa::config
