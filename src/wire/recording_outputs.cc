// Outputs and expectations: what was decided, and what must have been.
#include <algorithm>
#include <array>
#include <cmath>

#include "wire/recording_parse.h"

namespace jipsa {

namespace {

constexpr std::array<std::string_view, 5> output_types{"admit", "wait", "release", "restart", "verdict"};

bool read_job(JsonCursor& in, JobId& out) { return in.read_int(out, 1, JsonCursor::int_max); }

template <class E>
bool read_name(JsonCursor& in, E& out, E last, const char* what) {
  std::string text;
  in.read(text);
  if (!in.ok()) return true;
  if (const auto found = find_name(text, last)) {
    out = *found;
  } else {
    in.fail(std::string("unknown ") + what + " \"" + text + "\"; docs/recordings.md lists them");
  }
  return true;
}

bool read_owner(JsonCursor& in, std::string& out) {
  in.read(out);
  if (in.ok() && !parse_owner(out)) {
    in.fail("\"" + out + "\" is no owner; job:ID, tenant:ID, process:NAME, baseline, driver or unexplained");
  }
  return true;
}

bool read_optional_owner(JsonCursor& in, std::optional<Owner>& out) {
  if (in.null()) return true;
  std::string text;
  read_owner(in, text);
  out = parse_owner(text);
  return true;
}

void read_admit(JsonCursor& in, Seconds& t, Admit& out) {
  in.object({"t", "job"}, [&](std::string_view key) {
    if (key == "t") return in.read(t);
    if (key == "job") return read_job(in, out.job);
    if (key == "pool") return in.read_or_empty(out.pool);
    return false;
  });
}

void read_wait(JsonCursor& in, Seconds& t, Wait& out) {
  in.object({"t", "job", "code"}, [&](std::string_view key) {
    if (key == "t") return in.read(t);
    if (key == "job") return read_job(in, out.job);
    if (key == "code") return read_name(in, out.reason.code, WaitCode::stale, "code");
    if (key == "pool") return in.read_or_empty(out.reason.pool);
    if (key == "short") return in.read(out.reason.short_by);
    if (key == "owner") return read_optional_owner(in, out.reason.owner);
    return false;
  });
}

void read_release(JsonCursor& in, Seconds& t, Release& out) {
  in.object({"t", "tenant"}, [&](std::string_view key) {
    if (key == "t") return in.read(t);
    if (key == "tenant") return in.read(out.tenant);
    if (key == "for") return in.read_int(out.job, 1, JsonCursor::int_max);
    if (key == "pool") return in.read_or_empty(out.pool);
    if (key == "held") return in.read(out.held);
    return false;
  });
}

void read_restart(JsonCursor& in, Seconds& t, Restart& out) {
  in.object({"t", "tenant"}, [&](std::string_view key) {
    if (key == "t") return in.read(t);
    if (key == "tenant") return in.read(out.tenant);
    if (key == "for") return in.read_int(out.job, 1, JsonCursor::int_max);
    return false;
  });
}

void read_verdict(JsonCursor& in, Seconds& t, Verdict& out) {
  in.object({"t", "tenant", "verdict"}, [&](std::string_view key) {
    if (key == "t") return in.read(t);
    if (key == "tenant") return in.read(out.tenant);
    if (key == "pool") return in.read_or_empty(out.pool);
    if (key == "verdict") return read_name(in, out.verdict, VerdictKind::regrown, "verdict");
    if (key == "before") return in.read(out.before);
    if (key == "after") return in.read(out.after);
    if (key == "settled_s") return in.read(out.settled_s);
    return false;
  });
}

bool read_key_value(JsonCursor& in, KeyValue& out) {
  const char c = in.peek();
  if (c == '"') return in.read(out.emplace<std::string>());
  if (c == 't' || c == 'f') return in.read(out.emplace<bool>());
  if (in.null()) return out = std::monostate{}, true;
  double value = 0;
  in.read(value);
  // Whole numbers are compared as integers: 3 equals 3.0.
  constexpr double exact = 9007199254740992.0;
  if (value == std::trunc(value) && std::abs(value) <= exact) {
    out = static_cast<std::int64_t>(value);
  } else {
    out = value;
  }
  return true;
}

bool read_match(JsonCursor& in, Expectation& out, Expectation::Kind kind, int& kinds) {
  ++kinds;
  out.kind = kind;
  in.object({}, [&](std::string_view key) {
    out.match.emplace_back(std::string(key), KeyValue{});
    return read_key_value(in, out.match.back().second);
  });
  for (const auto& [key, value] : out.match) {
    const auto* type = std::get_if<std::string>(&value);
    if (key == "type" && !(type != nullptr && is_output_type(*type))) {
      in.fail("type must be one of admit, wait, release, restart, verdict; nothing else is ever put out");
    }
  }
  return true;
}

// Without these an expectation could not fail, or its meaning would be a guess.
void check_expectation(JsonCursor& in, const Expectation& e, int kinds) {
  using Kind = Expectation::Kind;
  if (!in.ok()) return;
  if (kinds != 1) return in.fail("an expectation has exactly one of the keys ledger, output, never, count");
  if (e.kind == Kind::ledger && !e.at) return in.fail("the key \"at\" is missing; say at what time the ledger is meant");
  if (e.kind == Kind::ledger && e.owner.empty()) return in.fail("the key \"owner\" is missing; say whose bytes are meant");
  if (e.kind == Kind::output && !e.by) return in.fail("the key \"by\" is missing; say by what time the output must have come");
  const bool bounded = e.min || e.max;
  if (e.kind == Kind::count && !bounded) return in.fail("neither \"min\" nor \"max\"; say how many outputs are meant");
  if (e.kind == Kind::ledger && !bounded && !e.how) return in.fail("none of \"min\", \"max\", \"how\"; say what is expected");
  if (e.min && e.max && *e.min > *e.max) return in.fail("\"min\" is above \"max\"");
  if (e.from && e.by && *e.from > *e.by) in.fail("\"from\" is after \"by\"");
}

// Verdict::settled_s and the like, as they are written.
KeyValue milliseconds(const std::optional<Seconds>& seconds) {
  if (!seconds) return std::monostate{};
  const double rounded = std::round(*seconds * 1000.0) / 1000.0;
  if (rounded == std::trunc(rounded) && std::abs(rounded) < 1e15) return static_cast<std::int64_t>(rounded);
  return rounded;
}

KeyValue time_value(Seconds t) {
  if (t == std::trunc(t) && std::abs(t) < 1e15) return static_cast<std::int64_t>(t);
  return t;
}

KeyValue text_value(const std::string& text) { return text.empty() ? KeyValue{} : KeyValue{text}; }
KeyValue bytes_value(const std::optional<Bytes>& bytes) { return bytes ? KeyValue{bytes->count()} : KeyValue{}; }
KeyValue job_value(const std::optional<JobId>& job) { return job ? KeyValue{*job} : KeyValue{}; }

struct KeysOf {
  Keys& out;
  void type(const char* name) const { put("type", std::string(name)); }
  void put(const char* key, KeyValue value) const { out.emplace_back(key, std::move(value)); }

