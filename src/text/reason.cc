#include "text/reason.h"

#include "text/catalogue.h"
#include "text/units.h"

namespace jipsa {
namespace {

struct Row {
  std::string_view code;
  Msg short_form, long_form;
};
constexpr Row rows[] = {
    {"leftover", Msg::leftover_short, Msg::leftover_long},
    {"releasing", Msg::releasing_short, Msg::releasing_long},
    {"unsafe", Msg::unsafe_short, Msg::unsafe_long},
    {"kept", Msg::kept_short, Msg::kept_long},
    {"tenant_busy", Msg::tenant_busy_short, Msg::tenant_busy_long},
    {"tenant_stuck", Msg::tenant_stuck_short, Msg::tenant_stuck_long},
    {"running_job", Msg::running_job_short, Msg::running_job_long},
    {"other_process", Msg::other_process_short, Msg::other_process_long},
    {"unexplained", Msg::unexplained_short, Msg::unexplained_long},
    {"baseline", Msg::baseline_short, Msg::baseline_long},
    {"never_fits", Msg::never_fits_short, Msg::never_fits_long},
    {"order", Msg::order_short, Msg::order_long},
    {"dependency", Msg::dependency_short, Msg::dependency_long},
    {"held", Msg::held_short, Msg::held_long},
    {"paused", Msg::paused_short, Msg::paused_long},
    {"stale", Msg::stale_short, Msg::stale_long},
};

constexpr Row no_such_pool{"never_fits", Msg::no_such_pool_short, Msg::no_such_pool_long};

const Row* find_row(const ReasonFacts& reason) {
  // Of a pool that is not there, it is not known what is free.
  if (reason.code == "never_fits" && reason.need && !reason.free && !reason.pool.empty()) return &no_such_pool;
  for (const Row& row : rows) {
    if (row.code == reason.code) return &row;
  }
  return nullptr;
}

std::string after_text(const std::vector<std::int64_t>& after) {
  std::string out;
  for (const std::int64_t id : after) out += (out.empty() ? "" : ", ") + job_ref(id);
  return out;
}

std::string who(Lang lang, const ReasonFacts& reason) {
  if (reason.code == "baseline") return say(lang, reason.pool == "ram" ? Msg::the_rest : Msg::the_desktop);
  if (!reason.owner.empty()) return owner_text(lang, reason.owner, reason.pool);
  if (reason.code == "dependency" && !reason.after.empty()) return after_text(reason.after);
  return say(lang, reason.code == "order" || reason.code == "dependency" ? Msg::another_job : Msg::somebody);
}

// Only what is known is put in; a list of ten thousand reasons should not build ten thousand times all of it.
Args arguments(Lang lang, const ReasonFacts& reason, std::int64_t now_ms) {
  Args args;
  args.reserve(10);
  args.push_back({"owner", who(lang, reason)});
  if (!reason.pool.empty()) args.push_back({"pool", reason.pool});
  if (reason.need) args.push_back({"need", gib_text(reason.need)});
  if (reason.free) {
    args.push_back({"free", gib_text(reason.free)});
    args.push_back({"free_n", gib_number(reason.free)});
  }
  if (reason.short_by && *reason.short_by > Bytes{}) args.push_back({"short", gib_text(reason.short_by)});
  if (reason.held) {
    args.push_back({"held", gib_text(reason.held)});
    args.push_back({"held_n", gib_number(reason.held)});
  }
  const auto since = [&](std::int64_t then_ms) { return duration_text(lang, static_cast<double>(now_ms - then_ms) / 1000); };
  if (reason.idle_since_ms) {
    args.push_back({"idle", since(*reason.idle_since_ms)});
    args.push_back({"since", clock_text(lang, *reason.idle_since_ms, now_ms)});
  }
  if (reason.left_by) args.push_back({"left_by", job_ref(*reason.left_by)});
  if (reason.asked_at_ms) args.push_back({"asked", since(*reason.asked_at_ms)});
  return args;
}

std::string unknown(Lang lang, const ReasonFacts& reason) {
  if (reason.code.empty()) return say(lang, Msg::no_reason_yet);
  Args args{{"code", reason.code}};
  if (!reason.pool.empty()) args.push_back({"pool", reason.pool});
  if (reason.short_by) args.push_back({"short", gib_text(reason.short_by)});
  if (!reason.owner.empty()) args.push_back({"owner", owner_text(lang, reason.owner, reason.pool)});
  return say(lang, Msg::unknown_reason, args);
}

}  // namespace

std::string job_ref(std::int64_t id) { return '#' + std::to_string(id); }

std::string owner_text(Lang lang, std::string_view owner, std::string_view pool) {
  if (owner == "baseline") return say(lang, pool == "ram" ? Msg::owner_rest : Msg::owner_desktop);
  if (owner == "driver") return say(lang, Msg::owner_driver);
  if (owner == "unexplained") return say(lang, Msg::owner_unexplained);
  const std::size_t colon = owner.find(':');
  if (colon == std::string_view::npos) return std::string(owner);
  const std::string_view name = owner.substr(colon + 1);
  return (owner.substr(0, colon) == "job" ? "#" : "") + std::string(name);
}

std::string reason_short(Lang lang, const ReasonFacts& reason, std::int64_t now_ms) {
  const Row* row = find_row(reason);
  return row == nullptr ? unknown(lang, reason) : say(lang, row->short_form, arguments(lang, reason, now_ms));
}

std::string reason_long(Lang lang, const ReasonFacts& reason, std::int64_t now_ms) {
  const Row* row = find_row(reason);
  return row == nullptr ? unknown(lang, reason) : say(lang, row->long_form, arguments(lang, reason, now_ms));
}

}  // namespace jipsa
