#include "text/catalogue.h"

#include <gtest/gtest.h>

#include <set>

#include "text/help.h"
#include "text/utf8.h"

namespace jipsa {
namespace {

std::set<std::string> argument_names(std::string_view pattern) {
  std::set<std::string> names;
  for (std::size_t at = pattern.find('{'); at != std::string_view::npos; at = pattern.find('{', at + 1)) {
    const std::size_t end = pattern.find('}', at);
    if (end == std::string_view::npos) {
      names.insert("UNCLOSED");
      break;
    }
    const std::string_view inside = pattern.substr(at + 1, end - at - 1);
    std::string name(inside.substr(0, inside.find('|')));
    for (const std::string_view variant : {"_n", "_unit"}) {  // the same amount with or without its unit
      if (name.ends_with(variant)) name.resize(name.size() - variant.size());
    }
    names.insert(name);
  }
  return names;
}

bool has_hangul(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const auto c = next_code_point(text, at);
    if (c && *c >= 0xac00 && *c <= 0xd7a3) return true;
  }
  return false;
}

TEST(Catalogue, EveryEntryIsThereInBothLanguagesWithTheSameArguments) {
  for (std::size_t i = 0; i < message_count(); ++i) {
    const auto message = static_cast<Msg>(i);
    const std::string name(message_name(message));
    const std::string_view en = pattern(Lang::en, message), ko = pattern(Lang::ko, message);
    EXPECT_FALSE(en.empty()) << name;
    EXPECT_FALSE(ko.empty()) << name;
    EXPECT_FALSE(has_hangul(en)) << name;
    EXPECT_FALSE(find_invalid_utf8(ko).has_value()) << name;
    EXPECT_EQ(argument_names(en).count("UNCLOSED") + argument_names(ko).count("UNCLOSED"), 0U) << name;
    if (name == "daemon_error") continue;  // the daemon's own words are English: Korean says what kind of error it is besides
    EXPECT_EQ(argument_names(en), argument_names(ko)) << name;
  }
}

TEST(Catalogue, KoreanIsKoreanWhereThereAreWords) {
  for (std::size_t i = 0; i < message_count(); ++i) {
    const auto message = static_cast<Msg>(i);
    const std::string bare = fill(pattern(Lang::en, message), {});
    std::size_t letters = 0;
    for (const char c : bare) letters += (c >= 'a' && c <= 'z') ? 1 : 0;
    const std::string_view name = message_name(message);
    const bool same_word_in_both = name == "doctor_label_cgroup" || name == "error_line" || name == "detail_uuid";
    if (letters > 3 && !same_word_in_both) { EXPECT_TRUE(has_hangul(pattern(Lang::ko, message))) << name; }
  }
}

TEST(Catalogue, NamesAreUnique) {
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < message_count(); ++i) EXPECT_TRUE(names.insert(message_name(static_cast<Msg>(i))).second);
}

TEST(Catalogue, GroupsDropOutUnlessAllOfThemIsKnown) {
  EXPECT_EQ(fill("a[ b {x}][ c {y}] d", {{"x", "1"}}), "a b 1 d");
  EXPECT_EQ(fill("a[ {x} {y}]", {{"x", "1"}, {"y", std::nullopt}}), "a");
  EXPECT_EQ(fill("{z}!", {}), "?!");
  EXPECT_EQ(fill("[[x]] [[c]ancel {{y}", {}), "[x] [c]ancel {y}");
}

TEST(Catalogue, ParticlesFollowTheArgument) {
  EXPECT_EQ(fill("{x|이} 남김", {{"x", "#41"}}), "#41이 남김");
  EXPECT_EQ(fill("{x|이} 남김", {{"x", "#42"}}), "#42가 남김");
  EXPECT_EQ(fill("[{x|을} 위해]", {{"x", "#43"}}), "#43을 위해");
}

TEST(Catalogue, ArgumentsAreHarmless) {
  EXPECT_EQ(fill("{x}", {{"x", "a\x1b[31mb\nc"}}), "a\\x1b[31mb\\nc");
  EXPECT_EQ(fill("{x}", {{"x", "{y} [z]"}, {"y", "no"}}), "{y} [z]") << "an argument is never taken for a pattern";
}

TEST(Help, EveryCommandIsExplainedInBothLanguages) {
  for (const char* command : {"", "add", "run", "list", "show", "why", "log", "wait", "cancel", "pause", "resume", "whose",
                              "tenants", "release", "releases", "events", "doctor", "config", "replay"}) {
    const auto en = help_text(Lang::en, command), ko = help_text(Lang::ko, command);
    ASSERT_TRUE(en && ko) << command;
    EXPECT_FALSE(has_hangul(*en)) << command;
    EXPECT_TRUE(has_hangul(*ko)) << command;
    EXPECT_TRUE(en->ends_with('\n') && ko->ends_with('\n')) << command;
    const auto options = [](const std::string& text) {
      std::set<std::string> found;
      for (std::size_t at = text.find("--"); at != std::string::npos; at = text.find("--", at + 2)) {
        const std::size_t end = text.find_first_not_of("abcdefghijklmnopqrstuvwxyz", at + 2);
        if (end > at + 2) found.insert(text.substr(at, end - at));
      }
      return found;
    };
    EXPECT_EQ(options(*en), options(*ko)) << command;
  }
  EXPECT_FALSE(help_text(Lang::en, "nonsense"));
}

}  // namespace
}  // namespace jipsa
