#include "wire/state.h"

#include <array>
#include <nlohmann/json.hpp>
#include <utility>

namespace jipsa {
namespace {

using Json = nlohmann::json;

// ---- one visitor a struct names its keys once, for both directions ----

struct Writer {
  Json& j;
  template <class T>
  void operator()(const char* key, const T& value) const;
};

struct Reader {
  const Json& j;
  template <class T>
  void operator()(const char* key, T& value) const;
};

template <class V, class T>
void visit(V& v, T& o)
  requires std::is_same_v<std::remove_const_t<T>, Trace>
{
  v("owner", o.owner);
  v("bytes", o.bytes);
}
template <class V, class T>
void visit(V& v, T& o)
  requires std::is_same_v<std::remove_const_t<T>, Owner>
{
  v("kind", o.kind);
  v("name", o.name);
}
template <class V, class T>
void visit(V& v, T& o)
  requires std::is_same_v<std::remove_const_t<T>, PoolMemory>
{
  v("id", o.id);
  v("kind", o.kind);
  v("least_unowned", o.least_unowned);
  v("traces", o.traces);
  v("untraced", o.untraced);
}
template <class V, class T>
void visit(V& v, T& o)
  requires std::is_same_v<std::remove_const_t<T>, CpuSample>
{
  v("t", o.t);
  v("cpu", o.cpu);
}
template <class V, class T>
void visit(V& v, T& o)
  requires std::is_same_v<std::remove_const_t<T>, WatchedPool>
{
  v("pool", o.pool);
  v("before", o.before);
  v("asked", o.asked);
  v("lowest", o.lowest);
  v("last_fall", o.last_fall);
  v("met_at", o.met_at);
  v("judged", o.judged);
}
template <class V, class T>
void visit(V& v, T& o)
  requires std::is_same_v<std::remove_const_t<T>, Watch>
{
  v("job", o.job);
  v("by_hand", o.by_hand);
  v("asked_at", o.asked_at);
  v("answered", o.answered);
  v("acted", o.acted);
  v("cpu_known", o.cpu_known);
  v("idle_rate", o.idle_rate);
  v("cpu", o.cpu);
  v("pid", o.pid);
  v("start", o.start);
  v("pools", o.pools);
  v("ram_before", o.ram_before);
}
template <class V, class T>
void visit(V& v, T& o)
  requires std::is_same_v<std::remove_const_t<T>, Aftermath>
{
  v("pool", o.pool);
  v("before", o.before);
  v("level", o.level);
  v("asked_at", o.asked_at);
  v("until", o.until);
  v("asked", o.asked);
  v("unanswered", o.unanswered);
  v("ram_before", o.ram_before);
  v("moved_check_at", o.moved_check_at);
  v("last_fall", o.last_fall);
}
template <class V, class T>
void visit(V& v, T& o)
  requires std::is_same_v<std::remove_const_t<T>, Failure>
{
  v("asked_at", o.asked_at);
  v("at", o.at);
  v("verdict", o.verdict);
}
template <class V, class T>
void visit(V& v, T& o)
  requires std::is_same_v<std::remove_const_t<T>, TenantMemory>
{
  v("id", o.id);
  v("kind", o.kind);
  v("pid", o.pid);
  v("start", o.start);
  v("last_busy", o.last_busy);
  v("idle_first", o.idle_first);
  v("last_used", o.last_used);
  v("bundle", o.bundle);
  v("bundle_base", o.bundle_base);
  v("left_by", o.left_by);
  v("floor", o.floor);
  v("learning", o.learning);
  v("pending_since", o.pending_since);
  v("pending_cpu", o.pending_cpu);
  v("last_cpu", o.last_cpu);
  v("idle_rate", o.idle_rate);
  v("blind", o.blind);
  v("restarting", o.restarting);
  v("release_due", o.release_due);
  v("due_since", o.due_since);
  v("watch", o.watch);
  v("aftermath", o.aftermath);
  v("failed", o.failed);
  v("restart_failed", o.restart_failed);
}
template <class V, class T>
void visit(V& v, T& o)
  requires std::is_same_v<std::remove_const_t<T>, EngineState>
{
  v("t", o.t);
  v("paused", o.paused);
  v("pools", o.pools);
  v("tenants", o.tenants);
}

// ---- names of enumerations ----

const char* word(OwnerKind kind) {
  switch (kind) {
    case OwnerKind::job:
      return "job";
    case OwnerKind::tenant:
      return "tenant";
    case OwnerKind::process:
      return "process";
    case OwnerKind::baseline:
      return "baseline";
    case OwnerKind::driver:
      return "driver";
    case OwnerKind::unexplained:
      return "unexplained";
  }
  return "unexplained";
}
const char* word(VerdictKind kind) { return name(kind); }
const char* word(PoolKind kind) { return name(kind); }

template <class E, std::size_t N>
E find_name(const std::array<E, N>& all, const std::string& text, const char* what) {
  for (const E e : all) {
    if (text == word(e)) return e;
  }
  throw Json::other_error::create(501, std::string("unknown ") + what + " \"" + text + "\"", nullptr);
}

constexpr std::array kVerdicts{
    VerdictKind::released,    VerdictKind::late,      VerdictKind::partial, VerdictKind::kept,  VerdictKind::kept_by_allocator,
    VerdictKind::at_floor,    VerdictKind::not_acted, VerdictKind::moved,   VerdictKind::raced, VerdictKind::refused,
    VerdictKind::unreachable, VerdictKind::died,      VerdictKind::regrown};
constexpr std::array kPools{PoolKind::gpu, PoolKind::ram};

constexpr std::array kOwners{OwnerKind::job,      OwnerKind::tenant, OwnerKind::process,
                             OwnerKind::baseline, OwnerKind::driver, OwnerKind::unexplained};

// ---- values ----

Json put(const Bytes& b) { return b.count(); }
Json put(const std::string& s) { return s; }
Json put(bool b) { return b; }
Json put(double d) { return d; }
Json put(std::int64_t i) { return i; }
Json put(Pid p) { return p; }
Json put(VerdictKind v) { return name(v); }
Json put(PoolKind k) { return name(k); }
Json put(OwnerKind k) { return word(k); }
Json put(const std::map<std::string, Bytes>& m) {
  Json j = Json::object();
  for (const auto& [key, value] : m) j[key] = value.count();
  return j;
}
template <class T>
Json put(const T& o)
  requires requires(Writer& w) { visit(w, o); }
{
  Json j = Json::object();
  Writer w{j};
  visit(w, o);
  return j;
}
template <class T>
Json put(const std::vector<T>& list) {
  Json j = Json::array();
  for (const T& item : list) j.push_back(put(item));
  return j;
}

template <class T>
void Writer::operator()(const char* key, const T& value) const {
  if constexpr (requires { value.has_value(); }) {
    if (value) j[key] = put(*value);
  } else {
    j[key] = put(value);
  }
}

void get(const Json& j, Bytes& b) { b = Bytes{j.get<std::int64_t>()}; }
void get(const Json& j, std::string& s) { s = j.get<std::string>(); }
void get(const Json& j, bool& b) { b = j.get<bool>(); }
void get(const Json& j, double& d) { d = j.get<double>(); }
void get(const Json& j, std::int64_t& i) { i = j.get<std::int64_t>(); }
void get(const Json& j, Pid& p) { p = j.get<Pid>(); }
void get(const Json& j, VerdictKind& v) { v = find_name(kVerdicts, j.get<std::string>(), "verdict"); }
void get(const Json& j, PoolKind& k) { k = find_name(kPools, j.get<std::string>(), "kind of pool"); }
void get(const Json& j, OwnerKind& k) { k = find_name(kOwners, j.get<std::string>(), "kind of owner"); }
void get(const Json& j, std::map<std::string, Bytes>& m) {
  for (const auto& [key, value] : j.items()) m[key] = Bytes{value.get<std::int64_t>()};
}
template <class T>
void get(const Json& j, T& o)
  requires requires(Reader& r) { visit(r, o); }
{
  if (!j.is_object()) throw Json::type_error::create(302, "an object was expected", &j);
  Reader r{j};
  visit(r, o);
}
template <class T>
void get(const Json& j, std::vector<T>& list) {
  if (!j.is_array()) throw Json::type_error::create(302, "an array was expected", &j);
  for (const Json& item : j) get(item, list.emplace_back());
}

template <class T>
void Reader::operator()(const char* key, T& value) const {
  const auto it = j.find(key);
  if (it == j.end() || it->is_null()) return;
  try {
    if constexpr (requires {
                    value.emplace();
                    value.has_value();
                  }) {
      get(*it, value.emplace());
    } else {
      get(*it, value);
    }
  } catch (const Json::exception& e) { throw Json::other_error::create(502, std::string(key) + ": " + e.what(), nullptr); }
}

}  // namespace

std::string state_to_json(const EngineState& state) { return put(state).dump(-1, ' ', false, Json::error_handler_t::replace); }

Result<EngineState> parse_state(std::string_view json) {
  try {
    EngineState state;
    get(Json::parse(json), state);
    return state;
  } catch (const Json::exception& e) { return fail(Code::unreadable, std::string("engine state: ") + e.what()); }
}

}  // namespace jipsa
