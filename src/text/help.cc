#include "text/help.h"

namespace jipsa {
namespace {

constexpr HelpPage overview = {"", R"(jipsa: a job queue that knows whose GPU memory every byte is.

See what is going on:
  jipsa                                     pools, who holds them, and the queue
  jipsa why 42                              why job 42 waits, with names and numbers

Add jobs:
  jipsa add --vram 16G -- ./train.sh --fast     starts when 16 GiB are free on a card
  jipsa add --vram 8G --ram 4G --name lora -- python3 lora.py
  jipsa add --after 42 -- ./publish.sh          starts when job 42 has ended well
  jipsa add --with claude -f task.md            hands a text to a configured launcher
  jipsa run --vram 8G -- ./render.sh            waits, shows the output, ends as the job ends

Jobs:      add, run, list, show ID, why ID, log ID [-f], wait ID…, cancel ID…, pause, resume
Memory:    whose [-v], tenants, release SERVER, releases
Daemon:    events [-f], doctor, config check [FILE], replay FILE…

Options of every command:
  --json                     the daemon's answer as it came (docs/api.md)
  --lang en|ko               language; else LC_ALL, LC_MESSAGES, LANG
  --color auto|always|never  NO_COLOR is heeded
  --config FILE, --state DIR, --socket PATH    where things are
  --timeout SECONDS          how long the daemon may take to answer [10]
  --help, --version

jipsa COMMAND --help tells more of a command. The daemon is jipsad.
)",
                               R"(jipsa: GPU 메모리의 주인을 모두 아는 작업 대기열입니다.

지금 상태 보기:
  jipsa                                     풀, 점유자, 대기열
  jipsa why 42                              42번 작업이 기다리는 이유를 이름과 숫자로

작업 추가:
  jipsa add --vram 16G -- ./train.sh --fast     카드에 16 GiB 여유가 생기면 시작
  jipsa add --vram 8G --ram 4G --name lora -- python3 lora.py
  jipsa add --after 42 -- ./publish.sh          42번이 정상 완료되면 시작
  jipsa add --with claude -f task.md            지시문을 등록된 실행기에 넘김
  jipsa run --vram 8G -- ./render.sh            끝날 때까지 출력을 보여 주고 같은 종료 코드로 끝남

작업:      add, run, list, show 번호, why 번호, log 번호 [-f], wait 번호…, cancel 번호…, pause, resume
메모리:    whose [-v], tenants, release 서버, releases
데몬:      events [-f], doctor, config check [파일], replay 파일…

모든 명령의 공통 옵션:
  --json                     데몬의 응답을 그대로 출력(docs/api.md)
  --lang en|ko               언어. 없으면 LC_ALL, LC_MESSAGES, LANG 순서로 정함
  --color auto|always|never  NO_COLOR를 따름
  --config 파일, --state 폴더, --socket 경로    파일 위치
  --timeout 초               데몬의 응답을 기다리는 시간 [10]
  --help, --version

명령별 설명은 jipsa 명령 --help. 데몬은 jipsad입니다.
)"};

}  // namespace

const HelpPage* find_help_page(std::string_view command) {
  if (command.empty()) return &overview;
  const HelpPage* page = find_job_help_page(command);
  return page != nullptr ? page : find_memory_help_page(command);
}

std::optional<std::string> help_text(Lang lang, std::string_view command) {
  const HelpPage* page = find_help_page(command);
  if (page == nullptr) return std::nullopt;
  return std::string(lang == Lang::ko ? page->ko : page->en);
}

}  // namespace jipsa
