#include "daemon/json_text.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

namespace jipsa {
namespace {

TEST(JsonText, NestsAndSeparates) {
  JsonText json;
  json.open_object().key("a").open_array().number(1).number(std::nullopt).open_object().close_object().close_array();
  json.key("b").text_or_null("").key("c").truth(true).key("d").bytes(Bytes{-5}).close_object();
  EXPECT_EQ(json.view(), R"({"a":[1,null,{}],"b":null,"c":true,"d":-5})");
}

TEST(JsonText, RealsAreShortAndNeverNotANumber) {
  JsonText json;
  json.open_array().real(1.5).real(2.0).real(0.1234).real(std::numeric_limits<double>::quiet_NaN()).close_array();
  EXPECT_EQ(json.view(), "[1.5,2,0.123,null]");
}

TEST(JsonText, BytesThatAreNotUtf8BecomeTheReplacementCharacter) {
  JsonText json;
  json.text("a\xff\xc3(\xed\xa0\x80z\xf0\x9f\x98\x80");
  const auto back = nlohmann::json::parse(json.view()).get<std::string>();
  EXPECT_EQ(back, "a\xEF\xBF\xBD\xEF\xBF\xBD(\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBDz\xf0\x9f\x98\x80");
}

RC_GTEST_PROP(JsonText, AnyBytesGiveAStringThatParses, (const std::string& bytes)) {
  JsonText json;
  json.text(bytes);
  RC_ASSERT(nlohmann::json::parse(json.view()).is_string());
}

TEST(Rfc3339, MillisecondsInUtc) {
  EXPECT_EQ(rfc3339(0), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(rfc3339(1793156640123), "2026-10-28T03:04:00.123Z");
  EXPECT_EQ(rfc3339(-1), "1969-12-31T23:59:59.999Z");
}

}  // namespace
}  // namespace jipsa
