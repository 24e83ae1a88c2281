#include "text/particle.h"

#include <gtest/gtest.h>

#include <string>

namespace jipsa {
namespace {

std::string with(std::string_view word, std::string_view pair) { return std::string(word) + std::string(particle(word, pair)); }

TEST(Particles, AfterHangul) {
  EXPECT_EQ(with("영상", "이"), "영상이");
  EXPECT_EQ(with("서버", "이"), "서버가");
  EXPECT_EQ(with("서버", "을"), "서버를");
  EXPECT_EQ(with("풀", "은"), "풀은");
  EXPECT_EQ(with("풀", "으로"), "풀로") << "ㄹ takes 로";
  EXPECT_EQ(with("점유", "과"), "점유와");
  EXPECT_EQ(with("집", "으로"), "집으로");
}

TEST(Particles, AfterNumbersAsTheyAreReadAloud) {
  EXPECT_EQ(with("#41", "이"), "#41이");
  EXPECT_EQ(with("#42", "이"), "#42가");
  EXPECT_EQ(with("#43", "을"), "#43을");
  EXPECT_EQ(with("#44", "을"), "#44를");
  EXPECT_EQ(with("#45", "은"), "#45는");
  EXPECT_EQ(with("#46", "은"), "#46은");
  EXPECT_EQ(with("#47", "으로"), "#47로");
  EXPECT_EQ(with("#48", "이"), "#48이");
  EXPECT_EQ(with("#49", "과"), "#49와");
  EXPECT_EQ(with("#10", "으로"), "#10으로");
  EXPECT_EQ(with("404", "으로"), "404로");
}

TEST(Particles, AfterLatinNamesAsTheyAreTranscribed) {
  EXPECT_EQ(with("comfyui", "이"), "comfyui가");
  EXPECT_EQ(with("ollama", "을"), "ollama를");
  EXPECT_EQ(with("vllm", "이"), "vllm이");
  EXPECT_EQ(with("chrome", "이"), "chrome이");
  EXPECT_EQ(with("firefox", "이"), "firefox가");
  EXPECT_EQ(with("kernel", "으로"), "kernel로");
  EXPECT_EQ(with("python", "은"), "python은");
  EXPECT_EQ(with("bot", "이"), "bot이");
  EXPECT_EQ(with("steam", "이"), "steam이");
  EXPECT_EQ(with("TTS", "이"), "TTS가");
  EXPECT_EQ(with("training", "이"), "training이");
  EXPECT_EQ(with("15.5 GiB", "을"), "15.5 GiB를");
}

TEST(Particles, SkipBracketsAndAdmitIgnorance) {
  EXPECT_EQ(with("(서버)", "이"), "(서버)가");
  EXPECT_EQ(with("漢字", "이"), "漢字이(가)");
  EXPECT_EQ(with("", "을"), "을(를)");
  EXPECT_EQ(with("!?", "으로"), "!?(으)로");
  EXPECT_EQ(particle("서버", "까지"), "까지") << "a particle that does not change";
}

}  // namespace
}  // namespace jipsa
