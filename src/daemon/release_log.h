// The record of what servers were asked and what came of it: the request before it is made, the verdicts as they are given.
#pragma once

#include <deque>
#include <optional>
#include <string>

#include "core/decision.h"
#include "daemon/record_clock.h"
#include "store/store.h"

namespace jipsa {

class ReleaseLog {
 public:
  ReleaseLog(Store& store, RecordClock& clock) : store_(store), clock_(clock) {}

  Result<void> load();  // the newest, for verdicts on what was asked before a restart of the daemon

  Result<void> asked(const Release& release, Seconds t, bool by_person);
  Result<void> restarted(const Restart& restart, Seconds t);
  Result<void> answered(const std::string& tenant, const std::string& error);  // an answer that was no
  Result<void> judged(const Verdict& verdict);

 private:
  Result<void> add(ReleaseRecord record);
  ReleaseRecord* find(const std::string& tenant, std::optional<Seconds> asked_at);

  Store& store_;
  RecordClock& clock_;
  std::deque<ReleaseRecord> newest_;  // newest first
};

}  // namespace jipsa
