// Inputs and the header: what was seen and what happened.
#include <limits>

#include "wire/recording_parse.h"

namespace jipsa {

namespace {

constexpr std::int64_t pid_max = std::numeric_limits<Pid>::max();

bool read_pid(JsonCursor& in, Pid& out) {
  std::int64_t value = 0;
  in.read_int(value, 0, pid_max);
  out = static_cast<Pid>(value);
  return true;
}

bool read_job(JsonCursor& in, JobId& out) { return in.read_int(out, 1, JsonCursor::int_max); }

// A span of time: 0 or more.
bool read_span(JsonCursor& in, Seconds& out) {
  if (in.null()) return true;
  in.read(out);
  if (in.ok() && out < 0) in.fail("a span of time can not be negative");
  return true;
}

template <class T, class F>
bool read_list(JsonCursor& in, std::vector<T>& out, F&& one) {
  out.clear();
  in.array([&] { one(out.emplace_back()); });
  return true;
}

template <class T, class F>
bool read_list(JsonCursor& in, std::optional<std::vector<T>>& out, F&& one) {
  if (!in.null()) return read_list(in, out.emplace(), one);
  out.reset();
  return true;
}

bool read_pool_kind(JsonCursor& in, PoolKind& out) {
  std::string text;
  in.read(text);
  if (text == name(PoolKind::ram)) {
    out = PoolKind::ram;
  } else if (text == name(PoolKind::gpu)) {
    out = PoolKind::gpu;
  } else {
    in.fail("unknown kind \"" + text + "\"; \"gpu\" or \"ram\"");
  }
  return true;
}

void read_device_process(JsonCursor& in, DeviceProcess& out) {
  in.object({"pid"}, [&](std::string_view key) {
    if (key == "pid") return read_pid(in, out.pid);
    if (key == "bytes") return in.read(out.bytes);
    return false;
  });
}

void read_pool(JsonCursor& in, Pool& out) {
  in.object({"id", "kind"}, [&](std::string_view key) {
    if (key == "id") return in.read(out.id);
    if (key == "kind") return read_pool_kind(in, out.kind);
    if (key == "total") return in.read(out.total);
    if (key == "used") return in.read(out.used);
    if (key == "available") return in.read(out.available);
    if (key == "free") return in.read(out.free);
    if (key == "reserved") return in.read(out.reserved);
    if (key == "processes") return read_list(in, out.processes, [&](DeviceProcess& p) { read_device_process(in, p); });
    if (key == "name") return in.read_or_empty(out.name);
    if (key == "uuid") return in.read_or_empty(out.uuid);
    return false;
  });
}

void read_process(JsonCursor& in, Process& out) {
  in.object({"pid"}, [&](std::string_view key) {
    if (key == "pid") return read_pid(in, out.pid);
    if (key == "start") return in.null() || in.read_int(out.start, 0, JsonCursor::int_max);
    if (key == "name") return in.read_or_empty(out.name);
    if (key == "rss_anon") return in.read(out.rss_anon);
    if (key == "rss_file") return in.read(out.rss_file);
    if (key == "rss_shmem") return in.read(out.rss_shmem);
    if (key == "swap") return in.read(out.swap);
    if (key == "cpu") return in.read(out.cpu);
    if (key == "anon_arena") return in.read(out.anon_arena);
    if (key == "owner") return in.read_or_empty(out.owner);
    return false;
  });
}

void read_model(JsonCursor& in, LoadedModel& out) {
  in.object({"name"}, [&](std::string_view key) {
    if (key == "name") return in.read(out.name);
    if (key == "bytes") return in.read(out.bytes);
    return false;
  });
}

void read_report(JsonCursor& in, Report& out) {
  in.object({"pool"}, [&](std::string_view key) {
    if (key == "pool") return in.read(out.pool);
    if (key == "total") return in.read(out.total);
    if (key == "free") return in.read(out.free);
    if (key == "own") return in.read(out.own);
    if (key == "models") return read_list(in, out.models, [&](LoadedModel& m) { read_model(in, m); });
    return false;
  });
}

void read_tenant(JsonCursor& in, TenantLook& out) {
  in.object({"id", "kind", "reachable"}, [&](std::string_view key) {
    if (key == "id") return in.read(out.id);
    if (key == "kind") return in.read(out.kind);
    if (key == "pid") return in.null() || read_pid(in, out.pid.emplace());
    if (key == "reachable") return in.read(out.reachable);
    if (key == "running") return in.read_int(out.running, 0, JsonCursor::int_max);
    if (key == "pending") return in.read_int(out.pending, 0, JsonCursor::int_max);
    if (key == "last_used") return in.read(out.last_used);
    if (key == "report") return in.null() || (read_report(in, out.report.emplace()), true);
    return false;
  });
}

bool read_needs(JsonCursor& in, std::vector<Need>& out) {
  if (in.null()) return true;
  in.object({}, [&](std::string_view key) {
    for (const Need& other : out) {
      if (other.pool == key) return in.fail("a need of this pool is given twice; at most one a pool"), true;
    }
    out.push_back({std::string(key), Bytes{}});
    return in.read(out.back().bytes);
  });
  return true;
}

void read_job_description(JsonCursor& in, Job& out) {
  in.object({"id"}, [&](std::string_view key) {
    if (key == "id") return read_job(in, out.id);
    if (key == "name") return in.read_or_empty(out.name);
    if (key == "needs") return read_needs(in, out.needs);
    if (key == "priority") return in.null() || in.read_int(out.priority, -JsonCursor::int_max, JsonCursor::int_max);
    if (key == "tenant") return in.read_or_empty(out.tenant);
    if (key == "bundle") return in.read_or_empty(out.bundle);
    if (key == "after") return in.null() || read_list(in, out.after, [&](JobId& id) { read_job(in, id); });
    return false;
  });
}

void read_observation(JsonCursor& in, Seconds& t, Observation& out) {
  in.object({"t"}, [&](std::string_view key) {
    if (key == "t") return in.read(t);
    if (key == "pools") return read_list(in, out.pools, [&](Pool& p) { read_pool(in, p); });
    if (key == "processes") return read_list(in, out.processes, [&](Process& p) { read_process(in, p); });
    if (key == "tenants") return read_list(in, out.tenants, [&](TenantLook& look) { read_tenant(in, look); });
    return false;
  });
}

void read_released(JsonCursor& in, Seconds& t, Released& out) {
  in.object({"t", "tenant", "ok"}, [&](std::string_view key) {
    if (key == "t") return in.read(t);
    if (key == "tenant") return in.read(out.tenant);
    if (key == "ok") return in.read(out.ok);
    if (key == "status") return in.read_int(out.status, -JsonCursor::int_max, JsonCursor::int_max);
    if (key == "error") return in.read_or_empty(out.error);
    return false;
  });
}

// The events that have at most one more key than `t` that must be there.
template <class F>
void read_event(JsonCursor& in, Seconds& t, std::string_view required, F&& on_key) {
  in.object({"t", required}, [&](std::string_view key) { return key == "t" ? in.read(t) : on_key(key); });
}

template <class T>
void read_job_event(JsonCursor& in, Input& out) {
  auto& event = out.event.emplace<T>();
  read_event(in, out.t, "job", [&](std::string_view key) { return key == "job" && read_job(in, event.job); });
}

void read_started(JsonCursor& in, Input& out) {
  auto& event = out.event.emplace<Started>();
  in.object({"t", "job", "pids"}, [&](std::string_view key) {
    if (key == "t") return in.read(out.t);
    if (key == "job") return read_job(in, event.job);
    if (key == "pids") return read_list(in, event.pids, [&](Pid& pid) { read_pid(in, pid); });
    return false;
  });
}

void read_exit(JsonCursor& in, Input& out) {
  auto& event = out.event.emplace<Exit>();
  read_event(in, out.t, "job", [&](std::string_view key) {
    if (key == "job") return read_job(in, event.job);
    if (key == "code") return in.read_int(event.code, -JsonCursor::int_max, JsonCursor::int_max);
    return false;
  });
}

void read_submit(JsonCursor& in, Input& out) {
  auto& event = out.event.emplace<Submit>();
  read_event(in, out.t, "job", [&](std::string_view key) { return key == "job" && (read_job_description(in, event.job), true); });
}

void read_restarted(JsonCursor& in, Input& out) {
  auto& event = out.event.emplace<Restarted>();
  in.object({"t", "tenant", "ok"}, [&](std::string_view key) {
    if (key == "t") return in.read(out.t);
    if (key == "tenant") return in.read(event.tenant);
    if (key == "ok") return in.read(event.ok);
    return false;
  });
}

// ---- the header ----

bool read_restart_leave(JsonCursor& in, RestartLeave& out) {
  if (in.null()) return true;
  std::string text;
  in.read(text);
  if (text == "never") return out = RestartLeave::never, true;
  if (text == "ask") return out = RestartLeave::ask, true;
  if (text == "auto") return out = RestartLeave::automatic, true;
  in.fail("unknown value \"" + text + "\"; \"never\", \"ask\" or \"auto\"");
  return true;
}

bool read_bytes_map(JsonCursor& in, std::map<std::string, Bytes>& out) {
  if (in.null()) return true;
  in.object({}, [&](std::string_view key) {
    const std::string pool(key);
    return in.null() || in.read(out[pool]);
  });
  return true;
}

void read_tenant_policy(JsonCursor& in, TenantPolicy& out) {
  in.object({}, [&](std::string_view key) {
    if (key == "slots") return in.null() || in.read_int(out.slots, 1, JsonCursor::int_max);
    if (key == "restart") return read_restart_leave(in, out.restart);
    if (key == "keep") return in.null() || in.read(out.keep);
    if (key == "floor") return read_bytes_map(in, out.floor);
    return false;
  });
}

bool read_pool_settings(JsonCursor& in, Policy& out) {
  if (in.null()) return true;
  in.object({}, [&](std::string_view key) {
    const std::string pool(key);
    if (in.null()) return true;
    in.object({}, [&](std::string_view setting) { return setting == "baseline" && (in.null() || in.read(out.baseline[pool])); });
    return true;
  });
  return true;
}

bool read_tenant_settings(JsonCursor& in, Policy& out) {
  if (in.null()) return true;
  in.object({}, [&](std::string_view key) {
    const std::string id(key);
    if (!in.null()) read_tenant_policy(in, out.tenants[id]);
    return true;
  });
  return true;
}

bool read_policy(JsonCursor& in, Policy& out) {
  if (in.null()) return true;
  in.object({}, [&](std::string_view key) {
    if (key == "headroom") return in.null() || in.read(out.headroom);
    if (key == "ram_headroom") return in.null() || in.read(out.ram_headroom);
    if (key == "pools") return read_pool_settings(in, out);
    if (key == "tenants") return read_tenant_settings(in, out);
    if (key == "release_window") return read_span(in, out.release_window);
    if (key == "release_deadline") return read_span(in, out.release_deadline);
    if (key == "ask_deadline") return read_span(in, out.ask_deadline);
    if (key == "release_cooldown") return read_span(in, out.release_cooldown);
    if (key == "stuck_after") return read_span(in, out.stuck_after);
    if (key == "idle_grace") return read_span(in, out.idle_grace);
    return false;
  });
  return true;
}

bool read_version(JsonCursor& in) {
  std::int64_t version = 0;
  in.read_int(version, 0, JsonCursor::int_max);
  if (in.ok() && version != 1) {
    in.fail("this is format " + std::to_string(version) + ", and this jipsa reads format 1; use the jipsa that wrote it");
  }
  return true;
}

}  // namespace

void parse_header(JsonCursor& in, RecordingHeader& out) {
  in.object({"type", "version"}, [&](std::string_view key) {
    if (key == "version") return read_version(in);
    if (key == "started") return in.read_or_empty(out.started);
    if (key == "host") return in.read_or_empty(out.host);
    if (key == "config") return read_policy(in, out.policy);
    return false;
  });
  in.end();
}

bool parse_input(std::string_view type, JsonCursor& in, Input& out) {
  const auto nothing_more = [](std::string_view) { return false; };
  if (type == "observe") {
    read_observation(in, out.t, out.event.emplace<Observation>());
  } else if (type == "submit") {
    read_submit(in, out);
  } else if (type == "started") {
    read_started(in, out);
  } else if (type == "exit") {
    read_exit(in, out);
  } else if (type == "cancel") {
    read_job_event<Cancel>(in, out);
  } else if (type == "released") {
    read_released(in, out.t, out.event.emplace<Released>());
  } else if (type == "restarted") {
    read_restarted(in, out);
  } else if (type == "pause") {
    out.event = Pause{};
    read_event(in, out.t, "t", nothing_more);
  } else if (type == "resume") {
    out.event = Resume{};
    read_event(in, out.t, "t", nothing_more);
  } else if (type == "hold") {
    read_job_event<Hold>(in, out);
  } else if (type == "unhold") {
    read_job_event<Unhold>(in, out);
  } else if (type == "ask") {
    auto& event = out.event.emplace<Ask>();
    read_event(in, out.t, "tenant", [&](std::string_view key) { return key == "tenant" && in.read(event.tenant); });
  } else {
    return false;
  }
  in.end();
  return true;
}

}  // namespace jipsa
