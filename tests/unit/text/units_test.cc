#include "text/units.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>

#include "text/language.h"

namespace jipsa {
namespace {

TEST(Sizes, AreGibWithOneDecimal) {
  EXPECT_EQ(gib_text(Bytes{16642998272}), "15.5 GiB");
  EXPECT_EQ(gib_text(gib(16)), "16.0 GiB");
  EXPECT_EQ(gib_text(Bytes{2899102925}), "2.7 GiB");
  EXPECT_EQ(gib_number(Bytes{0}), "0.0");
  EXPECT_EQ(gib_number(Bytes{1}), "<0.1") << "some is not none";
  EXPECT_EQ(gib_number(mib(51)), "<0.1");
  EXPECT_EQ(gib_number(mib(52)), "0.1");
  EXPECT_EQ(gib_text(std::nullopt), "?") << "unknown is not 0";
  EXPECT_EQ(gib_number(Bytes{} - gib(2)), "-2.0");
  EXPECT_EQ(gib_number(Bytes::highest()), "8589934592.0");
  EXPECT_EQ(gib_number(Bytes::lowest()), "-8589934592.0");
}

TEST(Durations, InBothLanguages) {
  struct Row {
    double seconds;
    const char *en, *ko;
  };
  const Row rows[] = {{-5, "0 s", "0초"},
                      {0.9, "0 s", "0초"},
                      {2, "2 s", "2초"},
                      {59.9, "59 s", "59초"},
                      {60, "1 min", "1분"},
                      {192, "3 min 12 s", "3분 12초"},
                      {2100, "35 min", "35분"},
                      {9300, "2 h 35 min", "2시간 35분"},
                      {7200, "2 h", "2시간"},
                      {100 * 3600.0, "4 d 4 h", "4일 4시간"},
                      {1e300, "115740 d 17 h", "115740일 17시간"}};
  for (const Row& row : rows) {
    EXPECT_EQ(duration_text(Lang::en, row.seconds), row.en);
    EXPECT_EQ(duration_text(Lang::ko, row.seconds), row.ko);
  }
  EXPECT_EQ(span_text(Lang::en, 1.44), "1.4 s");
  EXPECT_EQ(span_text(Lang::ko, 1.44), "1.4초");
  EXPECT_EQ(span_text(Lang::en, 75), "1 min 15 s");
}

class Clocks : public ::testing::Test {
 protected:
  void SetUp() override {
    setenv("TZ", "KST-9", 1);
    tzset();
  }
  void TearDown() override {
    unsetenv("TZ");
    tzset();
  }
};

TEST_F(Clocks, AreLocalAndAsShortAsTheDayAllows) {
  const auto now = *parse_time("2026-10-28T03:04:00.123Z");
  EXPECT_EQ(clock_text(Lang::en, *parse_time("2026-10-28T00:31:00Z"), now), "09:31");
  EXPECT_EQ(clock_text(Lang::en, *parse_time("2026-10-28T03:05:46Z"), now, ClockDetail::seconds), "12:05:46");
  EXPECT_EQ(clock_text(Lang::en, *parse_time("2026-10-27T14:59:00Z"), now), "27 Oct 23:59");
  EXPECT_EQ(clock_text(Lang::ko, *parse_time("2026-10-27T14:59:00Z"), now), "10월 27일 23:59");
  EXPECT_EQ(clock_text(Lang::en, *parse_time("2025-10-28T03:04:00Z"), now), "28 Oct 2025 12:04");
  EXPECT_EQ(clock_text(Lang::ko, *parse_time("2025-10-28T03:04:00Z"), now), "2025년 10월 28일 12:04");
}

TEST(Times, AreReadOrRefused) {
  EXPECT_EQ(parse_time("1970-01-01T00:00:00Z"), 0);
  EXPECT_EQ(parse_time("2000-02-29T12:00:00.500Z"), 951825600500);
  EXPECT_EQ(parse_time("2026-10-28T12:04:00+09:00"), parse_time("2026-10-28T03:04:00Z"));
  EXPECT_EQ(parse_time("2026-10-28T03:04:00.1239Z"), *parse_time("2026-10-28T03:04:00Z") + 123);
  for (const char* bad : {"", "now", "2026-10-28", "2026-13-28T03:04:00Z", "2026-10-28 03:04:00Z", "2026-10-28T25:04:00Z",
                          "2026-10-28T03:04:00", "2026-10-28T03:04:00Zx", "2026-10-28T03:04:00+9", "20x6-10-28T03:04:00Z"}) {
    EXPECT_FALSE(parse_time(bad)) << bad;
  }
}

TEST(Language, FirstThatIsSetDecides) {
  EXPECT_EQ(language_of_environment(nullptr, nullptr, "ko_KR.UTF-8"), Lang::ko);
  EXPECT_EQ(language_of_environment("", "", "ko"), Lang::ko);
  EXPECT_EQ(language_of_environment("C", nullptr, "ko_KR.UTF-8"), Lang::en);
  EXPECT_EQ(language_of_environment(nullptr, "ko_KR", "en_US"), Lang::ko);
  EXPECT_EQ(language_of_environment(nullptr, nullptr, nullptr), Lang::en);
  EXPECT_EQ(language_of_environment(nullptr, nullptr, "kok_IN"), Lang::en) << "Konkani is not Korean";
  EXPECT_EQ(parse_language("ko"), Lang::ko);
  EXPECT_FALSE(parse_language("kr"));
}

}  // namespace
}  // namespace jipsa
