#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>

#include "wire/recording.h"
#include "wire/recording_json.h"

namespace jipsa {

namespace {

// Process names may hold any bytes; what is not UTF-8 becomes U+FFFD, so that the line can be read.
void put_string(std::string_view text, std::string& out) {
  constexpr const char* hex = "0123456789abcdef";
  out += '"';
  while (!text.empty()) {
    const char c = text.front();
    const std::size_t length = utf8_sequence(text);
    const std::string_view sequence = text.substr(0, length);
    text.remove_prefix(std::max<std::size_t>(length, 1));
    if (length == 0) {
      out += "\xEF\xBF\xBD";
    } else if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += "\\u00";
      out += hex[static_cast<unsigned char>(c) >> 4U];
      out += hex[static_cast<unsigned char>(c) & 0xFU];
    } else {
      out += sequence;
    }
  }
  out += '"';
}

void put_integer(std::int64_t value, std::string& out) {
  char text[24];
  out.append(text, std::to_chars(text, text + sizeof text, value).ptr);
}

// The shortest digits that read back as the same double. JSON has no word for infinity: null, as for all that is not known.
void put_double(double value, std::string& out) {
  if (!std::isfinite(value)) {
    out += "null";
    return;
  }
  char text[400];
  out.append(text, std::to_chars(text, text + sizeof text, value, std::chars_format::fixed).ptr);
}

// One object: keys go in front of values, commas between them. Optional values that are empty are left out.
class Object {
 public:
  explicit Object(std::string& out) : out_(out) { out_ += '{'; }
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;
  ~Object() { out_ += '}'; }

  std::string& key(std::string_view name) {
    if (!first_) out_ += ',';
    first_ = false;
    put_string(name, out_);
    out_ += ':';
    return out_;
  }
  void put(std::string_view name, std::string_view value) { put_string(value, key(name)); }
  void put_if(std::string_view name, std::string_view value) {
    if (!value.empty()) put(name, value);
  }
  void put(std::string_view name, Bytes value) { put_integer(value.count(), key(name)); }
  void integer(std::string_view name, std::int64_t value) { put_integer(value, key(name)); }
  void number(std::string_view name, double value) { put_double(value, key(name)); }
  void boolean(std::string_view name, bool value) { key(name) += value ? "true" : "false"; }
  void put(std::string_view name, const std::optional<Bytes>& value) {
    if (value) put(name, *value);
  }
  void integer(std::string_view name, const std::optional<std::int64_t>& value) {
    if (value) integer(name, *value);
  }
  void number(std::string_view name, const std::optional<double>& value) {
    if (value) number(name, *value);
  }
  template <class T, class F>
  void list(std::string_view name, const std::vector<T>& values, F&& one) {
    key(name) += '[';
    bool first = true;
    for (const T& value : values) {
      if (!first) out_ += ',';
      first = false;
      one(value, out_);
    }
    out_ += ']';
  }

