#include "text/words.h"

#include <gtest/gtest.h>

#include "core/decision.h"

namespace jipsa {
namespace {

constexpr Lang both[] = {Lang::en, Lang::ko};

TEST(Words, States) {
  EXPECT_EQ(state_text(Lang::en, "waiting", {}, {}), "waits");
  EXPECT_EQ(state_text(Lang::en, "succeeded", 0, {}), "Done");
  EXPECT_EQ(state_text(Lang::en, "failed", 2, {}), "Failed (2)");
  EXPECT_EQ(state_text(Lang::ko, "failed", 2, {}), "실패(2)");
  EXPECT_EQ(state_text(Lang::en, "failed", {}, 9), "Failed (SIGKILL)");
  EXPECT_EQ(state_text(Lang::en, "failed", {}, 77), "Failed (signal 77)");
  EXPECT_EQ(state_text(Lang::en, "failed", {}, {}), "Failed");
  EXPECT_EQ(state_text(Lang::en, "napping", {}, {}), "napping");
  for (const char* state : {"waiting", "held", "starting", "running", "succeeded", "failed", "cancelled", "lost"}) {
    EXPECT_FALSE(state_text(Lang::en, state, {}, {}).empty()) << state;
    EXPECT_NE(state_text(Lang::ko, state, {}, {}), state) << state;
  }
}

TEST(Words, EveryVerdictHasAWordAndAMeaning) {
  for (int i = 0; i <= static_cast<int>(VerdictKind::regrown); ++i) {
    const char* verdict = name(static_cast<VerdictKind>(i));
    EXPECT_NE(verdict_text(Lang::ko, verdict), verdict) << verdict;
    for (const Lang lang : both) EXPECT_NE(verdict_meaning(lang, verdict), verdict_meaning(lang, "no_such_verdict")) << verdict;
  }
  EXPECT_EQ(verdict_text(Lang::en, ""), "being watched");
  EXPECT_EQ(verdict_text(Lang::en, "vanished"), "vanished");
}

TEST(Words, EveryHowHasAWord) {
  for (int i = 0; i <= static_cast<int>(How::shared); ++i) {
    const char* how = name(static_cast<How>(i));
    EXPECT_NE(how_text(Lang::ko, how), how) << how;
  }
}

TEST(Words, Notes) {
  EXPECT_EQ(note_text(Lang::en, "dependency:41"), "#41 did not end well");
  EXPECT_EQ(note_text(Lang::ko, "dependency:41"), "#41이 정상 완료되지 않음");
  EXPECT_EQ(note_text(Lang::en, "not_started: chdir /x: No such file or directory"),
            "could not be started: chdir /x: No such file or directory");
  EXPECT_EQ(note_text(Lang::en, "rebooted"), "the machine went down while it ran");
  EXPECT_EQ(note_text(Lang::en, "\x1b[31mnew"), "\\x1b[31mnew");
}

TEST(Words, EveryCheckHasASentenceForEveryState) {
  for (const char* id : {"driver", "gpu:gpu0", "host_memory", "cgroup", "processes", "tenant:comfyui", "recording", "store"}) {
    for (const char* state : {"ok", "limited", "missing", "broken"}) {
      for (const Lang lang : both) {
        const CheckText text = check_text(lang, id, state, {}, {});
        EXPECT_FALSE(text.label.empty()) << id;
        EXPECT_FALSE(text.meaning.empty()) << id << ' ' << state;
      }
    }
  }
  EXPECT_EQ(check_text(Lang::en, "gpu:gpu0", "ok", {}, {}).label, "card gpu0");
  EXPECT_EQ(check_text(Lang::en, "moon", "ok", {}, {}).label, "moon") << "a check of a newer daemon";
  EXPECT_EQ(check_text(Lang::en, "moon", "ok", {}, {}).meaning, "");
}

}  // namespace
}  // namespace jipsa
