#include "daemon/executor.h"

#include <fmt/format.h>

#include <algorithm>

#include "daemon/log.h"

namespace jipsa {
namespace {

// Reading smaps costs milliseconds a GiB and holds up the server's own memory calls meanwhile.
constexpr Bytes kArenaLimit = gib(64);

std::string bytes_text(const std::optional<Bytes>& bytes) { return bytes ? std::to_string(bytes->count()) : "unknown"; }

void warn_unsaved(const Result<void>& saved) {
  if (!saved) log_line("store.failed", {{"what", saved.error().what}});
}

}  // namespace

void Executor::carry_out(const Output& output, const Event& cause) {
  // A core that begins anew says again why each job waits; that is no news.
  const bool is_news = !p_.turn.beginning() || !std::holds_alternative<Wait>(output.decision);
  if (is_news) p_.events.publish_output(output);
  std::visit([&](const auto& decision) { act(decision, output.t, cause); }, output.decision);
}

void Executor::act(const Admit& admit, Seconds, const Event&) { p_.desk.admitted(admit); }

void Executor::act(const Wait& wait, Seconds, const Event&) { p_.table.waits(wait.job, wait.reason.code); }

void Executor::act(const Release& release, Seconds t, const Event& cause) {
  const auto* ask = std::get_if<Ask>(&cause);
  const bool by_person = ask != nullptr && ask->tenant == release.tenant;
  log_line("release", {{"tenant", release.tenant},
                       {"pool", release.pool},
                       {"held", bytes_text(release.held)},
                       {"for", release.job ? std::to_string(*release.job)
                               : by_person ? "person"
                                           : "none"}});
  TenantsWatch::Watched* watched = p_.tenants.find(release.tenant);
  if (auto saved = p_.log.asked(release, t, by_person); !saved) {
    // Nothing is asked of a server that is not on record.
    log_line("store.failed", {{"what", saved.error().what}});
    p_.turn.feed(Released{release.tenant, false, std::nullopt, "not asked: " + saved.error().what});
    return;
  }
  p_.keeper.save();
  if (watched == nullptr || watched->releasing) {
    p_.turn.feed(Released{release.tenant, false, std::nullopt,
                          watched == nullptr ? "not asked: it is not in the configuration any more"
                                             : "not asked: the request before it has no answer yet"});
    return;
  }
  last_ask_ = t;
  p_.tenants.drop_arena(release.tenant);
  want_arena_later(release.tenant);
  watched->releasing = true;
  watched->adapter->release([this, tenant = release.tenant](const ReleaseAnswer& answer) { answered(tenant, answer); });
}

void Executor::answered(const std::string& tenant, const ReleaseAnswer& answer) {
  p_.tenants.find(tenant)->releasing = false;
  if (!answer.ok) {
    log_line("release.answer", {{"tenant", tenant}, {"error", answer.error}});
    warn_unsaved(p_.log.answered(tenant, answer.error));
  }
  p_.events.publish("released", [&](JsonText& json) {
    json.key("tenant").text(tenant).key("ok").truth(answer.ok).key("status").number(answer.status);
    json.key("error").text_or_null(answer.error);
  });
  p_.turn.feed(Released{tenant, answer.ok, answer.status, answer.error});
  p_.keeper.save();  // a daemon that takes over must not say that no answer came
  p_.looks.soon();
}

bool Executor::watched(const std::string& tenant) const {
  const auto all = p_.turn.engine().tenants();
  return std::any_of(all.begin(), all.end(), [&](const TenantStatus& s) { return s.id == tenant && s.watching; });
}

std::optional<Seconds> Executor::youngest_watch(Seconds now) const {
  // The core is not asked about servers that nobody has asked anything for long.
  if (!last_ask_ || now - *last_ask_ > 2 * p_.policy.release_deadline + 60) return std::nullopt;
  std::optional<Seconds> youngest;
  for (const TenantStatus& status : p_.turn.engine().tenants()) {
    if (!status.watching || !status.asked_at) continue;
    const Seconds age = now - *status.asked_at;
    if (!youngest || age < *youngest) youngest = age;
  }
  return youngest;
}

// Host memory that is still there after the release's window: is it the C allocator that keeps it?
void Executor::want_arena_later(const std::string& tenant) {
  p_.loop.after(std::chrono::milliseconds(static_cast<std::int64_t>(p_.policy.release_window * 1000)), [this, tenant] {
    if (!watched(tenant)) return;
    const auto pid = p_.tenants.find(tenant)->process.pid;
    for (const Process& process : p_.looks.processes()) {
      if (pid && process.pid == *pid && process.rss_anon && *process.rss_anon < kArenaLimit) p_.tenants.want_arena(tenant);
    }
  });
}

void Executor::act(const Restart& restart, Seconds t, const Event&) {
  log_line("restart", {{"tenant", restart.tenant}, {"for", restart.job ? std::to_string(*restart.job) : "none"}});
  if (auto saved = p_.log.restarted(restart, t); !saved) {
    log_line("store.failed", {{"what", saved.error().what}});
    p_.turn.feed(Restarted{restart.tenant, false});
    return;
  }
  p_.keeper.save();
  if (p_.tenants.find(restart.tenant) == nullptr) return p_.turn.feed(Restarted{restart.tenant, false});
  p_.restarter.restart(restart.tenant, [this, tenant = restart.tenant](const Result<void>& result) {
    if (!result) {
      log_line("restart.failed", {{"tenant", tenant}, {"why", result.error().what}});
      warn_unsaved(p_.log.answered(tenant, result.error().what));
    }
    if (result) log_line("restarted", {{"tenant", tenant}});
    p_.events.publish("restarted", [&](JsonText& json) {
      json.key("tenant").text(tenant).key("ok").truth(result.has_value());
      json.key("error").text_or_null(result ? "" : result.error().what);
    });
    p_.turn.feed(Restarted{tenant, result.has_value()});
    p_.looks.soon();
  });
}

void Executor::act(const Verdict& verdict, Seconds, const Event&) {
  log_line("verdict", {{"tenant", verdict.tenant},
                       {"pool", verdict.pool},
                       {"verdict", name(verdict.verdict)},
                       {"before", bytes_text(verdict.before)},
                       {"after", bytes_text(verdict.after)}});
  warn_unsaved(p_.log.judged(verdict));
  if (!watched(verdict.tenant)) p_.tenants.drop_arena(verdict.tenant);
  p_.keeper.save();
}

}  // namespace jipsa