 private:
  std::string& out_;
  bool first_ = true;
};

void put_pool(const Pool& pool, std::string& out) {
  Object o(out);
  o.put("id", pool.id);
  o.put("kind", name(pool.kind));
  o.put("total", pool.total);
  o.put("used", pool.used);
  o.put("available", pool.available);
  o.put("free", pool.free);
  o.put("reserved", pool.reserved);
  o.put_if("name", pool.name);
  o.put_if("uuid", pool.uuid);
  if (!pool.processes) return;
  o.list("processes", *pool.processes, [](const DeviceProcess& p, std::string& list) {
    Object row(list);
    row.integer("pid", p.pid);
    row.put("bytes", p.bytes);
  });
}

void put_process(const Process& p, std::string& out) {
  Object o(out);
  o.integer("pid", p.pid);
  o.integer("start", p.start);
  o.put_if("name", p.name);
  o.put("rss_anon", p.rss_anon);
  o.put("rss_file", p.rss_file);
  o.put("rss_shmem", p.rss_shmem);
  o.put("swap", p.swap);
  o.number("cpu", p.cpu);
  o.put("anon_arena", p.anon_arena);
  o.put_if("owner", p.owner);
}

void put_report(const Report& report, std::string& out) {
  Object o(out);
  o.put("pool", report.pool);
  o.put("total", report.total);
  o.put("free", report.free);
  o.put("own", report.own);
  if (!report.models) return;
  o.list("models", *report.models, [](const LoadedModel& m, std::string& list) {
    Object row(list);
    row.put("name", m.name);
    row.put("bytes", m.bytes);
  });
}

void put_tenant(const TenantLook& look, std::string& out) {
  Object o(out);
  o.put("id", look.id);
  o.put("kind", look.kind);
  if (look.pid) o.integer("pid", *look.pid);
  o.boolean("reachable", look.reachable);
  o.integer("running", look.running);
  o.integer("pending", look.pending);
  o.number("last_used", look.last_used);
  if (look.report) put_report(*look.report, o.key("report"));
}

void put_job(const Job& job, std::string& out) {
  Object o(out);
  o.integer("id", job.id);
  o.put("name", job.name);
  {
    Object needs(o.key("needs"));
    for (const Need& need : job.needs) needs.put(need.pool, need.bytes);
  }
  if (job.priority != 0) o.integer("priority", job.priority);
  o.put_if("tenant", job.tenant);
  o.put_if("bundle", job.bundle);
  if (!job.after.empty()) o.list("after", job.after, [](JobId id, std::string& list) { put_integer(id, list); });
}

struct PutEvent {
  Object& o;
  void type(std::string_view name) const { o.put("type", name); }
  void job(std::string_view name, JobId id) const {
    type(name);
    o.integer("job", id);
  }
  void operator()(const Observation&) const {}  // RecordingWriter::input
  void operator()(const Submit& e) const {
    type("submit");
    put_job(e.job, o.key("job"));
  }
  void operator()(const Started& e) const {
    job("started", e.job);
    o.list("pids", e.pids, [](Pid pid, std::string& list) { put_integer(pid, list); });
  }
  void operator()(const Exit& e) const {
    job("exit", e.job);
    if (e.code) o.integer("code", *e.code);
    if (!e.code) o.key("code") += "null";
  }
  void operator()(const Cancel& e) const { job("cancel", e.job); }
  void operator()(const Released& e) const {
    type("released");
    o.put("tenant", e.tenant);
    o.boolean("ok", e.ok);
    if (e.status) o.integer("status", *e.status);
    if (!e.status) o.key("status") += "null";
    o.put_if("error", e.error);
  }
  void operator()(const Restarted& e) const {
    type("restarted");
    o.put("tenant", e.tenant);
    o.boolean("ok", e.ok);
  }
  void operator()(const Pause&) const { type("pause"); }
  void operator()(const Resume&) const { type("resume"); }
  void operator()(const Hold& e) const { job("hold", e.job); }
  void operator()(const Unhold& e) const { job("unhold", e.job); }
  void operator()(const Ask& e) const {
    type("ask");
    o.put("tenant", e.tenant);
  }
};

struct PutKeyValue {
  std::string& out;
  void operator()(std::monostate) const { out += "null"; }
  void operator()(bool value) const { out += value ? "true" : "false"; }
  void operator()(std::int64_t value) const { put_integer(value, out); }
  void operator()(double value) const { put_double(value, out); }
  void operator()(const std::string& value) const { put_string(value, out); }
};

const char* restart_name(RestartLeave leave) {
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

void put_tenant_policy(const TenantPolicy& tenant, std::string& out) {
  Object o(out);
  o.integer("slots", tenant.slots);
  o.put("restart", restart_name(tenant.restart));
  o.boolean("keep", tenant.keep);
  Object floor(o.key("floor"));
  for (const auto& [pool, bytes] : tenant.floor) floor.put(pool, bytes);
}

// Every setting, defaults too: a replay must not change when a later version has other defaults.
void put_policy(const Policy& p, std::string& out) {
  Object o(out);
  o.put("headroom", p.headroom);
  o.put("ram_headroom", p.ram_headroom);
  o.number("release_window", p.release_window);
  o.number("release_deadline", p.release_deadline);
  o.number("ask_deadline", p.ask_deadline);
  o.number("release_cooldown", p.release_cooldown);
  o.number("stuck_after", p.stuck_after);
  o.number("idle_grace", p.idle_grace);
  {
    Object pools(o.key("pools"));
    for (const auto& [pool, bytes] : p.baseline) Object(pools.key(pool)).put("baseline", bytes);
  }
  Object tenants(o.key("tenants"));
  for (const auto& [id, tenant] : p.tenants) put_tenant_policy(tenant, tenants.key(id));
}

// Whether a section must be written; what was written last is kept to compare the next one with.
template <class T>
bool differs(const std::optional<std::vector<T>>& section, std::optional<std::vector<T>>& last) {
  if (!section || section == last) return false;
  last = section;
  return true;
}

}  // namespace

void RecordingWriter::header(const RecordingHeader& header, std::string& out) {
  last_ = {};
  {
    Object o(out);
    o.put("type", "recording");
    o.integer("version", 1);
    o.put_if("started", header.started);
    o.put_if("host", header.host);
    put_policy(header.policy, o.key("config"));
  }
  out += '\n';
}

void RecordingWriter::state(Seconds t, std::string_view json, std::string& out) {
  {
    Object o(out);
    o.number("t", t);
    o.put("type", "state");
    o.key("state") += json;
  }
  out += '\n';
}

void RecordingWriter::input(const Input& input, std::string& out) {
  {
    Object o(out);
    o.number("t", input.t);
    if (const auto* look = std::get_if<Observation>(&input.event)) {
      o.put("type", "observe");
      if (differs(look->pools, last_.pools)) o.list("pools", *look->pools, put_pool);
      if (differs(look->processes, last_.processes)) o.list("processes", *look->processes, put_process);
      if (differs(look->tenants, last_.tenants)) o.list("tenants", *look->tenants, put_tenant);
    } else {
      std::visit(PutEvent{o}, input.event);
    }
  }
  out += '\n';
}

void RecordingWriter::keys(const Keys& keys, std::string& out) {
  Object o(out);
  for (const auto& [key, value] : keys) std::visit(PutKeyValue{o.key(key)}, value);
}

void RecordingWriter::output(const Output& output, std::string& out) {
  keys(keys_of(output), out);
  out += '\n';
}

void RecordingWriter::ledger(Seconds t, const Books& books, std::string& out) {
  {
    Object o(out);
    o.number("t", t);
    o.put("type", "ledger");
    o.put("pool", books.pool);
    if (books.used) o.put("used", *books.used);
    if (!books.used) o.key("used") += "null";
    o.list("claims", books.claims, [](const Claim& claim, std::string& list) {
      Object row(list);
      row.put("owner", to_string(claim.owner));
      row.put("bytes", claim.bytes);
      row.put("lo", claim.lo);
      row.put("hi", claim.hi);
      row.put("how", name(claim.how));
    });
  }
  out += '\n';
}

}  // namespace jipsa
