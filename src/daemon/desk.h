// The life of a job: handed in, admitted, started, ended. Keeps table, runner and core in step: intent first, outcome after.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "config/config.h"
#include "core/decision.h"
#include "core/model.h"
#include "daemon/events.h"
#include "daemon/job_table.h"
#include "daemon/pools.h"
#include "daemon/record_clock.h"
#include "daemon/turn.h"
#include "machine/runner.h"

namespace jipsa {

struct DeskPlaces {
  std::string state_dir, jobs_dir, socket, boot_id;
};

class Desk {
 public:
  Desk(Loop& loop, RecordClock& clock, const Config& config, JobTable& table, Pools& pools, Events& events, Turn& turn,
       DeskPlaces places);
  ~Desk();
  Desk(const Desk&) = delete;
  Desk& operator=(const Desk&) = delete;

  void set_runner(Runner& runner) { runner_ = &runner; }
  void set_ended(std::function<void(JobId)> ended) { on_ended_ = std::move(ended); }
  void set_changed(std::function<void()> changed) { on_changed_ = std::move(changed); }

  // After a restart of the daemon, before the core begins: what became of the jobs that were starting or running.
  void recover();
  [[nodiscard]] std::vector<Event> as_inputs() const;  // the unfinished jobs, for a core that starts anew

  Result<JobId> submit(JobRecord record);  // on disk when it returns
  Result<void> cancel(JobId id);

  void admitted(const Admit& admit);
  void started(JobId id, const JobPids& pids);
  void ended(JobId id, const JobEnd& end);
  void settle();

  [[nodiscard]] std::map<JobId, Pid> shims() const;
  [[nodiscard]] std::string trouble() const;  // why nothing new can be started now; empty: it can
  [[nodiscard]] std::string output_of(JobId id) const;

 private:
  void recover(JobId id, bool same_boot);
  [[nodiscard]] std::optional<std::int64_t> started_wall_ms(JobId id) const;
  void cancel_orphans();
  [[nodiscard]] Submit for_core(const JobRecord& record) const;
  void end(JobId id, JobState state, std::string note);
  void cancel_dependents(JobId id, std::vector<Event>& news);
  void fail_to_start(JobId id, const std::string& why);
  void launch_some();
  void launch(JobId id);
  Result<JobStart> make_start(const JobRecord& record) const;
  [[nodiscard]] std::vector<std::string> environment(const JobRecord& record) const;
  void after_save();
  void retry_later();
  void save_later();

  Loop& loop_;
  RecordClock& clock_;
  const Config& config_;
  JobTable& table_;
  Pools& pools_;
  Events& events_;
  Turn& turn_;
  DeskPlaces places_;
  Runner* runner_ = nullptr;
  std::function<void(JobId)> on_ended_;
  std::function<void()> on_changed_;

  std::set<JobId> to_start_;  // admitted; their intent is not on disk yet, or the start is to be tried again
  std::map<JobId, Pid> shims_;
  std::map<JobId, Pid> pids_;
  std::vector<JobId> just_ended_, to_forget_;
  std::string start_trouble_;
  Loop::TimerId retry_ = 0, save_ = 0, launches_ = 0;
};

}  // namespace jipsa
