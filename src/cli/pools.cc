#include "cli/pools.h"

#include <algorithm>

#include "cli/job_view.h"
#include "cli/table.h"
#include "text/units.h"
#include "text/utf8.h"
#include "text/words.h"

namespace jipsa::cli {
namespace {

constexpr double old_age_s = 10;  // a figure older than this says so

ClaimView read_claim(Value value) {
  ClaimView claim;
  claim.owner = value["owner"].text_or_empty();
  claim.how = value["how"].text_or_empty();
  claim.bytes = read_bytes(value["bytes"]);
  claim.lo = read_bytes(value["lo"]);
  claim.hi = read_bytes(value["hi"]);
  claim.capped = value["capped"].boolean().value_or(false);
  claim.idle_since_ms = read_time(value["idle_since"]);
  claim.left_by = value["left_by"].integer();
  return claim;
}

PoolView read_pool(Value value) {
  PoolView pool;
  pool.id = value["id"].text_or_empty();
  pool.name = value["name"].text_or_empty();
  pool.trouble = value["trouble"].text_or_empty();
  pool.total = read_bytes(value["total"]);
  pool.used = read_bytes(value["used"]);
  pool.free = read_bytes(value["free"]);
  pool.age_s = value["age_s"].number();
  for (const Value claim : value["claims"]) pool.claims.push_back(read_claim(claim));
  std::stable_sort(pool.claims.begin(), pool.claims.end(),
                   [](const ClaimView& a, const ClaimView& b) { return a.bytes.value_or(Bytes{}) > b.bytes.value_or(Bytes{}); });
  return pool;
}

std::string owners_text(const Session& session, const PoolView& pool) {
  std::string out;
  for (const ClaimView& claim : pool.claims) {
    if (claim.bytes == Bytes{}) continue;
    const std::string more = claim_more(session, claim);
    if (!out.empty()) out += " · ";
    out += say(session.lang, Msg::claim_brief,
               {{"owner", owner_text(session.lang, claim.owner, pool.id)},
                {"held", gib_number(claim.bytes)},
                {"more", more.empty() ? std::nullopt : std::optional(more)}});
  }
  return out;
}

std::string last_column(const Session& session, const PoolView& pool, PoolLine line) {
  std::string out;
  if (line == PoolLine::owners) out = owners_text(session, pool);
  if (line == PoolLine::free && pool.free) out = say(session.lang, Msg::pool_free, {{"free", gib_text(pool.free)}});
  const auto append = [&](const std::string& text) { out += (out.empty() ? "" : " · ") + text; };
  if (pool.used && !pool.trouble.empty()) append(trouble_text(session.lang, pool.trouble));
  if (pool.age_s && *pool.age_s >= old_age_s) {
    append(say(session.lang, Msg::pool_old, {{"age", duration_text(session.lang, *pool.age_s)}}));
  }
  return out;
}

}  // namespace

std::vector<PoolView> read_pools(Value pools) {
  std::vector<PoolView> out;
  for (const Value pool : pools) out.push_back(read_pool(pool));
  return out;
}

std::string claim_more(const Session& session, const ClaimView& claim) {
  std::optional<std::string> left_by;
  if (claim.left_by) left_by = job_ref(*claim.left_by);
  if (claim.idle_since_ms) {
    const double seconds = static_cast<double>(session.now_ms - *claim.idle_since_ms) / 1000;
    return say(session.lang, Msg::claim_idle, {{"idle", duration_text(session.lang, seconds)}, {"left_by", left_by}});
  }
  return left_by ? say(session.lang, Msg::claim_left_by, {{"left_by", left_by}}) : "";
}

std::string pool_used(const Session& session, const PoolView& pool) {
  if (pool.used)
    return say(session.lang, Msg::pool_used, {{"used", gib_number(pool.used)}, {"total_unit", gib_text(pool.total)}});
  std::optional<std::string> trouble;
  if (!pool.trouble.empty()) trouble = trouble_text(session.lang, pool.trouble);
  return say(session.lang, Msg::pool_unmeasured, {{"trouble", trouble}});
}

std::string pool_lines(const Session& session, const std::vector<PoolView>& pools, PoolLine line) {
  Table table(session.color);
  for (const PoolView& pool : pools) {
    table.add({{safe(pool.id), "1"}, {safe(pool.name)}, {pool_used(session, pool)}, {' ' + last_column(session, pool, line)}});
  }
  std::string out;
  table.append_to(out);
  return out;
}

}  // namespace jipsa::cli
