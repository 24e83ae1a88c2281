#include "text/help.h"

namespace jipsa {
namespace {

constexpr HelpPage pages[] = {
    {"whose", R"(jipsa whose [-v]

Whose memory every byte is, pool by pool. The owners of a pool add up to what is used of it.

  -v, --verbose   also how far each figure can be trusted, and what it rests on
)",
     R"(jipsa whose [-v]

풀마다 메모리의 주인을 보여 줍니다. 점유를 모두 더하면 그 풀의 사용량이 됩니다.

  -v, --verbose   수치의 범위와 근거도 보여 줌
)"},
    {"tenants", "jipsa tenants\n\nThe model servers: what they hold, what they hold at least (floor), and what they are doing.\n",
     "jipsa tenants\n\n모델 서버들의 점유, 바닥(모델이 없을 때의 점유), 하는 일을 보여 줍니다.\n"},
    {"release", R"(jipsa release SERVER

Asks a server now to give back what it holds, whatever the queue wants. jipsa releases shows what comes of it.

  jipsa release comfyui
)",
     R"(jipsa release 서버

대기열과 상관없이 지금 서버에 반납을 요청합니다. 결과는 jipsa releases로 볼 수 있습니다.

  jipsa release comfyui
)"},
    {"releases", R"(jipsa releases [--tenant T] [--limit N]

Every release: before, after, how long it took, the verdict. Below them how often each server earned which verdict.

  --tenant T   of this server alone
  --limit N    how many [50]
)",
     R"(jipsa releases [--tenant 서버] [--limit N]

반납 기록: 전후 점유, 걸린 시간, 판정. 아래에는 서버별 판정 횟수가 나옵니다.

  --tenant 서버   이 서버만
  --limit N       개수 [50]
)"},
    {"events", "jipsa events [-f]\n\nWhat has happened lately; with -f, what happens as it happens.\n",
     "jipsa events [-f]\n\n최근에 일어난 일을 보여 줍니다. -f를 주면 일어나는 대로 보여 줍니다.\n"},
    {"doctor",
     "jipsa doctor\n\nWhat can be measured here, what can't, and what that means. Exit code 1 if something is broken.\n",
     "jipsa doctor\n\n이 시스템에서 잴 수 있는 것과 없는 것, 그 의미를 보여 줍니다. 고장이 있으면 종료 코드는 1입니다.\n"},
    {"config", R"(jipsa config check [FILE]

Checks the configuration, all of it, and says what to write instead. Needs no daemon. Exit code 2 if there is something to mend.
)",
     R"(jipsa config check [파일]

설정 파일을 끝까지 검사하고 고칠 내용을 알려 줍니다. 데몬이 없어도 됩니다. 고칠 곳이 있으면 종료 코드는 2입니다.
)"},
    {"replay", R"(jipsa replay [--ledger] [--check] [--stats] FILE…

Feeds a recording to the decision core and prints what it decides. Needs no daemon. FILE may be - for standard input.

  --ledger   also the books of every pool at every look
  --check    only what does not hold of the recording's expectations: exit code 1
  --stats    how fast it went, on standard error
)",
     R"(jipsa replay [--ledger] [--check] [--stats] 파일…

기록을 판단 코어에 넣어 결정을 출력합니다. 데몬이 없어도 됩니다. 파일 대신 -를 쓰면 표준 입력을 읽습니다.

  --ledger   관찰할 때마다 모든 풀의 장부도 출력
  --check    기록의 기대와 다른 것만 출력: 종료 코드 1
  --stats    처리 속도를 표준 오류에 출력
)"},
};

}  // namespace

const HelpPage* find_memory_help_page(std::string_view command) {
  for (const HelpPage& page : pages) {
    if (page.command == command) return &page;
  }
  return nullptr;
}

}  // namespace jipsa
