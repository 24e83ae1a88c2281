// Korean particles after names and numbers that are only known at run time.
#pragma once

#include <string_view>

namespace jipsa {

// `pair` is named by its form after a consonant: "이" (이/가), "을" (을/를), "은" (은/는), "과" (과/와), "으로" (으로/로).
// Chosen by how `word` is read aloud: Hangul by its last syllable, digits and Latin letters by their Korean reading. Where no
// reading is known both forms are given: "이(가)". An unknown pair is returned as it is.
std::string_view particle(std::string_view word, std::string_view pair);

}  // namespace jipsa
