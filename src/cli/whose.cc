// `jipsa whose`: whose memory every byte is.
#include "cli/commands.h"
#include "cli/pools.h"
#include "cli/table.h"
#include "text/reason.h"
#include "text/units.h"
#include "text/utf8.h"
#include "text/words.h"

namespace jipsa::cli {
namespace {

void add_heading(const Session& session, Table& table, bool verbose) {
  const auto head = [&](Msg message, bool right = false) { return Cell{say(session.lang, message), "1", right}; };
  std::vector<Cell> row{head(Msg::head_pool), head(Msg::head_owner), head(Msg::head_holds, true)};
  if (verbose) {
    row.push_back(head(Msg::head_between, true));
    row.push_back(head(Msg::head_how));
  }
  row.push_back({""});
  table.add(std::move(row));
}

void add_claim(const Session& session, Table& table, const PoolView& pool, const ClaimView& claim, bool verbose) {
  std::vector<Cell> row{
      {safe(pool.id)}, {safe(owner_text(session.lang, claim.owner, pool.id))}, {gib_number(claim.bytes), "", true}};
  std::string more = claim_more(session, claim);
  if (verbose) {
    const auto range = say(session.lang, Msg::claim_range, {{"lo", gib_number(claim.lo)}, {"hi", gib_number(claim.hi)}});
    row.push_back({range, "", true});
    row.push_back({how_text(session.lang, claim.how)});
    if (claim.capped) more += (more.empty() ? "" : "; ") + say(session.lang, Msg::claim_capped);
  }
  row.push_back({more});
  table.add(std::move(row));
}

}  // namespace

int cmd_whose(const Session& session, const Words& words) {
  if (const auto wrong = too_many(words, 0)) return complain(session, *wrong);
  Query query;
  query.target = "/v1/whose";
  const auto reply = ask(session, query);
  if (!reply) return reply.error();
  if (print_json(session, *reply)) return exits::good;
  const Value list = reply->root()["pools"];
  if (!list.is_array()) return complain_call(session, query, "", {Code::unreadable, "it has no list of pools"});
  const bool verbose = words.has("--verbose");
  const std::vector<PoolView> pools = read_pools(list);
  Table table(session.color);
  add_heading(session, table, verbose);
  bool any = false;
  for (const PoolView& pool : pools) {
    for (const ClaimView& claim : pool.claims) {
      if (!verbose && claim.bytes == Bytes{}) continue;
      add_claim(session, table, pool, claim, verbose);
      any = true;
    }
  }
  std::string out = pool_lines(session, pools, PoolLine::free);
  if (any) {
    out += '\n';
    table.append_to(out);
  }
  print(session, out);
  return exits::good;
}

}  // namespace jipsa::cli
