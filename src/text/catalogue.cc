#include "text/catalogue.h"

#include <iterator>

#include "text/particle.h"
#include "text/utf8.h"

namespace jipsa {
namespace {

struct Entry {
  std::string_view name, en, ko;
};
constexpr Entry entries[] = {
#define M(id, en, ko) {#id, en, ko},
#include "text/messages.inc"
#undef M
};

const Entry& entry(Msg message) { return entries[static_cast<std::size_t>(message)]; }

const Arg* find(const Args& args, std::string_view key) {
  for (const Arg& arg : args) {
    if (key == arg.key) return &arg;
  }
  return nullptr;
}

// Writes the placeholder whose name and particle stand in `inside`; false if its argument is not known.
bool place(std::string& out, std::string_view inside, const Args& args) {
  const std::size_t bar = inside.find('|');
  const Arg* arg = find(args, inside.substr(0, bar));
  const bool known = arg != nullptr && arg->value.has_value();
  const std::string value = known ? safe(*arg->value) : "?";
  out += value;
  if (bar != std::string_view::npos) out += particle(value, inside.substr(bar + 1));
  return known;
}

}  // namespace

std::string fill(std::string_view pattern, const Args& args) {
  std::string out, group;
  bool in_group = false, group_known = true;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    std::string& target = in_group ? group : out;
    const char c = pattern[i];
    const bool doubled = i + 1 < pattern.size() && pattern[i + 1] == c && (c == '[' || c == ']' || c == '{');
    if (doubled) {
      target += c;
      ++i;
    } else if (c == '[') {
      in_group = true;
      group_known = true;
      group.clear();
    } else if (c == ']' && in_group) {
      if (group_known) out += group;
      in_group = false;
    } else if (c == '{') {
      const std::size_t end = pattern.find('}', i);
      if (end == std::string_view::npos) break;  // the catalogue's test keeps this from happening
      const bool known = place(target, pattern.substr(i + 1, end - i - 1), args);
      group_known = group_known && known;
      i = end;
    } else {
      target += c;
    }
  }
  return out;
}

std::string say(Lang lang, Msg message, const Args& args) { return fill(pattern(lang, message), args); }

std::string_view pattern(Lang lang, Msg message) { return lang == Lang::ko ? entry(message).ko : entry(message).en; }

std::string_view message_name(Msg message) { return entry(message).name; }

std::size_t message_count() { return std::size(entries); }

}  // namespace jipsa
