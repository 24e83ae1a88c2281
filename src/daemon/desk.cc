#include "daemon/desk.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "daemon/log.h"

namespace jipsa {

Desk::Desk(Loop& loop, RecordClock& clock, const Config& config, JobTable& table, Pools& pools, Events& events, Turn& turn,
           DeskPlaces places)
    : loop_(loop),
      clock_(clock),
      config_(config),
      table_(table),
      pools_(pools),
      events_(events),
      turn_(turn),
      places_(std::move(places)) {}

Desk::~Desk() {
  loop_.cancel(retry_);
  loop_.cancel(save_);
  loop_.cancel(launches_);
}

std::string Desk::trouble() const { return table_.trouble().empty() ? start_trouble_ : table_.trouble(); }

std::map<JobId, Pid> Desk::shims() const {
  std::map<JobId, Pid> known;
  for (const auto& [id, pid] : shims_) {
    if (pid > 0) known.emplace(id, pid);  // of a job that was found again it may not be known yet
  }
  return known;
}

std::string Desk::output_of(JobId id) const { return places_.jobs_dir + "/" + std::to_string(id) + ".out"; }

// ---- handing in and calling off ----

// The core hears only of what is still to come: a dependency that ended well holds nobody back, and a job that has its card
// already needs that one, not any.
Submit Desk::for_core(const JobRecord& record) const {
  Submit submit{record.job};
  std::erase_if(submit.job.after, [&](JobId before) { return table_.live().count(before) == 0; });
  if (shims_.count(record.job.id) == 0 || record.gpu_pool.empty()) return submit;
  for (Need& need : submit.job.needs) {
    if (need.pool == "gpu") need.pool = record.gpu_pool;
  }
  return submit;
}

Result<JobId> Desk::submit(JobRecord record) {
  JobId ended_badly = 0;
  for (const JobId before : record.job.after) {
    const JobRecord* known = table_.find(before);
    JobState state = known != nullptr ? known->state : JobState::waiting;
    if (known == nullptr) {
      auto stored = table_.fetch(before);
      if (!stored) return tl::unexpected(stored.error());
      if (!*stored) return fail(Code::bad_input, fmt::format("after: there is no job {}; name a job that exists", before));
      state = (*stored)->state;
    }
    if (is_final(state) && state != JobState::succeeded) ended_badly = before;
  }
  record.submitted_ms = clock_.wall_ms();
  auto added = table_.add(std::move(record));
  if (!added) return added;
  const JobId id = *added;
  events_.publish("submit", [&](JsonText& json) { json.key("job").number(id).key("name").text(table_.find(id)->job.name); });
  if (ended_badly != 0) {
    end(id, JobState::cancelled, fmt::format("dependency:{}", ended_badly));
    events_.publish_job("cancel", id);
    settle();
  } else {
    turn_.feed(for_core(*table_.find(id)));
  }
  return id;
}

Result<void> Desk::cancel(JobId id) {
  const JobRecord* known = table_.find(id);
  if (known == nullptr) {
    auto stored = table_.fetch(id);
    if (!stored) return tl::unexpected(stored.error());
    if (!*stored) return fail(Code::not_found, fmt::format("no job {}", id));
    return fail(Code::conflict, fmt::format("job {} has ended ({})", id, name((*stored)->state)));
  }
  if (is_final(known->state)) return fail(Code::conflict, fmt::format("job {} has ended ({})", id, name(known->state)));
  events_.publish_job("cancel", id);
  std::vector<Event> news{Cancel{id}};
  if (shims_.count(id) != 0) {
    table_.edit(id, JobTable::Save::at_once)->note = "by_person";
    turn_.feed(std::move(news));
    runner_->stop(id, std::chrono::milliseconds(static_cast<std::int64_t>(config_.kill_grace * 1000)));
  } else {
    // One that was admitted and is not started yet has left the core's queue: there it ends like one that ran.
    if (to_start_.erase(id) != 0) news.emplace_back(Exit{id, std::nullopt});
    end(id, JobState::cancelled, "by_person");
    cancel_dependents(id, news);
    turn_.feed(std::move(news));
  }
  if (!table_.trouble().empty())
    return fail(Code::io, fmt::format("job {} is being cancelled, but that can't be saved: {}", id, table_.trouble()));
  return {};
}

// Puts the job among the finished ones; the core hears of it from the caller.
void Desk::end(JobId id, JobState state, std::string note) {
  JobRecord* record = table_.edit(id, JobTable::Save::at_once);
  record->state = state;
  record->note = std::move(note);
  if (!record->ended_ms) record->ended_ms = clock_.wall_ms();
  table_.finish(id);
  shims_.erase(id);
  pids_.erase(id);
  just_ended_.push_back(id);
}

void Desk::cancel_dependents(JobId id, std::vector<Event>& news) {
  std::vector<JobId> ended{id};
  while (!ended.empty()) {
    const JobId before = ended.back();
    ended.pop_back();
    for (const JobId dependent : table_.dependents(before)) {
      end(dependent, JobState::cancelled, fmt::format("dependency:{}", before));
      events_.publish_job("cancel", dependent);
      news.emplace_back(Cancel{dependent});
      ended.push_back(dependent);
    }
  }
}

// ---- what the core and the runner say ----

void Desk::admitted(const Admit& admit) {
  JobRecord* record = table_.edit(admit.job, JobTable::Save::at_once);
  if (record == nullptr) return;
  if (record->state == JobState::running || shims_.count(admit.job) != 0) return;  // a core that began anew says it again
  table_.waits(admit.job, std::nullopt);
  record->state = JobState::starting;
  record->gpu_pool = admit.pool;
  record->boot_id = places_.boot_id;
  to_start_.insert(admit.job);
}

void Desk::started(JobId id, const JobPids& pids) {
  JobRecord* record = table_.edit(id, JobTable::Save::some_time);
  if (record == nullptr) return;
  record->state = JobState::running;
  record->pid = pids.pid;
  record->shim_pid = pids.shim;
  record->shim_start = pids.shim_start;
  if (!record->started_ms) record->started_ms = clock_.wall_ms();
  shims_[id] = pids.shim;
  pids_[id] = pids.pid;
  log_line("job.started", {{"job", std::to_string(id)}, {"pid", std::to_string(pids.pid)}, {"pool", record->gpu_pool}});
  events_.publish("started", [&](JsonText& json) { json.key("job").number(id).key("pid").number(pids.pid); });
  turn_.feed(Started{id, {pids.pid}});
  save_later();
}

void Desk::ended(JobId id, const JobEnd& job_end) {
  JobRecord* record = table_.edit(id, JobTable::Save::at_once);
  if (record == nullptr) return;
  JobState state = JobState::failed;
  std::string note;
  std::optional<std::int64_t> code;
  switch (job_end.how) {
    case JobEnd::How::exited:
      record->exit_code = job_end.value;
      code = job_end.value;
      if (job_end.value == 0) state = JobState::succeeded;
      break;
    case JobEnd::How::signalled:
      record->signal = job_end.value;
      code = 128 + job_end.value;
      break;
    case JobEnd::How::not_started:
      note = "not_started: " + job_end.error;
      code = 127;
      break;
    case JobEnd::How::lost:
      state = JobState::lost;
      note = "shim_died";
      break;
  }
  if (record->note == "by_person") {
    state = JobState::cancelled;
    note = "by_person";
  }
  if (job_end.ended_wall_ms > 0) record->ended_ms = job_end.ended_wall_ms;
  end(id, state, note);
  to_forget_.push_back(id);
  const JobRecord& done = *table_.find(id);
  log_line("job.ended",
           {{"job", std::to_string(id)}, {"state", name(state)}, {"code", code ? std::to_string(*code) : "unknown"}});
  events_.publish("exit", [&](JsonText& json) {
    json.key("job").number(id).key("state").text(name(done.state));
    json.key("code").number(done.exit_code).key("signal").number(done.signal);
  });
  std::vector<Event> news{Exit{id, code}};
  if (state != JobState::succeeded) cancel_dependents(id, news);
  turn_.feed(std::move(news));
  on_changed_();
}

// ---- acting ----

void Desk::settle() {
  if (table_.must_save()) {
    if (auto saved = table_.save(); !saved) {
      if (retry_ == 0) log_line("store.failed", {{"what", saved.error().what}});
      for (const JobId id : std::exchange(just_ended_, {})) on_ended_(id);
      return retry_later();
    }
  }
  after_save();
}

void Desk::after_save() {
  // First what somebody waits for.
  launch_some();
  for (const JobId id : std::exchange(just_ended_, {})) on_ended_(id);
  for (const JobId id : std::exchange(to_forget_, {})) runner_->forget(id);
}

// A few at a time: thousands may have been admitted at once, and clients and servers want answers in between.
void Desk::launch_some() {
  constexpr int kATime = 8;
  for (int n = 0; n < kATime && !to_start_.empty(); ++n) {
    const JobId id = *to_start_.begin();
    to_start_.erase(to_start_.begin());
    launch(id);
    if (!start_trouble_.empty()) return;  // the system's trouble: that is tried again later
  }
  if (to_start_.empty() || launches_ != 0) return;
  launches_ = loop_.after(std::chrono::milliseconds(1), [this] {
    launches_ = 0;
    settle();
  });
}

void Desk::retry_later() {
  if (retry_ != 0) return;
  retry_ = loop_.after(std::chrono::seconds(1), [this] {
    retry_ = 0;
    settle();
  });
}

void Desk::save_later() {
  if (save_ != 0) return;
  save_ = loop_.after(std::chrono::seconds(1), [this] {
    save_ = 0;
    if (!table_.has_unsaved()) return;
    if (auto saved = table_.save(); !saved) {
      log_line("store.failed", {{"what", saved.error().what}});
      return retry_later();
    }
    after_save();
  });
}

void Desk::fail_to_start(JobId id, const std::string& why) {
  end(id, JobState::failed, "not_started: " + why);
  to_forget_.push_back(id);
  events_.publish("exit", [&](JsonText& json) {
    json.key("job").number(id).key("state").text("failed").key("code").null().key("signal").null();
  });
  std::vector<Event> news{Exit{id, 127}};
  cancel_dependents(id, news);
  turn_.feed(std::move(news));
}

void Desk::launch(JobId id) {
  auto whole = table_.fetch(id);
  if (!whole) {
    start_trouble_ = whole.error().what;
    to_start_.insert(id);
    return retry_later();
  }
  const JobRecord* known = table_.find(id);
  if (!*whole || known == nullptr) return fail_to_start(id, "its record is gone from the store");
  (*whole)->gpu_pool = known->gpu_pool;
  auto start = make_start(**whole);
  auto begun = start ? runner_->start(*start) : tl::unexpected(start.error());
  if (!begun && begun.error().code == Code::io) {
    // The system's trouble, not the job's: a full disk, no more processes. The job keeps its place.
    if (start_trouble_ != begun.error().what)
      log_line("job.start_delayed", {{"job", std::to_string(id)}, {"why", begun.error().what}});
    start_trouble_ = begun.error().what;
    to_start_.insert(id);
    return retry_later();
  }
  start_trouble_.clear();
  if (!begun) return fail_to_start(id, begun.error().what);
  shims_[id] = begun->shim;
  JobRecord* record = table_.edit(id, JobTable::Save::some_time);
  record->started_ms = clock_.wall_ms();
  record->shim_pid = begun->shim;
  record->shim_start = begun->shim_start;
}

}  // namespace jipsa
