#include "cli/answer.h"

#include <algorithm>
#include <charconv>

#include "text/utf8.h"

namespace jipsa::cli {

using json::Kind;
using json::Node;

namespace {

constexpr int deepest = 64;
constexpr std::size_t longest = std::size_t{1} << 31;

// From `at` on, the first byte that means something in a string: a quote, a backslash or a control character.
std::size_t plain_until(std::string_view text, std::size_t at) {
  while (at < text.size() && text[at] != '"' && text[at] != '\\' && static_cast<unsigned char>(text[at]) >= 0x20) ++at;
  return at;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Checks the whole document once and notes where each value stands.
class Parser {
 public:
  // `take`: gets the node of each item of the outermost object's list `each_key`, which is dropped after; false ends the reading.
  using Take = std::function<bool(std::uint32_t)>;
  Parser(std::string_view text, std::vector<Node>& nodes, std::string_view each_key, const Take& take)
      : text_(text), nodes_(nodes), each_key_(each_key), take_(take) {}

  bool document() {
    space();
    if (!value(0)) return false;
    space();
    return at_ == text_.size() || wrong("something follows the end");
  }
  [[nodiscard]] std::string finding() const { return std::string(finding_) + " at byte " + std::to_string(at_); }

 private:
  bool wrong(const char* finding) {
    finding_ = finding;
    return false;
  }
  void space() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\r' || text_[at_] == '\t')) ++at_;
  }
  bool take(char c) {
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  std::size_t open(Kind kind) {
    nodes_.push_back({static_cast<std::uint32_t>(at_), 0, 0, kind, false});
    return nodes_.size() - 1;
  }
  bool close(std::size_t node, std::size_t end) {
    nodes_[node].end = static_cast<std::uint32_t>(end);
    nodes_[node].next = static_cast<std::uint32_t>(nodes_.size());
    return true;
  }

  bool value(int depth) {
    if (depth > deepest) return wrong("too many levels");
    if (at_ >= text_.size()) return wrong("it ends too early");
    switch (text_[at_]) {
      case '{':
        return object(depth);
      case '[':
        return array(depth, false);
      case '"':
        return string();
      case 't':
        return word("true", Kind::boolean);
      case 'f':
        return word("false", Kind::boolean);
      case 'n':
        return word("null", Kind::null);
      default:
        return number();
    }
  }

  bool object(int depth) {
    const std::size_t node = open(Kind::object);
    ++at_;
    space();
    if (take('}')) return close(node, at_);
    for (;;) {
      space();
      if (at_ >= text_.size() || text_[at_] != '"') return wrong("a key is missing");
      const std::size_t key = nodes_.size();
      if (!string()) return false;
      space();
      if (!take(':')) return wrong("a colon is missing");
      space();
      const bool each = depth == 0 && take_ && is_each_key(nodes_[key]) && at_ < text_.size() && text_[at_] == '[';
      if (!(each ? array(depth + 1, true) : value(depth + 1))) return false;
      space();
      if (take('}')) return close(node, at_);
      if (!take(',')) return wrong("a comma is missing");
    }
  }

  bool is_each_key(const Node& key) const { return text_.substr(key.begin, key.end - key.begin) == each_key_; }

  bool array(int depth, bool each) {
    const std::size_t node = open(Kind::array);
    ++at_;
    space();
    if (take(']')) return close(node, at_);
    for (;;) {
      space();
      const std::size_t item = nodes_.size();
      if (!value(depth + 1)) return false;
      if (each) {
        if (!take_(static_cast<std::uint32_t>(item))) return wrong("the reader stopped");
        nodes_.resize(item);
      }
      space();
      if (take(']')) return close(node, at_);
      if (!take(',')) return wrong("a comma is missing");
    }
  }

  bool string() {
    const std::size_t node = open(Kind::text);
    nodes_[node].begin = static_cast<std::uint32_t>(at_ + 1);
    for (++at_;; ++at_) {
      at_ = plain_until(text_, at_);
      if (at_ >= text_.size()) return wrong("a string does not end");
      if (text_[at_] == '"') return close(node, at_++);
      if (text_[at_] != '\\') return wrong("a control character in a string");
      nodes_[node].escaped = true;
      if (++at_ >= text_.size()) return wrong("a string does not end");
    }
  }

  bool word(std::string_view expected, Kind kind) {
    if (text_.substr(at_, expected.size()) != expected) return wrong("an unknown word");
    const std::size_t node = open(kind);
    at_ += expected.size();
    return close(node, at_);
  }

  bool number() {
    const std::size_t node = open(Kind::number), start = at_;
    take('-');
    const std::size_t digits = at_;
    while (at_ < text_.size() && (is_digit(text_[at_]) || text_[at_] == '.' || text_[at_] == 'e' || text_[at_] == 'E' ||
                                  text_[at_] == '+' || text_[at_] == '-')) {
      ++at_;
    }
    if (digits == at_ || !is_digit(text_[digits])) {
      at_ = start;
      return wrong("neither value nor end");
    }
    return close(node, at_);
  }

  std::string_view text_;
  std::vector<Node>& nodes_;
  std::string_view each_key_;
  const Take& take_;
  std::size_t at_ = 0;
  const char* finding_ = "";
};

// Four hexadecimal digits; anything else is the replacement character.
char32_t hex4(std::string_view text, std::size_t at) {
  unsigned value = 0;
  if (at + 4 > text.size()) return 0xfffd;
  const auto [end, error] = std::from_chars(text.data() + at, text.data() + at + 4, value, 16);
  return error == std::errc{} && end == text.data() + at + 4 ? value : 0xfffd;
}

// The escape \uXXXX at `at` (behind the u), with its second half if it has one. Moves `at` behind it.
char32_t unicode_escape(std::string_view raw, std::size_t& at) {
  const char32_t high = hex4(raw, at);
  at = std::min(at + 4, raw.size());
  if (high < 0xd800 || high > 0xdfff) return high;
  if (high > 0xdbff || raw.substr(at, 2) != "\\u") return 0xfffd;
  const char32_t low = hex4(raw, at + 2);
  if (low < 0xdc00 || low > 0xdfff) return 0xfffd;
  at += 6;
  return 0x10000 + ((high - 0xd800) << 10U) + (low - 0xdc00);
}

std::string unescape(std::string_view raw) {
  std::string out;
  out.reserve(raw.size());
  for (std::size_t at = 0; at < raw.size();) {
    const char c = raw[at++];
    if (c != '\\' || at >= raw.size()) {
      out += c;
      continue;
    }
    const char escape = raw[at++];
    switch (escape) {
      case 'n':
        out += '\n';
        break;
      case 't':
        out += '\t';
        break;
      case 'r':
        out += '\r';
        break;
      case 'b':
        out += '\b';
        break;
      case 'f':
        out += '\f';
        break;
      case 'u':
        append_utf8(out, unicode_escape(raw, at));
        break;
      default:
        out += escape;
    }
  }
  return out;
}

}  // namespace

Result<Document> Document::parse(std::string text, const EachItem* each) {
  Document document;
  document.text_ = std::move(text);
  if (document.text_.size() > longest) return fail(Code::unreadable, "more than 2 GiB of JSON");
  Result<void> taken;
  Parser::Take take;
  if (each != nullptr) {
    take = [&](std::uint32_t node) {
      taken = each->take(Value(&document, node));
      return taken.has_value();
    };
  }
  Parser parser(document.text_, document.nodes_, each != nullptr ? each->key : "", take);
  const bool good = parser.document();
  if (!taken) return tl::make_unexpected(taken.error());
  if (!good) return fail(Code::unreadable, "not JSON: " + parser.finding());
  return document;
}

const Node& Value::node() const { return document_->nodes_[at_]; }

std::string_view Value::raw() const {
  if (document_ == nullptr) return "null";
  return std::string_view(document_->text_).substr(node().begin, node().end - node().begin);
}

std::optional<std::int64_t> Value::integer() const {
  if (document_ == nullptr || node().kind != Kind::number) return std::nullopt;
  const std::string_view digits = raw();
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
  return value;
}

std::optional<double> Value::number() const {
  if (document_ == nullptr || node().kind != Kind::number) return std::nullopt;
  const std::string_view digits = raw();
  double value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
  return value;
}

std::optional<bool> Value::boolean() const {
  if (document_ == nullptr || node().kind != Kind::boolean) return std::nullopt;
  return raw() == "true";
}

std::optional<std::string> Value::text() const {
  if (document_ == nullptr || node().kind != Kind::text) return std::nullopt;
  return node().escaped ? unescape(raw()) : std::string(raw());
}

Value Value::operator[](std::string_view key) const {
  for (const Member m : members()) {
    if (m.key == key) return m.value;
  }
  return {};
}

Value::Iterator Value::begin() const {
  const bool has_items = is_array() || is_object();
  return {document_, has_items ? at_ + 1 : 0};
}
Value::Iterator Value::end() const {
  const bool has_items = is_array() || is_object();
  return {document_, has_items ? node().next : 0};
}
Value::Iterator& Value::Iterator::operator++() {
  at_ = document_->nodes_[at_].next;
  return *this;
}

Value::Members Value::members() const {
  if (!is_object()) return {{Value::Iterator(nullptr, 0)}, {Value::Iterator(nullptr, 0)}};
  return {{begin()}, {end()}};
}
Member Value::Members::Iterator::operator*() const {
  Value::Iterator value = at;
  const std::string_view key = (*value).raw();
  return {key, *++value};
}
Value::Members::Iterator& Value::Members::Iterator::operator++() {
  ++at;
  ++at;
  return *this;
}

void append_json_string(std::string& out, std::string_view text) {
  static constexpr char digits[] = "0123456789abcdef";
  out += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += "\\u00";
      out += digits[static_cast<unsigned char>(c) >> 4U];
      out += digits[static_cast<unsigned char>(c) & 15U];
    } else {
      out += c;
    }
  }
  out += '"';
}

}  // namespace jipsa::cli
