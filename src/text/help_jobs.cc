#include "text/help.h"

namespace jipsa {
namespace {

constexpr HelpPage pages[] = {
    {"add", R"(jipsa add [options] [--] COMMAND…
jipsa add [options] --with LAUNCHER (-f FILE | --text TEXT)

Adds a job and prints its number. The job runs in this directory, with this environment.

  jipsa add --vram 16G -- python3 train.py --epochs 3
  jipsa add --vram 8G --gpu 1 --ram 12G --name video -- ./run.sh
  jipsa add --tenant comfyui --bundle wan --vram 16G -- ./submit.py
  jipsa add --with claude --vram 4G -f - < task.md

  --vram SIZE       what it takes on a card: 16G, 15360M (binary), 15GB (decimal)
  --gpu ID          on this card (gpu1, or 1); without it, any card
  --ram SIZE        what it takes of host memory
  -n, --name NAME   how it is called in lists
  -p, --priority N  higher goes first [0]
  --tenant T        it drives this server: its memory is used inside it
  --bundle B        the set of models it loads there
  --after ID…       not before these jobs have ended well
  --in DIR          run there
  --env K=V…        besides, or instead of, what is in this environment
  --with LAUNCHER   an instruction job: the text goes to this launcher as it is
  -f, --file FILE   the text, UTF-8; - is standard input
  --text TEXT       the text itself
)",
     R"(jipsa add [옵션] [--] 명령…
jipsa add [옵션] --with 실행기 (-f 파일 | --text 글)

작업을 추가하고 번호를 출력합니다. 작업은 현재 폴더와 현재 환경에서 실행됩니다.

  jipsa add --vram 16G -- python3 train.py --epochs 3
  jipsa add --vram 8G --gpu 1 --ram 12G --name 영상 -- ./run.sh
  jipsa add --tenant comfyui --bundle wan --vram 16G -- ./submit.py
  jipsa add --with claude --vram 4G -f - < task.md

  --vram 크기         카드에서 쓸 양: 16G, 15360M(2진), 15GB(10진)
  --gpu 카드          이 카드에서만(gpu1 또는 1). 없으면 아무 카드나
  --ram 크기          호스트 메모리에서 쓸 양
  -n, --name 이름     목록에 보일 이름
  -p, --priority N    클수록 먼저 [0]
  --tenant 서버       이 서버를 쓰는 작업: 메모리는 서버 안에서 사용됨
  --bundle 번들       그 서버에 올릴 모델 묶음
  --after 번호…       이 작업들이 정상 완료된 뒤에 시작
  --in 폴더           이 폴더에서 실행
  --env K=V…          환경 변수를 더하거나 바꿈
  --with 실행기       지시문 작업: 글을 그대로 실행기에 넘김
  -f, --file 파일     지시문(UTF-8). -는 표준 입력
  --text 글           지시문을 바로 적음
)"},
    {"run", R"(jipsa run [options of add] [--] COMMAND…

Adds a job, waits for it, shows its output as it comes, and exits as it does: with its exit code, or 128 + the signal that
ended it. Ctrl-C asks whether to cancel the job or leave it running. Without a terminal Ctrl-C leaves it running.

  jipsa run --vram 8G -- ./render.sh && echo fine
)",
     R"(jipsa run [add의 옵션] [--] 명령…

작업을 추가하고 끝날 때까지 출력을 보여 주며, 작업의 종료 코드(신호로 끝나면 128 + 신호 번호)로 끝납니다.
Ctrl-C를 누르면 취소할지 두고 나갈지 묻습니다. 터미널이 아니면 작업을 두고 나갑니다.

  jipsa run --vram 8G -- ./render.sh && echo 완료
)"},
    {"list", R"(jipsa list [--finished N] [--limit N]

The queue in its order, each waiting job with its reason; below it what has ended. Bare `jipsa` shows the pools above it.

  --finished N   how many ended jobs [20]
  --limit N      how many others [all]
)",
     R"(jipsa list [--finished N] [--limit N]

대기열을 순서대로 보여 줍니다. 기다리는 작업에는 이유가, 아래에는 끝난 작업이 나옵니다. `jipsa`만 치면 풀도 함께 나옵니다.

  --finished N   끝난 작업 수 [20]
  --limit N      나머지 작업 수 [전부]
)"},
    {"show", "jipsa show ID\n\nAll about one job: state, needs, command, directory, output file, times.\n",
     "jipsa show 번호\n\n작업 하나의 상태, 필요한 메모리, 명령, 폴더, 출력 파일, 시각을 모두 보여 줍니다.\n"},
    {"why", "jipsa why ID\n\nWhy a job waits: what it needs, what is free, who holds the rest and since when.\n",
     "jipsa why 번호\n\n작업이 기다리는 이유: 필요한 양, 여유, 나머지를 점유한 것과 언제부터인지를 보여 줍니다.\n"},
    {"log", R"(jipsa log ID [-f]

What the job wrote to its standard output and error.

  -f, --follow   go on until the job ends
)",
     R"(jipsa log 번호 [-f]

작업이 표준 출력과 표준 오류에 쓴 내용입니다.

  -f, --follow   작업이 끝날 때까지 이어서 봄
)"},
    {"wait",
     "jipsa wait ID…\n\nWaits until all of these have ended. Exit code 0 if all ended well, else 1.\n\n  jipsa wait 41 42 && "
     "./next.sh\n",
     "jipsa wait 번호…\n\n모두 끝날 때까지 기다립니다. 모두 정상 완료면 종료 코드 0, 아니면 1입니다.\n\n  jipsa wait 41 42 && "
     "./next.sh\n"},
    {"cancel", "jipsa cancel ID…\n\nTakes jobs out of the queue; a running one is told TERM, and KILL after the grace.\n",
     "jipsa cancel 번호…\n\n작업을 취소합니다. 실행 중이면 TERM을 보내고, 유예 시간이 지나면 KILL을 보냅니다.\n"},
    {"pause", "jipsa pause\n\nThe queue starts nothing until jipsa resume. Running jobs go on.\n",
     "jipsa pause\n\njipsa resume 전에는 아무것도 시작하지 않습니다. 실행 중인 작업은 계속됩니다.\n"},
    {"resume", "jipsa resume\n\nThe queue starts jobs again.\n", "jipsa resume\n\n대기열을 재개합니다.\n"},
};

}  // namespace

const HelpPage* find_job_help_page(std::string_view command) {
  for (const HelpPage& page : pages) {
    if (page.command == command) return &page;
  }
  return nullptr;
}

}  // namespace jipsa
