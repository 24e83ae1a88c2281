#include "text/words.h"

#include <csignal>

#include "text/catalogue.h"
#include "text/utf8.h"

namespace jipsa {
namespace {

// A code's message is found by name: "verdict_" + "kept". The catalogue is the only list of codes.
std::optional<Msg> find_message(std::string_view prefix, std::string_view code, std::string_view suffix = "") {
  for (std::size_t i = 0; i < message_count(); ++i) {
    const std::string_view name = message_name(static_cast<Msg>(i));
    if (name.size() == prefix.size() + code.size() + suffix.size() && name.starts_with(prefix) && name.ends_with(suffix) &&
        name.substr(prefix.size(), code.size()) == code) {
      return static_cast<Msg>(i);
    }
  }
  return std::nullopt;
}

std::string word(Lang lang, std::string_view prefix, std::string_view code) {
  const auto message = find_message(prefix, code);
  return message ? say(lang, *message) : safe(code);
}

// "gpu:gpu0" is a check of the kind "gpu" about "gpu0".
struct CheckId {
  std::string_view kind, about;
};
CheckId split(std::string_view id) {
  const std::size_t colon = id.find(':');
  if (colon == std::string_view::npos) return {id, ""};
  return {id.substr(0, colon), id.substr(colon + 1)};
}

}  // namespace

std::string state_text(Lang lang, std::string_view state, std::optional<std::int64_t> exit_code,
                       std::optional<std::int64_t> signal) {
  if (state == "waiting") return say(lang, Msg::state_waiting);
  if (state == "running") return say(lang, Msg::state_running);
  if (state == "failed" && (exit_code || signal)) {
    return say(lang, Msg::state_failed_code, {{"code", exit_code ? std::to_string(*exit_code) : signal_name(*signal)}});
  }
  return word(lang, "state_", state);
}

std::string note_text(Lang lang, std::string_view note) {
  const CheckId parts = split(note);
  std::string_view rest = parts.about;
  while (rest.starts_with(' ')) rest.remove_prefix(1);
  if (parts.kind == "dependency") return say(lang, Msg::note_dependency, {{"job", '#' + std::string(rest)}});
  if (parts.kind == "not_started") return say(lang, Msg::note_not_started, {{"what", std::string(rest)}});
  return word(lang, "note_", note);
}

std::string verdict_text(Lang lang, std::string_view verdict) {
  return verdict.empty() ? say(lang, Msg::verdict_watching) : word(lang, "verdict_", verdict);
}

std::string verdict_meaning(Lang lang, std::string_view verdict) {
  if (verdict.empty()) return say(lang, Msg::verdict_watching_means);
  return say(lang, find_message("verdict_", verdict, "_means").value_or(Msg::verdict_unknown_means));
}

std::string how_text(Lang lang, std::string_view how) { return word(lang, "how_", how); }
std::string trouble_text(Lang lang, std::string_view trouble) { return word(lang, "trouble_", trouble); }

std::string error_meaning(Lang lang, std::string_view code) {
  return say(lang, find_message("means_", code).value_or(Msg::means_unknown));
}

std::string signal_name(std::int64_t number) {
  struct Name {
    int number;
    const char* name;
  };
  static constexpr Name names[] = {{SIGHUP, "SIGHUP"},   {SIGINT, "SIGINT"},   {SIGQUIT, "SIGQUIT"}, {SIGILL, "SIGILL"},
                                   {SIGTRAP, "SIGTRAP"}, {SIGABRT, "SIGABRT"}, {SIGBUS, "SIGBUS"},   {SIGFPE, "SIGFPE"},
                                   {SIGKILL, "SIGKILL"}, {SIGUSR1, "SIGUSR1"}, {SIGSEGV, "SIGSEGV"}, {SIGUSR2, "SIGUSR2"},
                                   {SIGPIPE, "SIGPIPE"}, {SIGALRM, "SIGALRM"}, {SIGTERM, "SIGTERM"}, {SIGXCPU, "SIGXCPU"},
                                   {SIGXFSZ, "SIGXFSZ"}, {SIGSYS, "SIGSYS"}};
  for (const Name& n : names) {
    if (n.number == number) return n.name;
  }
  return "signal " + std::to_string(number);
}

CheckText check_text(Lang lang, std::string_view id, std::string_view state, const std::optional<std::string>& version,
                     const std::optional<std::string>& name) {
  const CheckId parts = split(id);
  const auto label = find_message("doctor_label_", parts.kind);
  const auto meaning = find_message("doctor_" + std::string(parts.kind) + '_', state);
  CheckText text;
  text.label =
      label ? say(lang, *label, {{"id", std::string(parts.about)}}) : say(lang, Msg::doctor_other, {{"id", std::string(id)}});
  text.state = word(lang, "doctor_", state);
  if (label && meaning) text.meaning = say(lang, *meaning, {{"version", version}, {"name", name}});
  return text;
}

std::string detail_label(Lang lang, std::string_view key) { return word(lang, "detail_", key); }

}  // namespace jipsa
