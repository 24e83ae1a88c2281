#include "text/utf8.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace jipsa {
namespace {

TEST(Width, CountsColumns) {
  EXPECT_EQ(display_width(""), 0U);
  EXPECT_EQ(display_width("abc"), 3U);
  EXPECT_EQ(display_width("영상"), 4U);
  EXPECT_EQ(display_width("가\u1102\u1161"), 4U) << "conjoining jamo make one syllable of two columns";
  EXPECT_EQ(display_width("e\u0301"), 1U) << "a combining accent";
  EXPECT_EQ(display_width("漢字かな"), 8U);
  EXPECT_EQ(display_width("Ａ"), 2U) << "full-width";
  EXPECT_EQ(display_width("ｱ"), 1U) << "half-width";
  EXPECT_EQ(display_width("😀"), 2U);
  EXPECT_EQ(display_width("❤\ufe0f"), 2U) << "a sign drawn as an emoji";
  EXPECT_EQ(display_width("👩\u200d💻"), 2U) << "joined emoji are one";
  EXPECT_EQ(display_width("🇰🇷"), 2U) << "a flag is two signs of one column";
  EXPECT_EQ(display_width("·→–…"), 4U);
  EXPECT_EQ(display_width("a\u200b"), 1U);
}

TEST(Width, BadBytesTakeOneColumnEach) { EXPECT_EQ(display_width("a\xff\xfe"), 3U); }

TEST(Padding, LinesUpInAnyScript) {
  for (const char* word : {"", "lora", "영상", "영상a", "😀", "e\u0301"}) {
    EXPECT_EQ(display_width(pad_right(word, 8)), 8U) << word;
    EXPECT_EQ(display_width(pad_left(word, 8)), 8U) << word;
  }
  EXPECT_EQ(pad_right("longer", 3), "longer");
}

TEST(Truncation, NeverCutsASignInTwo) {
  EXPECT_EQ(truncate("abcdef", 6), "abcdef");
  EXPECT_EQ(truncate("abcdefg", 6), "abcde…");
  EXPECT_EQ(truncate("영상편집", 5), "영상…");
  EXPECT_EQ(truncate("영상편집", 6), "영상…") << "the third would not leave room for the dots";
  EXPECT_EQ(truncate("영상", 0), "");
}

RC_GTEST_PROP(Truncation, FitsAndStaysValid, (const std::vector<char32_t>& raw, std::uint8_t columns)) {
  std::string text;
  for (const char32_t c : raw) {
    const char32_t point = c % 0x110000;
    if (point < 0xd800 || point > 0xdfff) append_utf8(text, point);
  }
  const std::string cut = truncate(text, columns);
  RC_ASSERT(display_width(cut) <= columns);
  RC_ASSERT(!find_invalid_utf8(cut).has_value());
}

TEST(Validity, FindsTheFirstBadByte) {
  EXPECT_FALSE(find_invalid_utf8("plain, 한글, 😀"));
  EXPECT_EQ(find_invalid_utf8("ab\xff"), 2U);
  EXPECT_EQ(find_invalid_utf8("\xc0\xaf"), 0U) << "overlong";
  EXPECT_EQ(find_invalid_utf8("\xe0\x80\xaf"), 0U) << "overlong";
  EXPECT_EQ(find_invalid_utf8("x\xed\xa0\x80"), 1U) << "a surrogate";
  EXPECT_EQ(find_invalid_utf8("\xf4\x90\x80\x80"), 0U) << "beyond the last code point";
  EXPECT_EQ(find_invalid_utf8("\xed\x95"), 0U) << "cut short";
}

RC_GTEST_PROP(Validity, WhatIsEncodedIsDecoded, (char32_t raw)) {
  const char32_t c = raw % 0x110000;
  RC_PRE(c < 0xd800 || c > 0xdfff);
  std::string text;
  append_utf8(text, c);
  std::size_t at = 0;
  RC_ASSERT(next_code_point(text, at) == c);
  RC_ASSERT(at == text.size());
}

TEST(Safety, SpellsOutWhatMovesTheCursor) {
  EXPECT_EQ(safe("plain 한글 😀"), "plain 한글 😀");
  EXPECT_EQ(safe("a\x1b[2Jb"), "a\\x1b[2Jb");
  EXPECT_EQ(safe("a\nb\tc\rd"), "a\\nb\\tc\\rd");
  EXPECT_EQ(safe("\x7f"), "\\x7f");
  EXPECT_EQ(safe("\u009b31m"), "\\x9b31m") << "the one-sign form of ESC [";
  EXPECT_EQ(safe("a\u202eb"), "a\\u{202e}b") << "text direction";
  EXPECT_EQ(safe("\xff"), "\\xff");
  EXPECT_EQ(safe("\U000e0041"), "\\u{e0041}");
}

RC_GTEST_PROP(Safety, NoControlSurvives, (const std::string& bytes)) {
  const std::string text = safe(bytes);
  for (std::size_t at = 0; at < text.size();) {
    const auto c = next_code_point(text, at);
    RC_ASSERT(c.has_value());
    RC_ASSERT(*c >= 0x20U && !(*c >= 0x7fU && *c < 0xa0U));
  }
}

}  // namespace
}  // namespace jipsa
