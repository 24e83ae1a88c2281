// A JSON document, read in place: no copy of the text, no tree of small objects. A list of ten thousand jobs is some megabytes of
// JSON, and reading it must cost milliseconds (docs/commands.md promises that `jipsa list` is quick).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace jipsa::cli {

namespace json {
enum class Kind : std::uint8_t { null, boolean, number, text, array, object };
struct Node {
  std::uint32_t begin, end;  // of its text in the document; a string's without the quotes
  std::uint32_t next;        // the node behind it and all within it
  Kind kind;
  bool escaped;  // a string with backslashes
};
}  // namespace json

class Document;

// A value in a document, which must outlive it. What is not there reads as null; what has another type reads as absent.
class Value {
 public:
  Value() = default;
  [[nodiscard]] bool is_null() const { return document_ == nullptr || node().kind == json::Kind::null; }
  [[nodiscard]] bool is_object() const { return document_ != nullptr && node().kind == json::Kind::object; }
  [[nodiscard]] bool is_array() const { return document_ != nullptr && node().kind == json::Kind::array; }
  [[nodiscard]] std::optional<std::int64_t> integer() const;
  [[nodiscard]] std::optional<double> number() const;
  [[nodiscard]] std::optional<bool> boolean() const;
  [[nodiscard]] std::optional<std::string> text() const;
  [[nodiscard]] std::string text_or_empty() const { return text().value_or(""); }
  [[nodiscard]] std::string_view raw() const;  // as it stands in the document; a string's without its quotes

  [[nodiscard]] Value operator[](std::string_view key) const;

  // for (Value item : value) and for (Member m : value.members()); nothing if it is of another kind.
  class Iterator;
  [[nodiscard]] Iterator begin() const;
  [[nodiscard]] Iterator end() const;
  struct Members;
  [[nodiscard]] Members members() const;

 private:
  friend class Document;
  Value(const Document* document, std::uint32_t at) : document_(document), at_(at) {}
  [[nodiscard]] const json::Node& node() const;

  const Document* document_ = nullptr;
  std::uint32_t at_ = 0;
};

class Value::Iterator {
 public:
  Value operator*() const { return Value(document_, at_); }
  Iterator& operator++();
  bool operator==(const Iterator& other) const { return at_ == other.at_; }

 private:
  friend class Value;
  Iterator(const Document* document, std::uint32_t at) : document_(document), at_(at) {}
  const Document* document_;
  std::uint32_t at_;
};

struct Member {
  std::string_view key;  // as written; keys of the API have no escapes
  Value value;
};

struct Value::Members {
  struct Iterator {
    Value::Iterator at;
    Member operator*() const;
    Iterator& operator++();
    bool operator==(const Iterator& other) const { return at == other.at; }
  };
  Iterator first, last;
  [[nodiscard]] Iterator begin() const { return first; }
  [[nodiscard]] Iterator end() const { return last; }
};

// A list that is read item by item: each is handed over once and not kept, so that a long one costs no memory.
struct EachItem {
  std::string_view key;                     // of the list, in the document's outermost object
  std::function<Result<void>(Value)> take;  // an error ends the reading
};

class Document {
 public:
  // Code::unreadable with the offset and what is wrong there. With `each`, that list is empty in the document.
  static Result<Document> parse(std::string text, const EachItem* each = nullptr);
  [[nodiscard]] Value root() const { return Value(this, 0); }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  friend class Value;
  std::string text_;
  std::vector<json::Node> nodes_;
};

// The other way: appends `text` as a JSON string. It must be valid UTF-8.
void append_json_string(std::string& out, std::string_view text);

}  // namespace jipsa::cli
