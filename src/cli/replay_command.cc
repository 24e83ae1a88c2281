// `jipsa replay`: its words; the work is in replay.h.
#include "cli/commands.h"
#include "cli/replay.h"

namespace jipsa::cli {

int cmd_replay(const Session& session, const Words& words) {
  if (words.rest.empty()) return complain(session, Complaint{Msg::wants_recording, {}});
  ReplayOptions options;
  options.files = words.rest;
  options.ledger = words.has("--ledger");
  options.check = words.has("--check");
  options.stats = words.has("--stats");
  return run_replay(options);
}

}  // namespace jipsa::cli
