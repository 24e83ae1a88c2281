// The calls about releases.
#include <fmt/format.h>

#include <map>
#include <tuple>

#include "store/impl.h"
#include "store/schema.h"

namespace jipsa {
namespace {

using store::Use;

void insert_pools(store::Connection& connection, std::int64_t id, const std::vector<ReleasePool>& pools) {
  std::int64_t position = 0;
  for (const auto& pool : pools) {
    Use use(
        connection.prepared("INSERT INTO release_pools (release, position, pool, before, after, verdict, settled_s)"
                            " VALUES (?, ?, ?, ?, ?, ?, ?)"));
    use.integer(id).integer(position++).text(pool.pool);
    pool.before ? use.integer(pool.before->count()) : use.null();
    pool.after ? use.integer(pool.after->count()) : use.null();
    use.text(pool.verdict);
    pool.settled_s ? use.real(*pool.settled_s) : use.null();
    use.step();
  }
}

std::optional<Bytes> amount_at(SQLite::Statement& row, int column) {
  const auto value = store::integer_at(row, column);
  return value ? std::optional<Bytes>(Bytes{*value}) : std::nullopt;
}

std::vector<ReleasePool> read_pools(store::Connection& connection, std::int64_t id) {
  std::vector<ReleasePool> pools;
  Use use(connection.prepared(
      "SELECT pool, before, after, verdict, settled_s FROM release_pools WHERE release = ? ORDER BY position"));
  use.integer(id);
  while (use.step()) {
    auto& row = use.row();
    ReleasePool pool;
    pool.pool = store::text_at(row, 0);
    pool.before = amount_at(row, 1);
    pool.after = amount_at(row, 2);
    pool.verdict = store::text_at(row, 3);
    if (const auto settled = row.getColumn(4); !settled.isNull()) pool.settled_s = settled.getDouble();
    pools.push_back(std::move(pool));
  }
  return pools;
}

std::vector<ReleaseRecord> read_releases(Use& use) {
  std::vector<ReleaseRecord> records;
  while (use.step()) {
    auto& row = use.row();
    ReleaseRecord record;
    record.id = store::integer_at(row, 0).value_or(0);
    record.tenant = store::text_at(row, 1);
    record.asked_ms = store::integer_at(row, 2).value_or(0);
    record.job = store::integer_at(row, 3);
    record.asked_by = store::text_at(row, 4);
    record.restart = store::integer_at(row, 5).value_or(0) != 0;
    record.error = store::text_at(row, 6);
    records.push_back(std::move(record));
  }
  return records;
}

}  // namespace

Result<std::int64_t> Store::add_release(const ReleaseRecord& record) {
  return impl_->write([&]() -> Result<std::int64_t> {
    {
      Use use(
          impl_->prepared("INSERT INTO releases (tenant, asked_ms, job, asked_by, restart, error) VALUES (?, ?, ?, ?, ?, ?)"));
      use.text(record.tenant).integer(record.asked_ms).optional_integer(record.job).text(record.asked_by);
      use.integer(record.restart ? 1 : 0).text(record.error).step();
    }
    const auto id = impl_->db.getLastInsertRowid();
    insert_pools(*impl_, id, record.pools);
    Use(impl_->prepared("DELETE FROM releases WHERE id <= ?")).integer(id - store::kKeptReleases).step();
    return id;
  });
}

Result<void> Store::save_release(const ReleaseRecord& record) {
  return impl_->write([&]() -> Result<void> {
    Use use(impl_->prepared(
        "UPDATE releases SET tenant = ?, asked_ms = ?, job = ?, asked_by = ?, restart = ?, error = ? WHERE id = ?"));
    use.text(record.tenant).integer(record.asked_ms).optional_integer(record.job).text(record.asked_by);
    use.integer(record.restart ? 1 : 0).text(record.error).integer(record.id).step();
    if (impl_->db.getChanges() != 1) return fail(Code::not_found, fmt::format("no release {}", record.id));
    Use(impl_->prepared("DELETE FROM release_pools WHERE release = ?")).integer(record.id).step();
    insert_pools(*impl_, record.id, record.pools);
    return {};
  });
}

Result<std::vector<ReleaseRecord>> Store::releases(std::int64_t limit, const std::string& tenant) const {
  if (limit < 0) return fail(Code::bad_input, fmt::format("limit {}: must not be negative", limit));
  return impl_->read([&]() -> Result<std::vector<ReleaseRecord>> {
    const char* all = "SELECT id, tenant, asked_ms, job, asked_by, restart, error FROM releases ORDER BY id DESC LIMIT ?";
    const char* one =
        "SELECT id, tenant, asked_ms, job, asked_by, restart, error FROM releases WHERE tenant = ? ORDER BY id DESC LIMIT ?";
    Use use(impl_->prepared(tenant.empty() ? all : one));
    if (!tenant.empty()) use.text(tenant);
    auto records = read_releases(use.integer(limit));
    for (auto& record : records) record.pools = read_pools(*impl_, record.id);
    return records;
  });
}

Result<std::vector<Store::ReleaseSummary>> Store::release_summary() const {
  return impl_->read([&]() -> Result<std::vector<ReleaseSummary>> {
    // Added up here: Bytes saturate where SQLite's sum() gives up on the whole.
    Use use(
        impl_->prepared("SELECT tenant, pool, verdict, before, after FROM release_pools JOIN releases ON id = release"
                        " WHERE verdict <> '' AND restart = 0"));
    std::map<std::tuple<std::string, std::string, std::string>, ReleaseSummary> sums;
    while (use.step()) {
      auto& row = use.row();
      auto key = std::make_tuple(store::text_at(row, 0), store::text_at(row, 1), store::text_at(row, 2));
      auto& sum = sums[std::move(key)];
      ++sum.count;
      const auto before = amount_at(row, 3);
      const auto after = amount_at(row, 4);
      if (before && after) sum.freed += *before - *after;
    }
    std::vector<ReleaseSummary> list;
    for (auto& [key, sum] : sums) {
      std::tie(sum.tenant, sum.pool, sum.verdict) = key;
      list.push_back(std::move(sum));
    }
    return list;
  });
}

}  // namespace jipsa
