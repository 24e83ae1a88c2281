// After a restart of the daemon: which jobs still run, which ended meanwhile, which never started.
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/desk.h"
#include "daemon/log.h"

namespace jipsa {

void Desk::recover() {
  std::vector<std::pair<JobId, bool>> under_way;
  for (const auto& [id, record] : table_.live()) {
    if (record.state != JobState::starting && record.state != JobState::running) continue;
    under_way.emplace_back(id, record.boot_id == places_.boot_id);
  }
  for (const auto& [id, same_boot] : under_way) recover(id, same_boot);
  cancel_orphans();
}

// Dependents of jobs that ended badly just now, or before a daemon died that had no time to call them off. The core has not
// begun, so it hears nothing of them.
void Desk::cancel_orphans() {
  std::vector<std::pair<JobId, JobId>> orphans;
  for (const auto& [id, record] : table_.live()) {
    for (const JobId before : record.job.after) {
      if (table_.live().count(before) != 0) continue;
      const JobRecord* known = table_.find(before);
      auto stored = known != nullptr ? Result<std::optional<JobRecord>>(*known) : table_.fetch(before);
      if (stored && *stored && (*stored)->state != JobState::succeeded) orphans.emplace_back(id, before);
    }
  }
  std::vector<Event> unheard;
  for (const auto& [id, before] : orphans) {
    if (table_.live().count(id) == 0) continue;
    end(id, JobState::cancelled, fmt::format("dependency:{}", before));
    cancel_dependents(id, unheard);
  }
}

// The shim writes the pids at the moment before the job is executed.
std::optional<std::int64_t> Desk::started_wall_ms(JobId id) const {
  struct stat st{};
  if (stat(fmt::format("{}/run/{}/pids", places_.state_dir, id).c_str(), &st) != 0) return std::nullopt;
  return std::int64_t{st.st_mtim.tv_sec} * 1000 + st.st_mtim.tv_nsec / 1000000;
}

void Desk::recover(JobId id, bool same_boot) {
  // Of another boot's jobs nothing can be alive, and what the disk says of a start may be less than what happened: only an end
  // that was written is believed.
  if (!same_boot && access(fmt::format("{}/run/{}/end", places_.state_dir, id).c_str(), F_OK) != 0) {
    log_line("job.lost", {{"job", std::to_string(id)}, {"why", "rebooted"}});
    end(id, JobState::lost, "rebooted");
    to_forget_.push_back(id);
    return;
  }
  const auto found = runner_->adopt(id);
  JobRecord* record = table_.edit(id, JobTable::Save::at_once);
  if (!found) {
    log_line("job.adopt_failed", {{"job", std::to_string(id)}, {"why", found.error().what}});
    end(id, JobState::lost, "shim_died");
    return;
  }
  switch (*found) {
    case Runner::Found::alive:
    case Runner::Found::ended:
      // Its end, or its pids, follow from the loop.
      log_line("job.found", {{"job", std::to_string(id)}, {"state", *found == Runner::Found::alive ? "alive" : "ended"}});
      if (!record->started_ms) record->started_ms = started_wall_ms(id);
      shims_[id] = record->shim_pid.value_or(0);
      pids_[id] = record->pid.value_or(0);
      if (record->note == "by_person" && *found == Runner::Found::alive) {
        runner_->stop(id, std::chrono::milliseconds(static_cast<std::int64_t>(config_.kill_grace * 1000)));
      }
      break;
    case Runner::Found::never_started:
      log_line("job.never_started", {{"job", std::to_string(id)}});
      if (record->note == "by_person") {
        end(id, JobState::cancelled, "by_person");
        to_forget_.push_back(id);
      } else {  // what the try has left behind is cleared away by the next
        record->state = JobState::waiting;
        record->gpu_pool.clear();
        record->started_ms.reset();
      }
      break;
    case Runner::Found::shim_died:
      log_line("job.lost", {{"job", std::to_string(id)}, {"why", "shim_died"}});
      end(id, record->note == "by_person" ? JobState::cancelled : JobState::lost,
          record->note == "by_person" ? "by_person" : "shim_died");
      to_forget_.push_back(id);
      break;
  }
}

std::vector<Event> Desk::as_inputs() const {
  std::vector<Event> events;
  for (const auto& [id, record] : table_.live()) {
    events.emplace_back(for_core(record));
    if (record.state == JobState::held) events.emplace_back(Hold{id});
    if (shims_.count(id) == 0) continue;
    const auto pid = pids_.find(id);
    std::vector<Pid> pids;
    if (pid != pids_.end() && pid->second > 0) pids.push_back(pid->second);
    events.emplace_back(Started{id, std::move(pids)});
  }
  return events;
}

}  // namespace jipsa