  void operator()(const Admit& a) const {
    type("admit");
    put("job", a.job);
    put("pool", text_value(a.pool));
  }
  void operator()(const Wait& w) const {
    type("wait");
    put("job", w.job);
    put("code", std::string(name(w.reason.code)));
    put("pool", text_value(w.reason.pool));
    put("short", bytes_value(w.reason.short_by));
    put("owner", w.reason.owner ? KeyValue{to_string(*w.reason.owner)} : KeyValue{});
  }
  void operator()(const Release& r) const {
    type("release");
    put("tenant", r.tenant);
    put("for", job_value(r.job));
    put("pool", text_value(r.pool));
    put("held", bytes_value(r.held));
  }
  void operator()(const Restart& r) const {
    type("restart");
    put("tenant", r.tenant);
    put("for", job_value(r.job));
  }
  void operator()(const Verdict& v) const {
    type("verdict");
    put("tenant", v.tenant);
    put("pool", text_value(v.pool));
    put("verdict", std::string(name(v.verdict)));
    put("before", bytes_value(v.before));
    put("after", bytes_value(v.after));
    put("settled_s", milliseconds(v.settled_s));
  }
};

}  // namespace

bool is_output_type(std::string_view type) {
  return std::find(output_types.begin(), output_types.end(), type) != output_types.end();
}

std::optional<Owner> parse_owner(std::string_view text) {
  if (text == "baseline") return Owner{OwnerKind::baseline, {}};
  if (text == "driver") return Owner{OwnerKind::driver, {}};
  if (text == "unexplained") return Owner{OwnerKind::unexplained, {}};
  const auto named = [text](std::string_view prefix, OwnerKind kind) -> std::optional<Owner> {
    if (!text.starts_with(prefix) || text.size() == prefix.size()) return std::nullopt;
    return Owner{kind, std::string(text.substr(prefix.size()))};
  };
  if (auto job = named("job:", OwnerKind::job)) return job;
  if (auto tenant = named("tenant:", OwnerKind::tenant)) return tenant;
  return named("process:", OwnerKind::process);
}

Keys keys_of(const Output& output) {
  Keys out;
  out.reserve(8);
  out.emplace_back("t", time_value(output.t));
  std::visit(KeysOf{out}, output.decision);
  return out;
}

bool parse_output(std::string_view type, JsonCursor& in, Output& out) {
  if (type == "admit") {
    read_admit(in, out.t, out.decision.emplace<Admit>());
  } else if (type == "wait") {
    read_wait(in, out.t, out.decision.emplace<Wait>());
  } else if (type == "release") {
    read_release(in, out.t, out.decision.emplace<Release>());
  } else if (type == "restart") {
    read_restart(in, out.t, out.decision.emplace<Restart>());
  } else if (type == "verdict") {
    read_verdict(in, out.t, out.decision.emplace<Verdict>());
  } else {
    return false;
  }
  in.end();
  return true;
}

void parse_expectation(JsonCursor& in, Expectation& out) {
  using Kind = Expectation::Kind;
  int kinds = 0;
  in.object({}, [&](std::string_view key) {
    if (key == "at") return in.read(out.at);
    if (key == "from") return in.read(out.from);
    if (key == "by") return in.read(out.by);
    if (key == "min") return in.read_int(out.min, -JsonCursor::int_max, JsonCursor::int_max);
    if (key == "max") return in.read_int(out.max, -JsonCursor::int_max, JsonCursor::int_max);
    if (key == "ledger") return ++kinds, out.kind = Kind::ledger, in.read(out.pool);
    if (key == "owner") return read_owner(in, out.owner);
    if (key == "how") return in.null() || read_name(in, out.how.emplace(), How::shared, "evidence");
    if (key == "output") return read_match(in, out, Kind::output, kinds);
    if (key == "never") return read_match(in, out, Kind::never, kinds);
    if (key == "count") return read_match(in, out, Kind::count, kinds);
    return false;
  });
  in.end();
  check_expectation(in, out, kinds);
}

}  // namespace jipsa
