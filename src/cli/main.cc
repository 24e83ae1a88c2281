// jipsa: the client. It asks the daemon and shows its answers; it decides nothing.
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "cli/commands.h"
#include "text/help.h"

namespace jipsa::cli {
namespace {

constexpr Option global_options[] = {
    {"--config", "", Takes::value},  {"--state", "", Takes::value}, {"--socket", "", Takes::value},
    {"--json", "", Takes::flag},     {"--lang", "", Takes::value},  {"--color", "", Takes::value},
    {"--timeout", "", Takes::value}, {"--help", "-h", Takes::flag}, {"--version", "-V", Takes::flag}};

// Both sides of the command's name may hold global options; the later one counts.
void merge(Words& into, Words&& later) {
  for (auto& [name, values] : later.options) into.options[name] = std::move(values);
  into.rest = std::move(later.rest);
  if (!into.complaint) into.complaint = std::move(later.complaint);
}

std::optional<Complaint> choose_language(Session& session, const Words& words) {
  session.lang = language_of_environment(std::getenv("LC_ALL"), std::getenv("LC_MESSAGES"), std::getenv("LANG"));
  const auto word = words.get("--lang");
  if (!word) return std::nullopt;
  const auto lang = parse_language(*word);
  if (!lang) return Complaint{Msg::bad_choice, {{"option", "--lang"}, {"word", *word}, {"choices", "en, ko"}}};
  session.lang = *lang;
  return std::nullopt;
}

std::optional<Complaint> choose_color(Session& session, const Words& words) {
  const std::string word = words.get("--color").value_or("auto");
  if (word != "auto" && word != "always" && word != "never") {
    return Complaint{Msg::bad_choice, {{"option", "--color"}, {"word", word}, {"choices", "auto, always, never"}}};
  }
  const char* no_color = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  const bool wanted = (no_color == nullptr || *no_color == '\0') && (term == nullptr || std::strcmp(term, "dumb") != 0);
  session.color = word == "always" || (word == "auto" && session.out_is_terminal && wanted);
  return std::nullopt;
}

std::optional<Complaint> set_up(Session& session, const Words& words) {
  session.out_is_terminal = ::isatty(STDOUT_FILENO) == 1;
  session.err_is_terminal = ::isatty(STDERR_FILENO) == 1;
  session.now_ms = wall_ms();
  if (auto wrong = choose_language(session, words)) return wrong;
  if (words.complaint) return words.complaint;
  if (auto wrong = choose_color(session, words)) return wrong;
  session.json = words.has("--json");
  session.given = {words.get("--config").value_or(""), words.get("--state").value_or(""), words.get("--socket").value_or("")};
  const auto seconds = number_option(words, "--timeout", 1);
  if (!seconds) return seconds.error();
  if (*seconds) session.timeout = std::chrono::seconds(std::min<std::int64_t>(**seconds, 86400));
  return std::nullopt;
}

int finish(const Session& session, int exit) {
  if (session.output_error == 0) return exit;
  return complain(session, Code::io, Msg::cannot_write, {{"what", std::strerror(session.output_error)}});
}

int run(const std::vector<std::string>& arguments) {
  Session session;
  Words words = sort_words(arguments, global_options, {}, Rest::command);
  std::string name;
  if (!words.rest.empty()) name = words.rest.front();
  bool help = false;
  if (name == "help") {
    help = true;
    name = words.rest.size() > 1 ? words.rest[1] : "";
  }
  const Command* command = find_command(name);
  if (command != nullptr && !help) {
    const std::vector<std::string> behind(words.rest.begin() + 1, words.rest.end());
    merge(words, sort_words(behind, command->options, global_options, command->rest));
    session.command = name;
  }
  const auto wrong = set_up(session, words);
  if (help || words.has("--help")) {
    const auto text = help_text(session.lang, name);
    if (!text) return complain(session, Complaint{Msg::unknown_command, {{"word", name}}});
    print(session, *text);
    return finish(session, exits::good);
  }
  if (wrong) return complain(session, *wrong);
  if (words.has("--version")) {
    print(session, "jipsa " JIPSA_VERSION "\n");
    return finish(session, exits::good);
  }
  if (name.empty()) return finish(session, cmd_status(session, words));
  if (command == nullptr) return complain(session, Complaint{Msg::unknown_command, {{"word", name}}});
  return finish(session, command->run(session, words));
}

}  // namespace
}  // namespace jipsa::cli

int main(int argc, char** argv) { return jipsa::cli::run(std::vector<std::string>(argv + 1, argv + (argc > 0 ? argc : 1))); }
