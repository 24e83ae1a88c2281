// `jipsa tenants` and `jipsa release`: the model servers.
#include "cli/commands.h"
#include "cli/job_view.h"
#include "cli/table.h"
#include "text/units.h"
#include "text/utf8.h"
#include "text/words.h"

namespace jipsa::cli {
namespace {

std::string amounts_text(Value amounts) {
  std::string out;
  for (const Member m : amounts.members()) {
    out += (out.empty() ? "" : " + ") + gib_number(read_bytes(m.value)) + ' ' + safe(m.key);
  }
  return out.empty() ? "-" : out;
}

std::string span_since(const Session& session, std::int64_t then_ms) {
  return duration_text(session.lang, static_cast<double>(session.now_ms - then_ms) / 1000);
}

std::string activity(const Session& session, Value tenant) {
  std::optional<std::string> asked, idle, left_by;
  if (const auto at = read_time(tenant["asked_at"])) asked = span_since(session, *at);
  if (const auto at = read_time(tenant["idle_since"])) idle = span_since(session, *at);
  if (const auto id = tenant["left_by"].integer()) left_by = job_ref(*id);
  if (!tenant["reachable"].boolean().value_or(false)) return say(session.lang, Msg::tenant_unreachable);
  if (tenant["stuck"].boolean().value_or(false)) return say(session.lang, Msg::tenant_stuck);
  if (tenant["releasing"].boolean().value_or(false)) return say(session.lang, Msg::tenant_releasing, {{"asked", asked}});
  const auto running = tenant["running"].integer(), pending = tenant["pending"].integer();
  if (running.value_or(0) > 0 || pending.value_or(0) > 0) {
    const auto number = [](std::optional<std::int64_t> n) { return n ? std::optional(std::to_string(*n)) : std::nullopt; };
    return say(session.lang, Msg::tenant_working, {{"running", number(running)}, {"pending", number(pending)}});
  }
  if (!running && !pending && !idle) return say(session.lang, Msg::tenant_unknown);
  return say(session.lang, Msg::tenant_idle, {{"idle", idle}, {"left_by", left_by}});
}

std::string doing(const Session& session, Value tenant) {
  std::string out = activity(session, tenant);
  const auto until = read_time(tenant["not_before"]);
  if (until && *until > session.now_ms) {
    out += "; " + say(session.lang, Msg::tenant_cooldown, {{"until", clock_text(session.lang, *until, session.now_ms)}});
  }
  if (tenant["keep"].boolean().value_or(false)) out += "; " + say(session.lang, Msg::tenant_keep);
  if (const auto trouble = tenant["trouble"].text()) out += "; " + trouble_text(session.lang, *trouble);
  return out;
}

std::string tenants_text(const Session& session, Value list) {
  bool any_bundle = false;
  for (const Value tenant : list) any_bundle = any_bundle || !tenant["bundle"].is_null();
  const auto head = [&](Msg message) { return Cell{say(session.lang, message), "1"}; };
  Table table(session.color);
  std::vector<Cell> heading{head(Msg::head_tenant), head(Msg::head_kind), head(Msg::head_holds), head(Msg::head_floor)};
  if (any_bundle) heading.push_back(head(Msg::show_bundle));
  heading.push_back(head(Msg::head_url));
  heading.push_back(head(Msg::head_doing));
  table.add(std::move(heading));
  for (const Value tenant : list) {
    std::vector<Cell> row{{safe(tenant["id"].text_or_empty())},
                          {safe(tenant["kind"].text_or_empty())},
                          {amounts_text(tenant["holds"])},
                          {amounts_text(tenant["floor"])}};
    if (any_bundle) row.push_back({safe(tenant["bundle"].text_or_empty())});
    row.push_back({safe(tenant["url"].text_or_empty())});
    row.push_back({doing(session, tenant)});
    table.add(std::move(row));
  }
  std::string out;
  table.append_to(out);
  return out;
}

}  // namespace

int cmd_tenants(const Session& session, const Words& words) {
  if (const auto wrong = too_many(words, 0)) return complain(session, *wrong);
  Query query;
  query.target = "/v1/tenants";
  const auto reply = ask(session, query);
  if (!reply) return reply.error();
  if (print_json(session, *reply)) return exits::good;
  const Value list = reply->root()["tenants"];
  if (!list.is_array()) return complain_call(session, query, "", {Code::unreadable, "it has no list of servers"});
  if (list.begin() == list.end()) {
    const auto places = find_places(session.given);
    print_line(session, Msg::tenants_none, {{"file", places ? places->config_file : "config.toml"}});
    return exits::good;
  }
  print(session, tenants_text(session, list));
  return exits::good;
}

int cmd_release(const Session& session, const Words& words) {
  if (const auto wrong = too_many(words, 1)) return complain(session, *wrong);
  if (words.rest.empty()) return complain(session, Complaint{Msg::wants_tenant, {}});
  const std::string& tenant = words.rest.front();
  Query query;
  query.method = "POST";
  query.target = "/v1/tenants/" + url_part(tenant) + "/release";
  query.instead = {{"not_found", {Msg::no_such_tenant, {{"tenant", tenant}}}}};
  const auto reply = ask(session, query);
  if (!reply) return reply.error();
  if (!print_json(session, *reply)) print_line(session, Msg::release_asked, {{"tenant", tenant}});
  return exits::good;
}

}  // namespace jipsa::cli
