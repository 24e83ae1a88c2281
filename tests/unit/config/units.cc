#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "config/config.h"

namespace jipsa {
namespace {

std::int64_t size(const std::string& text) {
  const auto read = parse_size(text);
  return read ? read->count() : -1;
}

TEST(Size, FormsThatPeopleWrite) {
  EXPECT_EQ(size("0"), 0);
  EXPECT_EQ(size("123"), 123);
  EXPECT_EQ(size("123B"), 123);
  EXPECT_EQ(size("15G"), 15LL << 30);
  EXPECT_EQ(size("15GiB"), 15LL << 30);
  EXPECT_EQ(size("15gib"), 15LL << 30);
  EXPECT_EQ(size("15360M"), 15LL << 30);
  EXPECT_EQ(size("15GB"), 15'000'000'000);
  EXPECT_EQ(size("15 G"), 15LL << 30);
  EXPECT_EQ(size("  1.5 GiB "), 3LL << 29);
  EXPECT_EQ(size("0.4GiB"), 429496729);
  EXPECT_EQ(size("2T"), 2LL << 40);
  EXPECT_EQ(size("64K"), 65536);
  EXPECT_EQ(size("64kB"), 64000);
  EXPECT_EQ(size("0.3333333333333333333333333333G"), 357913941);
  EXPECT_EQ(size("4611686018427387903"), (1LL << 62) - 1);
}

TEST(Size, EverythingElseIsAnErrorThatShowsTheForms) {
  for (const char* text : {"",
                           " ",
                           "G",
                           ".5G",
                           "1.G",
                           "1.5",
                           "1.5B",
                           "-1",
                           "-1G",
                           "+1G",
                           "1,5G",
                           "1e3",
                           "1e3G",
                           "0x10",
                           "nan",
                           "inf",
                           "15 G G",
                           "15X",
                           "15GiBs",
                           "15 Gi",
                           "１５G",
                           "15기가",
                           "1..5G",
                           "1G5M",
                           "4611686018427387904",
                           "4194304T",
                           "99999999999999999999999999999G",
                           "1 000"}) {
    const auto read = parse_size(text);
    ASSERT_FALSE(read) << text;
    EXPECT_EQ(read.error().code, Code::bad_input);
    const bool helps =
        read.error().what.find("\"15G\"") != std::string::npos || read.error().what.find("less than 4 EiB") != std::string::npos;
    EXPECT_TRUE(helps) << read.error().what;
  }
}

TEST(Size, AMessageIsOneLineOfWholeCharacters) {
  std::string text;
  for (int i = 0; i < 100; ++i) text += "가";
  text.insert(3, "\n\x01");
  const auto what = parse_size(text).error().what;
  EXPECT_EQ(what.find('\n'), std::string::npos);
  EXPECT_NE(what.find("…"), std::string::npos);
  const auto shown = what.substr(0, what.find("…"));
  EXPECT_EQ(static_cast<unsigned char>(shown[shown.size() - 3]), 0xea) << "cut within a character: " << what;
}

TEST(Size, NeverCrashesAndNeverLeavesItsRange) {
  EXPECT_TRUE(rc::check([](const std::string& text) {
    const auto read = parse_size(text);
    if (read) RC_ASSERT(read->count() >= 0 && read->count() < (1LL << 62));
  }));
  EXPECT_TRUE(rc::check([] {
    const auto text = *rc::gen::container<std::string>(rc::gen::elementOf(std::string("0123456789.GMKTiBb -")));
    const auto read = parse_size(text);
    if (read) RC_ASSERT(read->count() >= 0 && read->count() < (1LL << 62));
  }));
}

TEST(Size, EveryAmountOfBytesReadsAsItself) {
  EXPECT_TRUE(rc::check([] {
    const auto count = *rc::gen::inRange<std::int64_t>(0, 1LL << 62);
    RC_ASSERT(size(std::to_string(count)) == count);
  }));
}

TEST(Duration, Forms) {
  const auto seconds = [](const char* text) { return parse_duration(text).value(); };
  EXPECT_DOUBLE_EQ(seconds("90"), 90);
  EXPECT_DOUBLE_EQ(seconds("0.25"), 0.25);
  EXPECT_DOUBLE_EQ(seconds("500ms"), 0.5);
  EXPECT_DOUBLE_EQ(seconds("30 s"), 30);
  EXPECT_DOUBLE_EQ(seconds("10m"), 600);
  EXPECT_DOUBLE_EQ(seconds("1.5h"), 5400);
  EXPECT_DOUBLE_EQ(seconds("1d"), 86400);
  for (const char* text :
       {"", "-1", "-5s", "1y", "10 minutes", "nan", "inf", "1e9", "1h30m", "1.s", "400d", "99999999999999999999999"}) {
    const auto read = parse_duration(text);
    ASSERT_FALSE(read) << text;
    EXPECT_EQ(read.error().code, Code::bad_input);
  }
}

}  // namespace
}  // namespace jipsa
