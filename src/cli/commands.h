// The commands of jipsa: one file each. A command gets its sorted words and returns the exit code.
#pragma once

#include <span>
#include <string_view>

#include "cli/args.h"
#include "cli/session.h"

namespace jipsa::cli {

int cmd_status(const Session& session, const Words& words);  // bare `jipsa`
int cmd_list(const Session& session, const Words& words);
int cmd_add(const Session& session, const Words& words);
int cmd_run(const Session& session, const Words& words);
int cmd_show(const Session& session, const Words& words);
int cmd_why(const Session& session, const Words& words);
int cmd_log(const Session& session, const Words& words);
int cmd_wait(const Session& session, const Words& words);
int cmd_cancel(const Session& session, const Words& words);
int cmd_pause(const Session& session, const Words& words);
int cmd_resume(const Session& session, const Words& words);
int cmd_whose(const Session& session, const Words& words);
int cmd_tenants(const Session& session, const Words& words);
int cmd_release(const Session& session, const Words& words);
int cmd_releases(const Session& session, const Words& words);
int cmd_events(const Session& session, const Words& words);
int cmd_doctor(const Session& session, const Words& words);
int cmd_config(const Session& session, const Words& words);
int cmd_replay(const Session& session, const Words& words);

struct Command {
  std::string_view name;
  int (*run)(const Session&, const Words&);
  std::span<const Option> options;
  Rest rest;
};
const Command* find_command(std::string_view name);

// Job numbers from the words of a command, or what is wrong with them.
tl::expected<std::vector<std::int64_t>, Complaint> job_ids(const std::vector<std::string>& words);
tl::expected<std::int64_t, Complaint> one_job_id(const std::vector<std::string>& words);
// A whole number from an option, at least `least`.
tl::expected<std::optional<std::int64_t>, Complaint> number_option(const Words& words, std::string_view name, std::int64_t least);
// The first word that a command which takes none was given.
std::optional<Complaint> too_many(const Words& words, std::size_t allowed);

}  // namespace jipsa::cli
