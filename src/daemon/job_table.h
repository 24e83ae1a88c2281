// The jobs, in memory and on disk. Changes are gathered and saved together: an end and the next job's intent cost one sync.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/decision.h"
#include "store/store.h"

namespace jipsa {

class JobTable {
 public:
  explicit JobTable(Store& store) : store_(store) {}

  Result<void> load();

  Result<JobId> add(JobRecord record);

  // Unfinished, or among the newest finished ones; without environment and text. Null: not in memory.
  [[nodiscard]] const JobRecord* find(JobId id) const;
  Result<std::optional<JobRecord>> fetch(JobId id) const;  // from disk if need be, whole

  enum class Save { at_once, some_time };  // some_time: with the next that must be saved at once, or after a second
  JobRecord* edit(JobId id, Save when);
  void finish(JobId id);  // after edit() has put it into a final state

  [[nodiscard]] bool must_save() const { return urgent_; }
  [[nodiscard]] bool has_unsaved() const { return !dirty_.empty(); }
  [[nodiscard]] bool is_saved(JobId id) const { return dirty_.count(id) == 0; }
  Result<void> save();  // of all changes; when it fails they stay, and the next call tries again
  [[nodiscard]] const std::string& trouble() const { return trouble_; }  // why the last save or add failed; empty: it did not

  [[nodiscard]] const std::map<JobId, JobRecord>& live() const { return live_; }
  [[nodiscard]] std::vector<const JobRecord*> in_queue_order() const;
  Result<std::vector<JobRecord>> newest_finished(std::size_t limit) const;
  [[nodiscard]] std::size_t count(JobState a, JobState b) const;  // unfinished jobs in either state
  [[nodiscard]] bool driven(const std::string& tenant) const;     // by a job that is starting or running
  [[nodiscard]] std::vector<JobId> dependents(JobId id) const;    // unfinished jobs that name it in `after`

  // The newest wait code of each waiting job, and how many wait for memory.
  void waits(JobId id, std::optional<WaitCode> code);
  [[nodiscard]] bool any_waits_for_memory() const { return memory_waits_ > 0; }

 private:
  void index(const JobRecord& record);

  Store& store_;
  std::map<JobId, JobRecord> live_;
  std::map<JobId, JobRecord> finished_;
  std::deque<JobId> finished_order_;  // oldest end first
  std::unordered_map<JobId, std::vector<JobId>> dependents_;
  std::set<JobId> dirty_;
  bool urgent_ = false;
  std::string trouble_;
  std::unordered_map<JobId, WaitCode> wait_codes_;
  std::size_t memory_waits_ = 0;
};

}  // namespace jipsa
