#include "daemon/release_log.h"

#include <algorithm>
#include <cstdlib>

namespace jipsa {
namespace {

constexpr std::size_t kKept = 100;
constexpr std::int64_t kSameAsk_ms = 1500;  // the wall clock may have been set between a request and its verdict

}  // namespace

Result<void> ReleaseLog::load() {
  auto records = store_.releases(static_cast<std::int64_t>(kKept), "");
  if (!records) return tl::unexpected(records.error());
  newest_.assign(std::make_move_iterator(records->begin()), std::make_move_iterator(records->end()));
  return {};
}

Result<void> ReleaseLog::add(ReleaseRecord record) {
  auto id = store_.add_release(record);
  if (!id) return tl::unexpected(id.error());
  record.id = *id;
  newest_.push_front(std::move(record));
  if (newest_.size() > kKept) newest_.pop_back();
  return {};
}

Result<void> ReleaseLog::asked(const Release& release, Seconds t, bool by_person) {
  ReleaseRecord record;
  record.tenant = release.tenant;
  record.asked_ms = clock_.to_wall_ms(t);
  record.job = release.job;
  record.asked_by = by_person ? "person" : "queue";
  if (!release.pool.empty()) record.pools.push_back({release.pool, release.held, std::nullopt, "", std::nullopt});
  return add(std::move(record));
}

Result<void> ReleaseLog::restarted(const Restart& restart, Seconds t) {
  ReleaseRecord record;
  record.tenant = restart.tenant;
  record.asked_ms = clock_.to_wall_ms(t);
  record.job = restart.job;
  record.asked_by = "queue";
  record.restart = true;
  return add(std::move(record));
}

ReleaseRecord* ReleaseLog::find(const std::string& tenant, std::optional<Seconds> asked_at) {
  const auto it = std::find_if(newest_.begin(), newest_.end(), [&](const ReleaseRecord& r) {
    return r.tenant == tenant && (!asked_at || std::llabs(r.asked_ms - clock_.to_wall_ms(*asked_at)) <= kSameAsk_ms);
  });
  return it == newest_.end() ? nullptr : &*it;
}

Result<void> ReleaseLog::answered(const std::string& tenant, const std::string& error) {
  ReleaseRecord* record = find(tenant, std::nullopt);
  if (record == nullptr) return {};
  record->error = error;
  return store_.save_release(*record);
}

Result<void> ReleaseLog::judged(const Verdict& verdict) {
  ReleaseRecord* record = find(verdict.tenant, verdict.asked_at);
  if (record == nullptr) return {};  // asked in a time of which nothing is kept
  auto row =
      std::find_if(record->pools.begin(), record->pools.end(), [&](const ReleasePool& p) { return p.pool == verdict.pool; });
  if (row == record->pools.end()) row = record->pools.insert(row, ReleasePool{verdict.pool, {}, {}, "", {}});
  if (verdict.before) row->before = verdict.before;
  row->after = verdict.after;
  row->verdict = name(verdict.verdict);
  row->settled_s = verdict.settled_s;
  return store_.save_release(*record);
}

}  // namespace jipsa
