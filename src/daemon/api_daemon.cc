// The daemon itself: its state, its health, its events.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <limits>

#include "daemon/api.h"

namespace jipsa {
namespace {

constexpr std::chrono::seconds kKeepAlive{15};

class Checks {
 public:
  Checks() { json_.open_object().key("checks").open_array(); }

  // Begins a check and its `detail`; each key is written by the caller until the next check.
  JsonText& check(const std::string& id, const char* state) {
    close();
    open_ = true;
    return json_.open_object().key("id").text(id).key("state").text(state).key("detail").open_object();
  }
  std::string take() {
    close();
    return json_.close_array().close_object().take();
  }

 private:
  void close() {
    if (open_) json_.close_object().close_object();
    open_ = false;
  }
  JsonText json_;
  bool open_ = false;
};

void check_driver(Checks& checks, const DriverReading& reading) {
  const char* state = "broken";
  const char* name = "silent";
  switch (reading.state) {
    case DriverReading::State::ok:
      state = "ok", name = "ok";
      break;
    case DriverReading::State::none:
      state = "missing", name = "none";
      break;
    case DriverReading::State::failed:
      name = "failed";
      break;
    case DriverReading::State::silent:
      break;
  }
  checks.check("driver", state)
      .key("state")
      .text(name)
      .key("version")
      .text_or_null(reading.driver_version)
      .key("trouble")
      .text_or_null(reading.trouble);
}

void check_pool(Checks& checks, const Pool& pool, const std::string& trouble) {
  if (pool.kind == PoolKind::ram) {
    checks.check("host_memory", pool.available ? "ok" : "broken")
        .key("total")
        .bytes(pool.total)
        .key("available")
        .bytes(pool.available);
    return;
  }
  const char* listing = "none";
  if (pool.processes) {
    const bool amounts =
        std::all_of(pool.processes->begin(), pool.processes->end(), [](const DeviceProcess& p) { return p.bytes.has_value(); });
    listing = amounts ? "amounts" : "presence";
  }
  const bool broken = !trouble.empty() || !pool.used;
  const bool limited = std::string_view(listing) != "amounts";
  checks.check("gpu:" + pool.id, broken    ? "broken"
                                 : limited ? "limited"
                                           : "ok")
      .key("name")
      .text_or_null(pool.name)
      .key("uuid")
      .text_or_null(pool.uuid)
      .key("total")
      .bytes(pool.total)
      .key("used")
      .bytes(pool.used)
      .key("processes")
      .text(listing)
      .key("trouble")
      .text_or_null(trouble);
}

// Without a cgroup of its own a job is followed by its process tree alone.
void check_cgroup(Checks& checks) {
  std::ifstream file("/proc/self/cgroup");
  std::string line, path;
  while (std::getline(file, line)) {
    if (line.rfind("0::", 0) == 0) path = "/sys/fs/cgroup" + line.substr(3);
  }
  const bool writable = !path.empty() && access(path.c_str(), W_OK) == 0;
  checks.check("cgroup", writable ? "ok" : "limited").key("path").text_or_null(path).key("writable").truth(writable);
}

}  // namespace

Api::Answer Api::status() {
  const auto count = [&](JobState a, JobState b) { return static_cast<std::int64_t>(p_.table.count(a, b)); };
  const std::string trouble = p_.desk.trouble();
  JsonText json;
  json.open_object().key("version").text(info_.version).key("pid").number(getpid()).key("started_at").time(info_.started_ms);
  json.key("paused").truth(p_.turn.engine().paused()).key("state_dir").text(info_.state_dir);
  json.key("running")
      .number(count(JobState::starting, JobState::running))
      .key("waiting")
      .number(count(JobState::waiting, JobState::held));
  return json.key("trouble").text_or_null(trouble).close_object().take();
}

Api::Answer Api::doctor() {
  const std::int64_t now = p_.clock.steady_ns();
  const auto max_age = p_.looks.max_age();
  Checks checks;
  check_driver(checks, p_.pools.driver());
  for (const Pool& pool : p_.pools.at(now, max_age)) check_pool(checks, pool, p_.pools.trouble_of(pool.id, now, max_age));
  check_cgroup(checks);
  const bool others = read_stat(1).has_value();  // /proc mounted with hidepid shows this user's processes alone
  checks.check("processes", others ? "ok" : "limited").key("others_visible").truth(others);
  for (const auto& [id, watched] : p_.tenants.all()) {
    const bool up = watched.answer && watched.answer->reachable;
    const bool local = watched.port.has_value() || watched.config.pid.has_value();
    const std::string trouble = watched.answer ? watched.answer->trouble : "not_looked_at_yet";
    checks.check("tenant:" + id, !up                             ? "broken"
                                 : local && !watched.process.pid ? "limited"
                                                                 : "ok")
        .key("kind")
        .text(watched.config.kind)
        .key("url")
        .text(watched.config.url)
        .key("reachable")
        .truth(up)
        .key("pid")
        .number(watched.process.pid ? std::optional<std::int64_t>(*watched.process.pid) : std::nullopt)
        .key("process_trouble")
        .text_or_null(watched.process.trouble)
        .key("version")
        .text_or_null(up ? watched.answer->version : "")
        .key("trouble")
        .text_or_null(trouble);
  }
  checks.check("recording", p_.recorder.trouble().empty() ? "ok" : "broken")
      .key("file")
      .text(p_.recorder.file())
      .key("trouble")
      .text_or_null(p_.recorder.trouble());
  const std::string trouble = p_.desk.trouble();
  checks.check("store", trouble.empty() ? "ok" : "broken").key("dir").text(info_.state_dir).key("trouble").text_or_null(trouble);
  return checks.take();
}

std::optional<HttpReply> Api::events(const HttpAsk& ask, ExchangeId id) {
  const auto follow = query_number(ask, "follow", 0, 1);
  if (!follow) return error_reply(follow.error());
  if (*follow == 0) return HttpReply{200, p_.events.recent()};
  if (p_.events.full()) {
    return error_reply(
        {Code::conflict, fmt::format("{} clients follow the events already; end one of them", Events::most_followers)});
  }
  std::int64_t after = std::numeric_limits<std::int64_t>::max();
  if (!ask.last_event_id.empty()) {
    HttpAsk numbered;
    numbered.query["Last-Event-ID"] = ask.last_event_id;
    const auto last = query_number(numbered, "Last-Event-ID", 0, std::numeric_limits<std::int64_t>::max());
    if (!last) return error_reply(last.error());
    after = *last;
  }
  p_.events.follow(*server_, id, after);
  keep_streams_alive();
  return std::nullopt;
}

// A line now and then, so that a client can tell a quiet daemon from a dead one.
void Api::keep_streams_alive() {
  if (keep_alive_ != 0) return;
  keep_alive_ = p_.loop.after(kKeepAlive, [this] {
    keep_alive_ = 0;
    if (p_.events.ping()) keep_streams_alive();
  });
}

}  // namespace jipsa
