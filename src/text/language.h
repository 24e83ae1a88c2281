// Which of the two languages a person reads.
#pragma once

#include <optional>
#include <string_view>

namespace jipsa {

enum class Lang { en, ko };

std::optional<Lang> parse_language(std::string_view word);  // exactly "en" or "ko"

// As POSIX ranks them: the first of the three that is set and not empty decides. Anything but ko… is English.
Lang language_of_environment(const char* lc_all, const char* lc_messages, const char* lang);

}  // namespace jipsa
