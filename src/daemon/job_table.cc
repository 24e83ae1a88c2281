#include "daemon/job_table.h"

#include <algorithm>

namespace jipsa {
namespace {

constexpr std::size_t kFinishedKept = 500;

void drop_bulk(JobRecord& record) {
  record.env = {};
  record.text = {};
}

bool for_memory(WaitCode code) {
  switch (code) {
    case WaitCode::order:
    case WaitCode::dependency:
    case WaitCode::held:
    case WaitCode::paused:
    case WaitCode::never_fits:
      return false;
    default:
      return true;
  }
}

}  // namespace

void JobTable::index(const JobRecord& record) {
  for (const JobId before : record.job.after) {
    if (live_.count(before) != 0) dependents_[before].push_back(record.job.id);
  }
}

Result<void> JobTable::load() {
  auto unfinished = store_.unfinished();
  if (!unfinished) return tl::unexpected(unfinished.error());
  for (JobRecord& record : *unfinished) {
    drop_bulk(record);
    index(record);
    live_.emplace(record.job.id, std::move(record));
  }
  auto recent = store_.recent(static_cast<std::int64_t>(kFinishedKept));
  if (!recent) return tl::unexpected(recent.error());
  for (auto it = recent->rbegin(); it != recent->rend(); ++it) {
    finished_order_.push_back(it->job.id);
    finished_.emplace(it->job.id, std::move(*it));
  }
  return {};
}

Result<JobId> JobTable::add(JobRecord record) {
  auto id = store_.add(record);
  if (!id) {
    trouble_ = id.error().what;
    return id;
  }
  trouble_.clear();
  record.job.id = *id;
  drop_bulk(record);
  index(record);
  live_.emplace(*id, std::move(record));
  return id;
}

const JobRecord* JobTable::find(JobId id) const {
  if (const auto it = live_.find(id); it != live_.end()) return &it->second;
  if (const auto it = finished_.find(id); it != finished_.end()) return &it->second;
  return nullptr;
}

Result<std::optional<JobRecord>> JobTable::fetch(JobId id) const { return store_.find(id); }

JobRecord* JobTable::edit(JobId id, Save when) {
  const auto it = live_.find(id);
  if (it == live_.end()) return nullptr;
  dirty_.insert(id);
  if (when == Save::at_once) urgent_ = true;
  return &it->second;
}

void JobTable::finish(JobId id) {
  waits(id, std::nullopt);
  auto node = live_.extract(id);
  if (node.empty()) return;
  finished_.insert(std::move(node));
  finished_order_.push_back(id);
  while (finished_order_.size() > kFinishedKept && is_saved(finished_order_.front())) {
    finished_.erase(finished_order_.front());
    dependents_.erase(finished_order_.front());
    finished_order_.pop_front();
  }
}

Result<void> JobTable::save() {
  std::vector<JobRecord> records;
  records.reserve(dirty_.size());
  for (const JobId id : dirty_) {
    if (const JobRecord* record = find(id)) records.push_back(*record);
  }
  if (!records.empty()) {
    auto saved = records.size() == 1 ? store_.save(records.front()) : store_.save_all(records);
    if (!saved) {
      trouble_ = saved.error().what;
      return saved;
    }
    trouble_.clear();
  }
  dirty_.clear();
  urgent_ = false;
  return {};
}

std::vector<const JobRecord*> JobTable::in_queue_order() const {
  std::vector<const JobRecord*> order;
  order.reserve(live_.size());
  for (const auto& [id, record] : live_) order.push_back(&record);
  const auto active = [](const JobRecord* r) { return r->state == JobState::starting || r->state == JobState::running; };
  std::stable_sort(order.begin(), order.end(), [&](const JobRecord* a, const JobRecord* b) {
    if (active(a) != active(b)) return active(a);
    return !active(a) && a->job.priority > b->job.priority;
  });
  return order;
}

Result<std::vector<JobRecord>> JobTable::newest_finished(std::size_t limit) const {
  if (limit > finished_order_.size() && finished_order_.size() >= kFinishedKept) {
    return store_.recent(static_cast<std::int64_t>(limit));
  }
  std::vector<JobRecord> records;
  for (auto it = finished_order_.rbegin(); it != finished_order_.rend() && records.size() < limit; ++it) {
    records.push_back(finished_.at(*it));
  }
  return records;
}

std::size_t JobTable::count(JobState a, JobState b) const {
  return static_cast<std::size_t>(std::count_if(
      live_.begin(), live_.end(), [&](const auto& entry) { return entry.second.state == a || entry.second.state == b; }));
}

bool JobTable::driven(const std::string& tenant) const {
  return std::any_of(live_.begin(), live_.end(), [&](const auto& entry) {
    const JobRecord& r = entry.second;
    return r.job.tenant == tenant && (r.state == JobState::starting || r.state == JobState::running);
  });
}

std::vector<JobId> JobTable::dependents(JobId id) const {
  std::vector<JobId> ids;
  const auto it = dependents_.find(id);
  if (it == dependents_.end()) return ids;
  std::copy_if(it->second.begin(), it->second.end(), std::back_inserter(ids), [&](JobId d) { return live_.count(d) != 0; });
  return ids;
}

void JobTable::waits(JobId id, std::optional<WaitCode> code) {
  const auto it = wait_codes_.find(id);
  if (it != wait_codes_.end()) {
    if (for_memory(it->second)) --memory_waits_;
    wait_codes_.erase(it);
  }
  if (!code || live_.count(id) == 0) return;
  wait_codes_.emplace(id, *code);
  if (for_memory(*code)) ++memory_waits_;
}

}  // namespace jipsa
