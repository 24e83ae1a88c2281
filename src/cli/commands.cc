#include "cli/commands.h"

namespace jipsa::cli {
namespace {

constexpr Option add_options[] = {
    {"--name", "-n", Takes::value}, {"--vram", "", Takes::value},       {"--ram", "", Takes::value},
    {"--gpu", "", Takes::value},    {"--priority", "-p", Takes::value}, {"--tenant", "", Takes::value},
    {"--bundle", "", Takes::value}, {"--after", "", Takes::ids},        {"--in", "", Takes::value},
    {"--env", "", Takes::settings}, {"--with", "", Takes::value},       {"--file", "-f", Takes::value},
    {"--text", "", Takes::value}};
constexpr Option list_options[] = {{"--finished", "", Takes::value}, {"--limit", "", Takes::value}};
constexpr Option follow_option[] = {{"--follow", "-f", Takes::flag}};
constexpr Option whose_options[] = {{"--verbose", "-v", Takes::flag}};
constexpr Option releases_options[] = {{"--tenant", "", Takes::value}, {"--limit", "", Takes::value}};
constexpr Option replay_options[] = {{"--check", "", Takes::flag}, {"--ledger", "", Takes::flag}, {"--stats", "", Takes::flag}};

constexpr Command commands[] = {{"add", cmd_add, add_options, Rest::command},
                                {"run", cmd_run, add_options, Rest::command},
                                {"list", cmd_list, list_options, Rest::words},
                                {"show", cmd_show, {}, Rest::words},
                                {"why", cmd_why, {}, Rest::words},
                                {"log", cmd_log, follow_option, Rest::words},
                                {"wait", cmd_wait, {}, Rest::words},
                                {"cancel", cmd_cancel, {}, Rest::words},
                                {"pause", cmd_pause, {}, Rest::words},
                                {"resume", cmd_resume, {}, Rest::words},
                                {"whose", cmd_whose, whose_options, Rest::words},
                                {"tenants", cmd_tenants, {}, Rest::words},
                                {"release", cmd_release, {}, Rest::words},
                                {"releases", cmd_releases, releases_options, Rest::words},
                                {"events", cmd_events, follow_option, Rest::words},
                                {"doctor", cmd_doctor, {}, Rest::words},
                                {"config", cmd_config, {}, Rest::words},
                                {"replay", cmd_replay, replay_options, Rest::words}};

}  // namespace

const Command* find_command(std::string_view name) {
  for (const Command& command : commands) {
    if (command.name == name) return &command;
  }
  return nullptr;
}

tl::expected<std::vector<std::int64_t>, Complaint> job_ids(const std::vector<std::string>& words) {
  std::vector<std::int64_t> ids;
  for (const std::string& word : words) {
    const auto id = job_id(word);
    if (!id) return tl::make_unexpected(Complaint{Msg::bad_job_id, {{"word", word}}});
    ids.push_back(*id);
  }
  if (ids.empty()) return tl::make_unexpected(Complaint{Msg::wants_job_id, {}});
  return ids;
}

tl::expected<std::int64_t, Complaint> one_job_id(const std::vector<std::string>& words) {
  const auto ids = job_ids(words);
  if (!ids) return tl::make_unexpected(ids.error());
  if (ids->size() > 1) return tl::make_unexpected(Complaint{Msg::unexpected_word, {{"word", words[1]}}});
  return ids->front();
}

tl::expected<std::optional<std::int64_t>, Complaint> number_option(const Words& words, std::string_view name,
                                                                   std::int64_t least) {
  const auto text = words.get(name);
  if (!text) return std::nullopt;
  const auto number = whole_number(*text);
  if (number && *number >= least) return number;
  return tl::make_unexpected(
      Complaint{Msg::bad_number, {{"option", std::string(name)}, {"word", *text}, {"least", std::to_string(least)}}});
}

std::optional<Complaint> too_many(const Words& words, std::size_t allowed) {
  if (words.rest.size() <= allowed) return std::nullopt;
  return Complaint{Msg::unexpected_word, {{"word", words.rest[allowed]}}};
}

}  // namespace jipsa::cli
