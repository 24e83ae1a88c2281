// Every sentence and word that Jipsa shows, in both languages. Callers bring a message's name and its arguments.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "text/language.h"

namespace jipsa {

enum class Msg {
#define M(id, en, ko) id,
#include "text/messages.inc"
#undef M
};

struct Arg {
  const char* key;
  std::optional<std::string> value;  // empty: unknown, or does not apply
};
using Args = std::vector<Arg>;

// Patterns: "{key}" is the argument, "{key|이}" the argument with that Korean particle, "[…]" a part that is left out unless all
// of its arguments are known. An unknown argument elsewhere reads "?". "[[", "]]" and "{{" are the characters themselves,
// and so is a "]" that closes nothing.
// Arguments are made harmless for a terminal here (text/utf8.h, safe), so no caller can forget it.
std::string say(Lang lang, Msg message, const Args& args = {});
std::string fill(std::string_view pattern, const Args& args);

std::string_view pattern(Lang lang, Msg message);
std::string_view message_name(Msg message);
std::size_t message_count();

}  // namespace jipsa
