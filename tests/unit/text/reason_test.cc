#include "text/reason.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>

#include "core/decision.h"
#include "text/units.h"

namespace jipsa {
namespace {

constexpr int code_count = static_cast<int>(WaitCode::stale) + 1;

class Reasons : public ::testing::Test {
 protected:
  void SetUp() override {
    setenv("TZ", "KST-9", 1);
    tzset();
    now_ = *parse_time("2026-10-28T03:06:00Z");
    noon_.code = "releasing";
    noon_.pool = "gpu0";
    noon_.owner = "tenant:comfyui";
    noon_.need = Bytes{17179869184};
    noon_.free = Bytes{14280766259};
    noon_.short_by = Bytes{2899102925};
    noon_.held = Bytes{16642998272};
    noon_.idle_since_ms = *parse_time("2026-10-28T00:31:00Z");
    noon_.left_by = 41;
    noon_.asked_at_ms = now_ - 2000;
  }
  void TearDown() override {
    unsetenv("TZ");
    tzset();
  }
  ReasonFacts with(std::string code, std::string owner = "tenant:comfyui") const {
    ReasonFacts reason = noon_;
    reason.code = std::move(code);
    reason.owner = std::move(owner);
    return reason;
  }
  std::string en(const ReasonFacts& r) const { return reason_short(Lang::en, r, now_); }
  std::string ko(const ReasonFacts& r) const { return reason_short(Lang::ko, r, now_); }
  std::string en_long(const ReasonFacts& r) const { return reason_long(Lang::en, r, now_); }
  std::string ko_long(const ReasonFacts& r) const { return reason_long(Lang::ko, r, now_); }

  std::int64_t now_ = 0;
  ReasonFacts noon_;
};

TEST_F(Reasons, TheNoonOfTheVideoJob) {
  EXPECT_EQ(en(noon_), "2.7 GiB short on gpu0: comfyui holds 15.5, idle 2 h 35 min (left by #41); asked to release 2 s ago");
  EXPECT_EQ(ko(noon_), "gpu0 2.7 GiB 부족: comfyui 15.5 GiB, 2시간 35분째 쉬는 중(#41이 남김); 2초 전 반납 요청");
  EXPECT_EQ(
      en_long(noon_),
      "needs 16.0 GiB on gpu0, 13.3 free: comfyui holds 15.5 GiB, idle since 09:31 (left by #41); asked to release 2 s ago");
  EXPECT_EQ(ko_long(noon_),
            "gpu0에 16.0 GiB 필요, 여유 13.3 GiB: comfyui 15.5 GiB 점유, 09:31부터 쉬는 중(#41이 남김); 2초 전 반납 요청");
}

TEST_F(Reasons, EveryCodeHasAShortAndALongSentenceInBothLanguages) {
  for (int i = 0; i < code_count; ++i) {
    const std::string code = name(static_cast<WaitCode>(i));
    const ReasonFacts full = with(code);
    ReasonFacts bare;
    bare.code = code;
    for (const ReasonFacts& reason : {full, bare}) {
      for (const std::string& text : {en(reason), ko(reason), en_long(reason), ko_long(reason)}) {
        EXPECT_FALSE(text.empty()) << code;
        EXPECT_FALSE(text.starts_with(code + ":")) << code << " is shown as an unknown code";
        EXPECT_EQ(text.find('?'), std::string::npos) << code << ": " << text;
        EXPECT_EQ(text.find_first_of("[]{}"), std::string::npos) << code << ": " << text;
      }
    }
    EXPECT_NE(en(full), ko(full)) << code;
  }
}

TEST_F(Reasons, WhatStandsInTheWayHasItsName) {
  EXPECT_EQ(en(with("leftover")), "2.7 GiB short on gpu0: comfyui holds 15.5, idle 2 h 35 min (left by #41)");
  EXPECT_EQ(ko(with("leftover")), "gpu0 2.7 GiB 부족: comfyui 15.5 GiB, 2시간 35분째 쉬는 중(#41이 남김)");
  EXPECT_EQ(en(with("running_job", "job:7")), "2.7 GiB short on gpu0: #7 is running, holds 15.5");
  EXPECT_EQ(ko(with("running_job", "job:7")), "gpu0 2.7 GiB 부족: #7 실행 중, 15.5 GiB 점유");
  EXPECT_EQ(en(with("other_process", "process:vllm")), "2.7 GiB short on gpu0: vllm (not a job) holds 15.5");
  EXPECT_EQ(en(with("baseline", "baseline")), "2.7 GiB short on gpu0: the desktop holds 15.5");
  EXPECT_EQ(ko(with("unexplained", "unexplained")), "gpu0 2.7 GiB 부족: 15.5 GiB 점유자를 알 수 없음");
}

TEST_F(Reasons, OrderAndDependencies) {
  ReasonFacts order;
  order.code = "order";
  order.owner = "job:42";
  EXPECT_EQ(en(order), "behind #42");
  EXPECT_EQ(ko(order), "#42 다음 순서");
  ReasonFacts dependency;
  dependency.code = "dependency";
  dependency.after = {41, 43};
  EXPECT_EQ(en(dependency), "after #41, #43");
  EXPECT_EQ(ko_long(dependency), "#41, #43이 정상 완료되어야 시작");
}

TEST_F(Reasons, UnknownAmountsAreLeftOutNotZero) {
  ReasonFacts reason = noon_;
  reason.held.reset();
  reason.left_by.reset();
  reason.asked_at_ms.reset();
  reason.short_by.reset();
  EXPECT_EQ(en(reason), "comfyui, idle 2 h 35 min; asked to release");
  EXPECT_EQ(ko(reason), "comfyui, 2시간 35분째 쉬는 중; 반납 요청");
}

TEST_F(Reasons, CodesOfANewerDaemonAreShown) {
  EXPECT_EQ(en(with("lunar_eclipse")), "lunar_eclipse: 2.7 GiB short on gpu0: comfyui");
  EXPECT_EQ(ko(with("lunar_eclipse")), "lunar_eclipse: gpu0 2.7 GiB 부족: comfyui");
  EXPECT_EQ(en(ReasonFacts{}), "not weighed yet");
}

TEST_F(Reasons, HostileNamesAreHarmless) {
  const std::string text = en(with("leftover", "process:\x1b[2Jroot\n"));
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_EQ(text.find('\n'), std::string::npos);
  EXPECT_NE(text.find("\\x1b[2Jroot\\n"), std::string::npos);
}

}  // namespace
}  // namespace jipsa
