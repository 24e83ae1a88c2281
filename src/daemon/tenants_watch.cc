#include "daemon/tenants_watch.h"

#include <algorithm>
#include <charconv>
#include <string_view>

namespace jipsa {
namespace {

constexpr std::chrono::seconds kFindAgain{5};

TenantConfig config_of(const TenantEntry& entry, const Policy& policy) {
  TenantConfig config;
  config.id = entry.id;
  config.kind = entry.kind;
  config.url = entry.url;
  config.restart_command = entry.restart_command;
  config.unit = entry.unit;
  config.restart_deadline = entry.restart_deadline;
  config.pid = entry.pid;
  if (const auto it = policy.tenants.find(entry.id); it != policy.tenants.end()) {
    config.restart = it->second.restart;
    config.keep = it->second.keep;
    config.slots = it->second.slots;
    config.floor = it->second.floor;
  }
  return config;
}

// The port of a URL whose host is this machine.
std::optional<std::uint16_t> local_port(std::string_view url) {
  const bool tls = url.substr(0, 8) == "https://";
  const auto scheme = url.find("://");
  if (scheme == std::string_view::npos) return std::nullopt;
  std::string_view host = url.substr(scheme + 3);
  host = host.substr(0, host.find('/'));
  std::string_view port;
  const auto bracket = host.rfind(']');
  const auto colon = host.rfind(':');
  if (colon != std::string_view::npos && (bracket == std::string_view::npos || colon > bracket)) {
    port = host.substr(colon + 1);
    host = host.substr(0, colon);
  }
  if (host != "localhost" && host != "[::1]" && host != "0.0.0.0" && host.substr(0, 4) != "127.") return std::nullopt;
  std::uint16_t number = tls ? 443 : 80;
  if (!port.empty()) {
    const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), number);
    if (error != std::errc{} || end != port.data() + port.size()) return std::nullopt;
  }
  return number;
}

}  // namespace

Result<std::unique_ptr<TenantsWatch>> TenantsWatch::make(const Config& config, HttpClient& http) {
  std::unique_ptr<TenantsWatch> watch(new TenantsWatch);
  for (const TenantEntry& entry : config.tenants) {
    Watched w;
    w.config = config_of(entry, config.policy);
    auto adapter = make_tenant(w.config, http);
    if (!adapter) return tl::unexpected(adapter.error());
    w.adapter = std::move(*adapter);
    w.port = local_port(entry.url);
    watch->watched_.emplace(entry.id, std::move(w));
  }
  return watch;
}

void TenantsWatch::look_at(const std::string& id, std::function<void(const TenantAnswer&)> done) {
  Watched& w = watched_.at(id);
  w.looking = true;
  w.adapter->look([this, id, done = std::move(done)](TenantAnswer answer) {
    Watched& now = watched_.at(id);
    now.looking = false;
    // A server that has just come up is another process than the one that was known.
    if (answer.reachable && (!now.answer || !now.answer->reachable)) now.find = true;
    now.answer = std::move(answer);
    done(*now.answer);
  });
}

void TenantsWatch::look(std::function<void()> done) {
  auto left = std::make_shared<int>(1);
  const auto one = [left, done = std::move(done)] {
    if (--*left == 0) done();
  };
  for (auto& [id, w] : watched_) {
    if (w.looking) continue;
    ++*left;
    look_at(id, [one](const TenantAnswer&) { one(); });
  }
  one();
}

std::vector<ScanAsk::Server> TenantsWatch::scan_asks() const {
  std::vector<ScanAsk::Server> asks;
  const auto now = std::chrono::steady_clock::now();
  for (const auto& [id, w] : watched_) {
    if (!w.process.pid && !w.find && now < w.next_find) continue;
    ScanAsk::Server ask;
    ask.id = id;
    ask.pid = w.config.pid;
    ask.port = w.port;
    ask.known = w.process.pid;
    ask.known_start = w.process.start;
    ask.find = w.find;
    ask.arena = w.arena_wanted && !w.arena;
    asks.push_back(std::move(ask));
  }
  return asks;
}

void TenantsWatch::take(const Scan& scan) {
  for (const auto& [id, seen] : scan.servers) {
    Watched& w = watched_.at(id);
    w.process = seen;
    w.find = false;
    if (!seen.pid) w.next_find = std::chrono::steady_clock::now() + kFindAgain;
  }
  for (const auto& [id, arena] : scan.arenas) watched_.at(id).arena = arena;
}

void TenantsWatch::want_arena(const std::string& id) {
  if (Watched* w = find(id)) w->arena_wanted = true;
}

void TenantsWatch::drop_arena(const std::string& id) {
  if (Watched* w = find(id)) {
    w->arena_wanted = false;
    w->arena.reset();
  }
}

void TenantsWatch::add_arenas(std::vector<Process>& processes) const {
  for (const auto& [id, w] : watched_) {
    if (!w.arena || !w.process.pid) continue;
    for (Process& p : processes) {
      if (p.pid != *w.process.pid || !p.rss_anon) continue;
      p.anon_arena = std::min(*w.arena, *p.rss_anon);
    }
  }
}

std::optional<std::vector<TenantLook>> TenantsWatch::looks(const Pools& pools, RecordClock& clock) const {
  std::vector<TenantLook> looks;
  for (const auto& [id, w] : watched_) {
    if (!w.answer) continue;
    TenantLook look;
    look.id = id;
    look.kind = w.config.kind;
    look.pid = w.process.pid;
    look.reachable = w.answer->reachable;
    look.running = w.answer->running;
    look.pending = w.answer->pending;
    if (w.answer->last_used_wall_ms) look.last_used = clock.from_wall_ms(*w.answer->last_used_wall_ms);
    look.report = pools.report_of(w.answer->devices, w.process.pid);
    looks.push_back(std::move(look));
  }
  if (looks.empty() && !watched_.empty()) return std::nullopt;
  return looks;
}

TenantsWatch::Watched* TenantsWatch::find(const std::string& id) {
  const auto it = watched_.find(id);
  return it == watched_.end() ? nullptr : &it->second;
}

}  // namespace jipsa
