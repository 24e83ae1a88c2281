#include "text/particle.h"

#include <cctype>
#include <optional>

#include "text/utf8.h"

namespace jipsa {
namespace {

enum class Ending { vowel, rieul, consonant };  // ㄹ stands alone: 으로 becomes 로 after it

struct Pair {
  std::string_view after_consonant, after_vowel, unknown;
};
constexpr Pair pairs[] = {
    {"이", "가", "이(가)"}, {"을", "를", "을(를)"}, {"은", "는", "은(는)"}, {"과", "와", "와(과)"}, {"으로", "로", "(으)로"}};

Ending of_digit(char digit) {  // 영 일 이 삼 사 오 육 칠 팔 구; a number that ends in 0 ends in 십, 백, 천 or 만
  switch (digit) {
    case '1':
    case '7':
    case '8':
      return Ending::rieul;
    case '0':
    case '3':
    case '6':
      return Ending::consonant;
    default:
      return Ending::vowel;
  }
}

bool is_vowel(char c) { return c == 'a' || c == 'e' || c == 'i' || c == 'o' || c == 'u'; }

Ending of_sonorant(char c) { return c == 'l' ? Ending::rieul : Ending::consonant; }
bool sonorant(char c) { return c == 'l' || c == 'm' || c == 'n'; }

// A letter by its name (엘, 엠, 엔, 알); the names of all others end in a vowel.
Ending of_letter_name(char c) {
  if (c == 'L' || c == 'R') return Ending::rieul;
  return c == 'M' || c == 'N' ? Ending::consonant : Ending::vowel;
}

// A Latin word by its usual transcription: "-l" ㄹ, "-m" "-n" "-ng" a final sound, a short vowel before b c k p t too ("bot" 봇),
// a silent e is not heard ("chrome" 크롬); all else takes a vowel ("vox" 복스, "ollama" 올라마).
Ending of_word(std::string_view word) {
  const auto at = [&](std::size_t from_end) {
    return word.size() >= from_end ? static_cast<char>(std::tolower(static_cast<unsigned char>(word[word.size() - from_end])))
                                   : ' ';
  };
  if (sonorant(at(1))) return of_sonorant(at(1));
  if (at(1) == 'g' && at(2) == 'n') return Ending::consonant;
  if (at(1) == 'e' && sonorant(at(2)) && is_vowel(at(3))) return of_sonorant(at(2));
  const bool stop = at(1) == 'b' || at(1) == 'c' || at(1) == 'k' || at(1) == 'p' || at(1) == 't';
  return stop && is_vowel(at(2)) && !is_vowel(at(3)) ? Ending::consonant : Ending::vowel;
}

bool is_latin(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }

Ending of_latin(std::string_view text) {
  if (text.ends_with("GiB")) return Ending::vowel;  // 기가바이트
  std::size_t start = text.size();
  bool all_capital = true, any_vowel = false;
  for (; start > 0 && is_latin(text[start - 1]); --start) {
    all_capital = all_capital && std::isupper(static_cast<unsigned char>(text[start - 1])) != 0;
    const char lower = static_cast<char>(std::tolower(static_cast<unsigned char>(text[start - 1])));
    any_vowel = any_vowel || is_vowel(lower) || lower == 'y';
  }
  const char last = static_cast<char>(std::toupper(static_cast<unsigned char>(text.back())));
  if (all_capital || !any_vowel) return of_letter_name(last);  // an abbreviation: spelled, not read
  return of_word(text.substr(start));
}

std::optional<Ending> ending(std::string_view word) {
  while (!word.empty() && static_cast<unsigned char>(word.back()) < 0x80 &&
         std::isalnum(static_cast<unsigned char>(word.back())) == 0) {
    word.remove_suffix(1);  // brackets and stops are not read
  }
  if (word.empty()) return std::nullopt;
  const char last = word.back();
  if (last >= '0' && last <= '9') return of_digit(last);
  if (is_latin(last)) return of_latin(word);
  std::size_t start = word.size() - 1;
  while (start > 0 && (static_cast<unsigned char>(word[start]) & 0xc0U) == 0x80) --start;
  const auto c = next_code_point(word, start);
  if (!c || *c < 0xac00 || *c > 0xd7a3) return std::nullopt;
  const unsigned final_sound = (*c - 0xac00) % 28;
  if (final_sound == 0) return Ending::vowel;
  return final_sound == 8 ? Ending::rieul : Ending::consonant;
}

}  // namespace

std::string_view particle(std::string_view word, std::string_view pair) {
  for (const Pair& p : pairs) {
    if (p.after_consonant != pair) continue;
    const auto end = ending(word);
    if (!end) return p.unknown;
    const bool open = *end == Ending::vowel || (*end == Ending::rieul && pair == "으로");
    return open ? p.after_vowel : p.after_consonant;
  }
  return pair;
}

}  // namespace jipsa
