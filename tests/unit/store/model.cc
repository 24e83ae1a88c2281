// Random calls against a model in memory, with the store closed and opened in between.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <map>

#include "folder.h"
#include "same.h"

namespace jipsa::test {
namespace {

struct Model {
  std::map<JobId, JobRecord> jobs;
  std::map<std::string, std::string> facts;
  JobId last = 0;
};

std::string any_text() {
  return *rc::gen::element<std::string>("", "a", "한글 이름", "quote'\"", "line\nbreak", "\xf0\x9f\x8e\xac",
                                        std::string("nul\0nul", 7));
}

std::string any_item() { return *rc::gen::element<std::string>("", "x", "K=값", "\xff", "two words"); }

template <class T>
std::optional<T> maybe(T value) {
  return *rc::gen::arbitrary<bool>() ? std::optional<T>(value) : std::nullopt;
}

JobState any_state() { return static_cast<JobState>(*rc::gen::inRange(0, 8)); }

void change_outcome(JobRecord& record) {
  record.state = any_state();
  record.gpu_pool = any_text();
  record.exit_code = maybe(*rc::gen::arbitrary<std::int64_t>());
  record.signal = maybe<std::int64_t>(*rc::gen::inRange(1, 65));
  record.note = any_text();
  record.output = any_text();
  record.started_ms = maybe(*rc::gen::arbitrary<std::int64_t>());
  record.ended_ms = maybe<std::int64_t>(*rc::gen::inRange(0, 5));
  record.shim_pid = maybe(*rc::gen::arbitrary<Pid>());
  record.pid = maybe(*rc::gen::arbitrary<Pid>());
  record.shim_start = maybe(*rc::gen::arbitrary<std::int64_t>());
  record.boot_id = any_text();
}

JobRecord any_job() {
  JobRecord record;
  record.job.name = any_text();
  record.job.priority = *rc::gen::arbitrary<std::int64_t>();
  record.job.tenant = any_text();
  record.job.bundle = any_text();
  const int needs = *rc::gen::inRange(0, 3);
  for (int i = 0; i < needs; ++i)
    record.job.needs.push_back({"gpu" + std::to_string(i), Bytes{*rc::gen::arbitrary<std::int64_t>()}});
  record.job.after = *rc::gen::arbitrary<std::vector<JobId>>();
  record.command = *rc::gen::container<std::vector<std::string>>(rc::gen::exec(any_item));
  record.env = *rc::gen::container<std::vector<std::string>>(rc::gen::exec(any_item));
  record.dir = any_text();
  record.launcher = any_text();
  record.text = any_text();
  record.submitted_ms = *rc::gen::inRange(0, 5);
  change_outcome(record);
  return record;
}

void add(Store& store, Model& model) {
  auto record = any_job();
  const auto id = store.add(record);
  RC_ASSERT(id.has_value());
  RC_ASSERT(*id > model.last);
  model.last = *id;
  record.job.id = *id;
  model.jobs[*id] = record;
}

void save_some(Store& store, Model& model) {
  std::vector<JobRecord> changed;
  for (const auto& [id, record] : model.jobs)
    if (*rc::gen::inRange(0, 3) == 0) changed.push_back(record);
  for (auto& record : changed) change_outcome(record);
  const bool with_stranger = *rc::gen::inRange(0, 5) == 0;
  if (with_stranger) {
    changed.push_back(any_job());
    changed.back().job.id = model.last + 1;
  }
  const auto saved = changed.size() == 1 ? store.save(changed[0]) : store.save_all(changed);
  RC_ASSERT(saved.has_value() == !with_stranger);
  if (with_stranger) return;
  for (const auto& record : changed) model.jobs[record.job.id] = record;
}

void put(Store& store, Model& model) {
  const auto key = any_text();
  const auto value = any_text();
  RC_ASSERT(store.put(key, value).has_value());
  model.facts[key] = value;
}

std::vector<JobRecord> expected_recent(const Model& model) {
  std::vector<JobRecord> list;
  for (const auto& [id, record] : model.jobs)
    if (is_final(record.state)) list.push_back(record);
  std::sort(list.begin(), list.end(), [](const JobRecord& a, const JobRecord& b) {
    return std::make_pair(a.ended_ms.value_or(a.submitted_ms), a.job.id) >
           std::make_pair(b.ended_ms.value_or(b.submitted_ms), b.job.id);
  });
  for (auto& record : list) {
    record.env.clear();
    record.text.clear();
  }
  return list;
}

void expect_all_same(const std::vector<JobRecord>& expected, const std::vector<JobRecord>& actual) {
  RC_ASSERT(expected.size() == actual.size());
  for (std::size_t i = 0; i < expected.size(); ++i) expect_same(expected[i], actual[i]);
}

void compare(const Store& store, const Model& model) {
  std::vector<JobRecord> unfinished;
  for (const auto& [id, record] : model.jobs) {
    const auto found = store.find(id);
    RC_ASSERT(found && *found);
    expect_same(record, **found);
    if (!is_final(record.state)) unfinished.push_back(record);
  }
  expect_all_same(unfinished, store.unfinished().value());
  expect_all_same(expected_recent(model), store.recent(1000).value());
  for (const auto& [key, value] : model.facts) RC_ASSERT(store.get(key).value() == value);
  RC_ASSERT(!store.find(model.last + 1).value().has_value());
  RC_ASSERT(!::testing::Test::HasFailure());
}

TEST(Model, RandomCallsAgreeWithMemory) {
  EXPECT_TRUE(rc::check("store and model agree", [] {
    Folder folder;
    auto store = opened(folder.path());
    Model model;
    const int steps = *rc::gen::inRange(1, 25);
    for (int i = 0; i < steps; ++i) {
      switch (*rc::gen::inRange(0, 5)) {
        case 0:
        case 1:
          add(*store, model);
          break;
        case 2:
          save_some(*store, model);
          break;
        case 3:
          put(*store, model);
          break;
        default:
          store.reset();
          store = opened(folder.path());
      }
    }
    compare(*store, model);
    store.reset();
    compare(*opened(folder.path()), model);
  }));
}

}  // namespace
}  // namespace jipsa::test
