// A pull reader for one line of JSON: walks the text once and puts values straight where they belong, because a replay spends
// most of its time here. Errors are sticky: after the first, every call does nothing, and error() names the key and the mend.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/bytes.h"

namespace jipsa {

// Length of the UTF-8 sequence that `text` begins with; 0 if it is none: overlong forms, surrogates and beyond U+10FFFF included.
std::size_t utf8_sequence(std::string_view text);
bool valid_utf8(std::string_view text);

class JsonCursor {
 public:
  static constexpr std::int64_t int_max = std::numeric_limits<std::int64_t>::max();
  static constexpr int deepest = 64;  // nesting beyond this is an error, not a stack overflow

  explicit JsonCursor(std::string_view text) : at_(text.data()), begin_(text.data()), end_(text.data() + text.size()) {}

  [[nodiscard]] bool ok() const { return error_.empty(); }
  [[nodiscard]] const std::string& error() const { return error_; }
  void fail(const std::string& what);     // "<path>: <what>"
  void fail_at(const std::string& what);  // the same, naming the column

  // Calls on_key(key) for each key; it reads the value and returns true, or returns false to have it skipped. `key` is valid
  // until the next read. Fails if a key of `required` (at most 8) does not occur.
  template <class F>
  void object(std::initializer_list<std::string_view> required, F&& on_key);
  template <class F>
  void array(F&& on_item);

  void end();  // nothing but white space may follow

  // Readers of values. All return true: "the key was known".
  bool read(std::string& out);
  bool read(bool& out);
  bool read(double& out);
  bool read(Bytes& out);  // 0 or more; integral floats are taken
  bool read_int(std::int64_t& out, std::int64_t low, std::int64_t high);
  bool read_raw(std::string& out);  // any value, as text
  bool read_or_empty(std::string& out) { return null() ? (out.clear(), true) : read(out); }
  template <class T>
  bool read(std::optional<T>& out);
  bool read_int(std::optional<std::int64_t>& out, std::int64_t low, std::int64_t high);
  bool skip();

  [[nodiscard]] bool null();                 // takes a null if there is one
  [[nodiscard]] char peek();                 // first character of the next value; '\0' at the end
  [[nodiscard]] const char* kind_of_next();  // "a string", "null" …

  // The string value of `key` in the object that comes next, without moving. Empty if it is not there or no string.
  [[nodiscard]] std::optional<std::string> find_string(std::string_view key) const;

 private:
  struct Number {
    std::string_view text;
    bool integral = true;
  };
  void space() {
    while (at_ != end_ && (*at_ == ' ' || *at_ == '\t' || *at_ == '\r' || *at_ == '\n')) ++at_;
  }
  bool open(char c, const char* expected);
  bool more(char close);  // after a value: takes a comma (true) or the closing bracket (false)
  std::string_view key(std::string_view& raw);
  bool string(std::string_view& raw, bool& escaped);
  bool unescape(std::string_view raw, std::string& out);
  bool number(Number& out);
  bool word(std::string_view expected);
  void skip_value(int depth);
  void skip_number();
  void skip_compound(char opened, int depth);
  void wrong_type(const char* expected, const char* mend);
  [[nodiscard]] std::string path() const;

  struct Step {
    std::string_view key;
    std::int64_t index = -1;
  };
  const char *at_, *begin_, *end_;
  std::string error_;
  std::string scratch_;
  std::array<Step, deepest> steps_{};
  int depth_ = 0;
  bool enter();
};

template <class F>
void JsonCursor::object(std::initializer_list<std::string_view> required, F&& on_key) {
  if (!open('{', "an object") || !enter()) return;
  unsigned missing = (1U << required.size()) - 1;
  space();
  bool any = at_ != end_ && *at_ != '}';
  if (!any) any = more('}');
  while (any && ok()) {
    std::string_view raw;
    const std::string_view name = key(raw);
    if (!ok()) return;
    unsigned bit = 1;
    for (const std::string_view r : required) {
      if (r == name) missing &= ~bit;
      bit <<= 1;
    }
    steps_[static_cast<std::size_t>(depth_ - 1)] = {raw, -1};
    if (!on_key(name)) skip_value(depth_);
    if (!ok()) return;
    any = more('}');
  }
  if (!ok()) return;
  --depth_;
  if (missing == 0) return;
  unsigned bit = 1;
  for (const std::string_view r : required) {
    if ((missing & bit) != 0) return fail("the key \"" + std::string(r) + "\" is missing; add it");
    bit <<= 1;
  }
}

template <class F>
void JsonCursor::array(F&& on_item) {
  if (!open('[', "a list") || !enter()) return;
  space();
  bool any = at_ != end_ && *at_ != ']';
  if (!any) any = more(']');
  for (std::int64_t i = 0; any && ok(); ++i) {
    steps_[static_cast<std::size_t>(depth_ - 1)] = {{}, i};
    on_item();
    if (!ok()) return;
    any = more(']');
  }
  if (ok()) --depth_;
}

template <class T>
bool JsonCursor::read(std::optional<T>& out) {
  if (null()) {
    out.reset();
    return true;
  }
  return read(out.emplace());
}

}  // namespace jipsa
