#include "wire/recording_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace jipsa {

namespace {

std::optional<double> as_number(const KeyValue& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return static_cast<double>(*integer);
  if (const auto* real = std::get_if<double>(&value)) return *real;
  return std::nullopt;
}

bool equal(const KeyValue& a, const KeyValue& b) {
  if (a.index() == b.index()) return a == b;
  const auto left = as_number(a), right = as_number(b);
  return left && right && *left == *right;
}

KeyValue value_of(const Keys& keys, const std::string& key) {
  const auto found = std::find_if(keys.begin(), keys.end(), [&](const auto& entry) { return entry.first == key; });
  return found == keys.end() ? KeyValue{} : found->second;
}

bool matches(const Keys& wanted, const Keys& keys) {
  return std::all_of(wanted.begin(), wanted.end(),
                     [&](const auto& want) { return equal(want.second, value_of(keys, want.first)); });
}

std::string text(const Keys& keys) {
  std::string out;
  RecordingWriter::keys(keys, out);
  return out;
}

bool in_span(const Expectation& e, Seconds t) { return t >= e.from.value_or(0) && (!e.by || t <= *e.by); }

std::string span_text(const Expectation& e) {
  if (e.from && e.by) return fmt::format(" from {} to {}", *e.from, *e.by);
  if (e.by) return fmt::format(" by {}", *e.by);
  return e.from ? fmt::format(" from {} on", *e.from) : "";
}

std::string bounds_text(const std::optional<std::int64_t>& min, const std::optional<std::int64_t>& max) {
  if (min && max) return *min == *max ? fmt::format("{}", *min) : fmt::format("{} to {}", *min, *max);
  if (min) return fmt::format("at least {}", *min);
  return max ? fmt::format("at most {}", *max) : "any amount";
}

bool within(const Expectation& e, std::int64_t value) { return (!e.min || value >= *e.min) && (!e.max || value <= *e.max); }

Seconds distance(const Expectation& e, Seconds t) {
  if (t < e.from.value_or(0)) return e.from.value_or(0) - t;
  return e.by && t > *e.by ? t - *e.by : 0;
}

// The output that comes nearest to what was expected: most keys equal, then nearest in time.
std::string nearest(const Expectation& e, const std::vector<Output>& outputs) {
  std::string best = "no such output at any time";
  std::ptrdiff_t best_equal = 0;
  Seconds best_distance = std::numeric_limits<double>::infinity();
  for (const Output& output : outputs) {
    const Keys keys = keys_of(output);
    if (!equal(value_of(e.match, "type"), value_of(keys, "type"))) continue;
    const auto same = std::count_if(e.match.begin(), e.match.end(),
                                    [&](const auto& want) { return equal(want.second, value_of(keys, want.first)); });
    if (same < best_equal || (same == best_equal && distance(e, output.t) >= best_distance)) continue;
    best = "nearest: " + text(keys);
    best_equal = same;
    best_distance = distance(e, output.t);
  }
  return best;
}

}  // namespace

void RecordingCheck::expect(int line, Expectation expectation) {
  if (expectation.kind == Expectation::Kind::ledger) ledgers_.push_back(expectations_.size());
  expectations_.push_back({line, std::move(expectation), {}});
}

void RecordingCheck::recorded(int line, const Output& output) { recorded_.push_back({line, keys_of(output)}); }

void RecordingCheck::put_out(const Output& output) { outputs_.push_back(output); }

void RecordingCheck::looked(Seconds t, const std::vector<Books>& books) {
  settle_ledgers(&t);
  if (ledgers_.empty()) return;
  any_look_ = true;
  look_t_ = t;
  look_ = books;
  for (const Books& pool : books) pools_.insert(pool.pool);
}

