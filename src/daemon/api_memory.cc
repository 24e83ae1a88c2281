// Memory: whose it is, the servers, what they were asked and what came of it.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "daemon/api.h"

namespace jipsa {
namespace {

const TenantStatus* find_status(const std::vector<TenantStatus>& all, const std::string& id) {
  const auto it = std::find_if(all.begin(), all.end(), [&](const TenantStatus& s) { return s.id == id; });
  return it == all.end() ? nullptr : &*it;
}

void write_amounts(JsonText& json, const std::map<std::string, Bytes>& amounts) {
  json.open_object();
  for (const auto& [pool, bytes] : amounts) json.key(pool).bytes(bytes);
  json.close_object();
}

const char* name_of(RestartLeave leave) {
  switch (leave) {
    case RestartLeave::never:
      return "never";
    case RestartLeave::ask:
      return "ask";
    case RestartLeave::automatic:
      return "auto";
  }
  return "never";
}

}  // namespace

void Api::write_pools(JsonText& json) {
  const std::int64_t now = p_.clock.steady_ns();
  const auto max_age = p_.looks.max_age();
  const std::vector<TenantStatus> statuses = p_.turn.engine().tenants();
  const std::vector<Pool> readings = p_.pools.at(now, max_age);
  json.open_array();
  for (const Books& books : p_.turn.engine().books()) {
    const auto reading = std::find_if(readings.begin(), readings.end(), [&](const Pool& p) { return p.id == books.pool; });
    const std::string trouble = p_.pools.trouble_of(books.pool, now, max_age);
    json.open_object().key("id").text(books.pool).key("kind").text(name(books.kind));
    json.key("name").text_or_null(reading == readings.end() ? "" : reading->name);
    json.key("total").bytes(books.total).key("used").bytes(books.used).key("free").bytes(books.unused);
    json.key("age_s").real(p_.pools.age_of(books.pool, now)).key("trouble").text_or_null(trouble);
    json.key("claims").open_array();
    for (const Claim& claim : books.claims) {
      const TenantStatus* tenant = claim.owner.kind == OwnerKind::tenant ? find_status(statuses, claim.owner.name) : nullptr;
      json.open_object().key("owner").text(to_string(claim.owner)).key("bytes").bytes(claim.bytes);
      json.key("lo").bytes(claim.lo).key("hi").bytes(claim.hi).key("how").text(name(claim.how)).key("capped").truth(claim.capped);
      json.key("idle_since").time(tenant != nullptr ? p_.clock.to_wall_ms(tenant->idle_since) : std::nullopt);
      json.key("left_by").number(tenant != nullptr ? tenant->left_by : std::nullopt).close_object();
    }
    json.close_array().close_object();
  }
  json.close_array();
}

Api::Answer Api::whose() {
  JsonText json;
  json.open_object().key("pools");
  write_pools(json);
  return json.close_object().take();
}

Api::Answer Api::tenants() {
  const std::vector<TenantStatus> statuses = p_.turn.engine().tenants();
  JsonText json;
  json.open_object().key("tenants").open_array();
  for (const auto& [id, watched] : p_.tenants.all()) {
    const TenantStatus* known = find_status(statuses, id);
    const TenantStatus status = known != nullptr ? *known : TenantStatus{};
    const auto& answer = watched.answer;
    std::string trouble = answer ? answer->trouble : "not_looked_at_yet";
    if (trouble.empty()) trouble = watched.process.trouble;
    json.open_object().key("id").text(id).key("kind").text(watched.config.kind).key("url").text(watched.config.url);
    json.key("pid").number(watched.process.pid ? std::optional<std::int64_t>(*watched.process.pid) : std::nullopt);
    json.key("reachable").truth(answer && answer->reachable);
    json.key("running")
        .number(answer ? answer->running : std::nullopt)
        .key("pending")
        .number(answer ? answer->pending : std::nullopt);
    json.key("idle_since").time(p_.clock.to_wall_ms(status.idle_since)).key("left_by").number(status.left_by);
    json.key("bundle").text_or_null(status.bundle).key("holds");
    write_amounts(json, status.holds);
    json.key("floor");
    write_amounts(json, status.floor);
    json.key("stuck")
        .truth(status.stuck)
        .key("restart")
        .text(name_of(watched.config.restart))
        .key("keep")
        .truth(watched.config.keep);
    json.key("releasing").truth(status.watching).key("restarting").truth(status.restarting);
    json.key("asked_at")
        .time(p_.clock.to_wall_ms(status.asked_at))
        .key("not_before")
        .time(p_.clock.to_wall_ms(status.not_before));
    json.key("version").text_or_null(answer ? answer->version : "").key("trouble").text_or_null(trouble).close_object();
  }
  return json.close_array().close_object().take();
}

Api::Answer Api::ask_release(const std::string& tenant) {
  const TenantsWatch::Watched* watched = p_.tenants.find(tenant);
  if (watched == nullptr) return fail(Code::not_found, fmt::format("no tenant {}", tenant));
  const auto refuse = [&](const std::string& why) {
    return fail(Code::conflict, fmt::format("{} is not asked: {}", tenant, why));
  };
  if (!watched->answer || !watched->answer->reachable) return refuse("it does not answer");
  const std::vector<TenantStatus> before = p_.turn.engine().tenants();
  const TenantStatus* status = find_status(before, tenant);
  if (status == nullptr) return refuse("it has not been looked at yet");
  if (status->watching) return refuse("a release is being watched");
  if (status->restarting) return refuse("it is being restarted");
  if (status->running.value_or(0) > 0 || status->pending.value_or(0) > 0) return refuse("it works");
  if (p_.table.driven(tenant)) return refuse("a job drives it");
  p_.turn.feed(Ask{tenant});
  const std::vector<TenantStatus> after = p_.turn.engine().tenants();
  const TenantStatus* asked = find_status(after, tenant);
  if (asked == nullptr || !asked->watching) {
    return refuse("it holds nothing above its floor, or host memory has no room for what it would copy there first");
  }
  return R"({"asked":true})";
}

Api::Answer Api::releases(const HttpAsk& ask) {
  const auto limit = query_number(ask, "limit", 50, 1000000);
  if (!limit) return tl::unexpected(limit.error());
  const auto wanted = ask.query.find("tenant");
  const std::string tenant = wanted == ask.query.end() ? "" : wanted->second;
  const auto records = p_.store.releases(*limit, tenant);
  if (!records) return tl::unexpected(records.error());
  const auto summary = p_.store.release_summary();
  if (!summary) return tl::unexpected(summary.error());
  JsonText json;
  json.open_object().key("releases").open_array();
  for (const ReleaseRecord& r : *records) {
    json.open_object().key("id").number(r.id).key("tenant").text(r.tenant).key("asked_at").time(r.asked_ms);
    json.key("for").number(r.job).key("by").text(r.asked_by).key("restart").truth(r.restart).key("error").text_or_null(r.error);
    json.key("pools").open_array();
    for (const ReleasePool& pool : r.pools) {
      json.open_object().key("pool").text(pool.pool).key("before").bytes(pool.before).key("after").bytes(pool.after);
      json.key("verdict").text_or_null(pool.verdict).key("settled_s").real(pool.settled_s).close_object();
    }
    json.close_array().close_object();
  }
  json.close_array().key("summary").open_array();
  for (const Store::ReleaseSummary& s : *summary) {
    if (!tenant.empty() && s.tenant != tenant) continue;
    json.open_object().key("tenant").text(s.tenant).key("pool").text(s.pool).key("verdict").text(s.verdict);
    json.key("count").number(s.count).key("freed").bytes(s.freed).close_object();
  }
  return json.close_array().close_object().take();
}

}  // namespace jipsa
