#include "text/language.h"

namespace jipsa {

std::optional<Lang> parse_language(std::string_view word) {
  if (word == "en") return Lang::en;
  if (word == "ko") return Lang::ko;
  return std::nullopt;
}

Lang language_of_environment(const char* lc_all, const char* lc_messages, const char* lang) {
  for (const char* value : {lc_all, lc_messages, lang}) {
    if (value == nullptr || *value == '\0') continue;
    const std::string_view word = value;
    if (!word.starts_with("ko")) return Lang::en;
    // "kok" is Konkani: after "ko" the tag must end.
    return word.size() == 2 || word[2] == '_' || word[2] == '.' || word[2] == '@' || word[2] == '-' ? Lang::ko : Lang::en;
  }
  return Lang::en;
}

}  // namespace jipsa
