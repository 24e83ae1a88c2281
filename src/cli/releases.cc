// `jipsa releases`: what the servers were asked, and what came of it.
#include "cli/commands.h"
#include "cli/job_view.h"
#include "cli/table.h"
#include "text/units.h"
#include "text/utf8.h"
#include "text/words.h"

namespace jipsa::cli {
namespace {

std::string pool_text(const Session& session, Value pool) {
  std::optional<std::string> span, verdict;
  if (const auto seconds = pool["settled_s"].number()) span = span_text(session.lang, *seconds);
  if (const auto code = pool["verdict"].text()) verdict = verdict_text(session.lang, *code);
  return say(session.lang, Msg::release_pool,
             {{"pool", pool["pool"].text()},
              {"before", gib_number(read_bytes(pool["before"]))},
              {"after_unit", gib_text(read_bytes(pool["after"]))},
              {"span", span},
              {"verdict", verdict}});
}

std::string release_line(const Session& session, Value release) {
  std::string pools, what;
  for (const Value pool : release["pools"]) pools += (pools.empty() ? "" : "; ") + pool_text(session, pool);
  if (pools.empty()) pools = say(session.lang, Msg::release_no_pools);
  if (const auto error = release["error"].text()) pools += say(session.lang, Msg::release_error, {{"error", error}});
  if (release["by"].text() == "person") what += say(session.lang, Msg::release_by_person);
  if (release["restart"].boolean().value_or(false)) what += say(session.lang, Msg::release_restart);
  std::optional<std::string> at, job;
  if (const auto ms = read_time(release["asked_at"])) at = clock_text(session.lang, *ms, session.now_ms, ClockDetail::seconds);
  if (const auto id = release["for"].integer()) job = job_ref(*id);
  return say(session.lang, Msg::release_line,
             {{"at", at}, {"tenant", release["tenant"].text()}, {"job", job}, {"what", what}, {"pools", pools}});
}

std::string summary_text(const Session& session, Value summary) {
  const auto head = [&](Msg message, bool right = false) { return Cell{say(session.lang, message), "1", right}; };
  Table table(session.color);
  table.add({head(Msg::head_tenant), head(Msg::head_pool), head(Msg::head_verdict), head(Msg::head_count, true),
             head(Msg::head_freed, true), head(Msg::head_meaning)});
  for (const Value row : summary) {
    const std::string verdict = row["verdict"].text_or_empty();
    const auto count = row["count"].integer();
    table.add({{safe(row["tenant"].text_or_empty())},
               {safe(row["pool"].text_or_empty())},
               {verdict_text(session.lang, verdict)},
               {count ? std::to_string(*count) : "?", "", true},
               {gib_number(read_bytes(row["freed"])), "", true},
               {verdict_meaning(session.lang, verdict)}});
  }
  std::string out;
  table.append_to(out);
  return out;
}

}  // namespace

int cmd_releases(const Session& session, const Words& words) {
  if (const auto wrong = too_many(words, 0)) return complain(session, *wrong);
  Query query;
  const auto limit = number_option(words, "--limit", 0);
  if (!limit) return complain(session, limit.error());
  query.target = "/v1/releases?limit=" + std::to_string(limit->value_or(50));
  if (const auto tenant = words.get("--tenant")) query.target += "&tenant=" + url_part(*tenant);
  const auto reply = ask(session, query);
  if (!reply) return reply.error();
  if (print_json(session, *reply)) return exits::good;
  const Value list = reply->root()["releases"], summary = reply->root()["summary"];
  if (!list.is_array()) return complain_call(session, query, "", {Code::unreadable, "it has no list of releases"});
  if (list.begin() == list.end() && summary.begin() == summary.end()) {
    print_line(session, Msg::releases_none);
    return exits::good;
  }
  std::string out;
  for (const Value release : list) out += release_line(session, release) + '\n';
  if (summary.begin() != summary.end()) out += (out.empty() ? "" : "\n") + summary_text(session, summary);
  print(session, out);
  return exits::good;
}

}  // namespace jipsa::cli
