// Writes JSON by appending to one string: an answer with 10,000 jobs must not cost a tree of nodes first.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/bytes.h"

namespace jipsa {

class JsonText {
 public:
  JsonText& open_object() { return open('{'); }
  JsonText& close_object() { return close('}'); }
  JsonText& open_array() { return open('['); }
  JsonText& close_array() { return close(']'); }
  JsonText& key(std::string_view name);  // not escaped: our own names and the ids of pools

  JsonText& members(std::string_view json);  // whole members, written before: "a":null,"b":null

  JsonText& text(std::string_view value);  // bytes that are not UTF-8 become U+FFFD
  JsonText& text_or_null(std::string_view value) { return value.empty() ? null() : text(value); }
  JsonText& number(std::int64_t value);
  JsonText& number(const std::optional<std::int64_t>& value) { return value ? number(*value) : null(); }
  JsonText& bytes(Bytes value) { return number(value.count()); }
  JsonText& bytes(const std::optional<Bytes>& value) { return value ? bytes(*value) : null(); }
  JsonText& real(double value);  // three decimals; not finite: null
  JsonText& real(const std::optional<double>& value) { return value ? real(*value) : null(); }
  JsonText& truth(bool value);
  JsonText& null();
  JsonText& time(std::int64_t wall_ms);  // RFC 3339, UTC, milliseconds
  JsonText& time(const std::optional<std::int64_t>& wall_ms) { return wall_ms ? time(*wall_ms) : null(); }
  JsonText& raw(std::string_view json);  // one whole value, written before

  void reserve(std::size_t n) { out_.reserve(n); }
  [[nodiscard]] const std::string& view() const { return out_; }
  std::string take() { return std::move(out_); }

 private:
  JsonText& open(char c);
  JsonText& close(char c);
  void comma();

  std::string out_;
  bool first_ = true;  // the next value needs no comma before it
};

std::string rfc3339(std::int64_t wall_ms);

}  // namespace jipsa