// Those whose last look has been seen, because the next one is after `at`.
void RecordingCheck::settle_ledgers(const Seconds* next_look) {
  if (!sorted_) {
    const auto at = [this](std::size_t i) { return *expectations_[i].what.at; };
    std::stable_sort(ledgers_.begin(), ledgers_.end(), [&](std::size_t a, std::size_t b) { return at(a) > at(b); });
    sorted_ = true;
  }
  while (!ledgers_.empty()) {
    Expected& expected = expectations_[ledgers_.back()];
    if (next_look != nullptr && *next_look <= *expected.what.at) return;
    expected.failure = ledger_failure(expected.what);
    ledgers_.pop_back();
  }
}

std::string RecordingCheck::ledger_failure(const Expectation& e) const {
  const std::string wanted = fmt::format("expected {} in {} at {}: {}{}", e.owner, e.pool, *e.at, bounds_text(e.min, e.max),
                                         e.how ? fmt::format(", {}", name(*e.how)) : "");
  if (!any_look_) return wanted + "; there is no observe at or before that time";
  if (!pools_.contains(e.pool)) return wanted + "; no observe up to then has a pool of that name";
  const auto pool = std::find_if(look_.begin(), look_.end(), [&](const Books& b) { return b.pool == e.pool; });
  std::int64_t bytes = 0;
  const Claim* claim = nullptr;
  if (pool != look_.end()) {
    for (const Claim& c : pool->claims) {
      if (to_string(c.owner) == e.owner) claim = &c;
    }
  }
  if (claim != nullptr) bytes = claim->bytes.count();
  if (within(e, bytes) && (!e.how || (claim != nullptr && claim->how == *e.how))) return {};
  if (claim == nullptr) return fmt::format("{}; at {} it has no claim, which is 0", wanted, look_t_);
  return fmt::format("{}; at {} it is {}, {}", wanted, look_t_, bytes, name(claim->how));
}

std::string RecordingCheck::output_failure(const Expectation& e) const {
  std::int64_t count = 0;
  const Output* first = nullptr;
  for (const Output& output : outputs_) {
    if (!in_span(e, output.t) || !matches(e.match, keys_of(output))) continue;
    if (first == nullptr) first = &output;
    ++count;
  }
  const std::string wanted = text(e.match) + span_text(e);
  if (e.kind == Expectation::Kind::output)
    return first != nullptr ? "" : fmt::format("expected {}; {}", wanted, nearest(e, outputs_));
  const std::string seen = first != nullptr ? text(keys_of(*first)) : "";
  if (e.kind == Expectation::Kind::never) return first == nullptr ? "" : fmt::format("expected never {}; seen {}", wanted, seen);
  if (within(e, count)) return {};
  return fmt::format("expected {} of {}; seen {}{}", bounds_text(e.min, e.max), wanted, count,
                     count != 0 ? ", first " + seen : "");
}

std::string RecordingCheck::first_difference(const std::string& file) const {
  if (recorded_.empty()) return {};
  const auto same = [](const Recorded& r, const Output& o) {
    const Keys keys = keys_of(o);
    return keys.size() == r.keys.size() && matches(r.keys, keys);
  };
  const auto [recorded, replayed] = std::mismatch(recorded_.begin(), recorded_.end(), outputs_.begin(), outputs_.end(), same);
  if (recorded == recorded_.end() && replayed == outputs_.end()) return {};
  const std::string given = replayed == outputs_.end() ? "no further output" : text(keys_of(*replayed));
  if (recorded == recorded_.end()) {
    return fmt::format("{}:{}: after this last recorded output the replay also gives {}", file, recorded_.back().line, given);
  }
  return fmt::format("{}:{}: recorded {}; the replay gives {}", file, recorded->line, text(recorded->keys), given);
}

std::vector<std::string> RecordingCheck::failures(const std::string& file) {
  settle_ledgers(nullptr);
  std::vector<std::string> out;
  for (const Expected& expected : expectations_) {
    const bool ledger = expected.what.kind == Expectation::Kind::ledger;
    const std::string failure = ledger ? expected.failure : output_failure(expected.what);
    if (!failure.empty()) out.push_back(fmt::format("{}:{}: {}", file, expected.line, failure));
  }
  if (std::string difference = first_difference(file); !difference.empty()) out.push_back(std::move(difference));
  return out;
}

}  // namespace jipsa
