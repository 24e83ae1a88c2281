// Everything that goes in comes out, also after the store was closed and opened again.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <limits>

#include "folder.h"
#include "same.h"

namespace jipsa::test {
namespace {

JobRecord full_job() {
  JobRecord r;
  r.job.name = "영상 만들기 🎬";
  r.job.needs = {{"gpu", gib(16)}, {"ram", Bytes{std::numeric_limits<std::int64_t>::max()}}};
  r.job.priority = -7;
  r.job.tenant = "comfyui";
  r.job.bundle = "완/2.2";
  r.job.after = {41, 3, std::numeric_limits<std::int64_t>::max()};
  r.command = {"./run.sh", "", "두 번째\n줄", "\xff\xfe not utf-8"};
  r.dir = "/home/나/작업";
  r.env = {"PATH=/usr/bin", "EMPTY=", "BYTES=\x80\xff"};
  r.launcher = "claude";
  r.text = std::string("지시문\r\n") + '\0' + "after a NUL" + std::string(200'000, 'x');
  r.state = JobState::failed;
  r.gpu_pool = "gpu0";
  r.exit_code = 0;
  r.signal = 9;
  r.note = "dependency:41";
  r.output = "/state/jobs/1.out";
  r.submitted_ms = 1'790'000'000'123;
  r.started_ms = 0;
  r.ended_ms = -1;
  r.shim_pid = 4194304;
  r.pid = 1;
  r.shim_start = std::numeric_limits<std::int64_t>::max();
  r.boot_id = "b1946ac9";
  return r;
}

TEST(Jobs, EveryFieldSurvivesReopening) {
  Folder folder;
  auto record = full_job();
  {
    auto store = opened(folder.path());
    const auto id = store->add(record);
    ASSERT_TRUE(id) << id.error().what;
    EXPECT_EQ(*id, 1);
    record.job.id = *id;
    const auto found = store->find(*id);
    ASSERT_TRUE(found && *found);
    expect_same(record, **found);
  }
  const auto found = opened(folder.path())->find(1);
  ASSERT_TRUE(found && *found);
  expect_same(record, **found);
}

TEST(Jobs, EmptyStaysEmpty) {
  Folder folder;
  auto store = opened(folder.path());
  JobRecord record;
  record.job.id = 77;  // not looked at
  ASSERT_EQ(store->add(record).value(), 1);
  record.job.id = 1;
  const auto found = store->find(1);
  ASSERT_TRUE(found && *found);
  expect_same(record, **found);
  EXPECT_FALSE((*found)->exit_code.has_value());
  EXPECT_FALSE((*found)->started_ms.has_value());
  EXPECT_TRUE((*found)->command.empty());
}

TEST(Jobs, AListOfOneEmptyStringIsNotAnEmptyList) {
  Folder folder;
  auto store = opened(folder.path());
  auto record = small_job();
  record.command = {""};
  record.env = {};
  ASSERT_TRUE(store->add(record));
  EXPECT_EQ((*store->find(1).value()).command, std::vector<std::string>{""});
  EXPECT_TRUE((*store->find(1).value()).env.empty());
}

TEST(Jobs, NulInCommandOrEnvIsRefusedByName) {
  Folder folder;
  auto store = opened(folder.path());
  auto record = small_job();
  record.command = {"a", std::string("b\0c", 3)};
  auto answer = store->add(record);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, Code::bad_input);
  EXPECT_NE(answer.error().what.find("command"), std::string::npos);
  record = small_job();
  record.env = {std::string("K=\0", 3)};
  answer = store->add(record);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, Code::bad_input);
  EXPECT_NE(answer.error().what.find("env"), std::string::npos);
  EXPECT_EQ(store->add(small_job()).value(), 1);
}

TEST(Jobs, APoolNameThatIsNotUtf8IsAnErrorAndLeavesNothing) {
  Folder folder;
  auto store = opened(folder.path());
  auto record = small_job();
  record.job.needs = {{"gpu\xff", gib(1)}};
  const auto answer = store->add(record);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, Code::bad_input) << answer.error().what;
  EXPECT_TRUE(store->unfinished().value().empty());
  EXPECT_TRUE(store->add(small_job()));
}

TEST(Jobs, SaveChangesWhatBecameOfTheJobAndNotWhatWasAsked) {
  Folder folder;
  auto store = opened(folder.path());
  auto asked = small_job("asked");
  asked.job.needs = {{"gpu0", gib(2)}};
  asked.env = {"A=1"};
  asked.job.id = store->add(asked).value();

  auto changed = full_job();
  changed.job.id = asked.job.id;
  ASSERT_TRUE(store->save(changed));

  auto expected = changed;
  expected.job = asked.job;
  expected.command = asked.command;
  expected.dir = asked.dir;
  expected.env = asked.env;
  expected.launcher = asked.launcher;
  expected.text = asked.text;
  expected.submitted_ms = asked.submitted_ms;
  expect_same(expected, *store->find(asked.job.id).value());
}

TEST(Jobs, SaveOfAnUnknownJobIsNotFound) {
  Folder folder;
  auto store = opened(folder.path());
  auto record = small_job();
  record.job.id = 5;
  const auto answer = store->save(record);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, Code::not_found);
  EXPECT_EQ(answer.error().what, "no job 5");
  EXPECT_FALSE(store->find(5).value().has_value());
}

TEST(Jobs, SaveAllIsAllOrNothing) {
  Folder folder;
  auto store = opened(folder.path());
  auto one = small_job();
  one.job.id = store->add(one).value();
  one.state = JobState::running;
  auto stranger = one;
  stranger.job.id = 99;
  EXPECT_EQ(store->save_all({one, stranger}).error().code, Code::not_found);
  EXPECT_EQ((*store->find(1).value()).state, JobState::waiting);
  EXPECT_TRUE(store->save_all({}));

  auto two = small_job();
  two.job.id = store->add(two).value();
  two.state = JobState::held;
  ASSERT_TRUE(store->save_all({one, two}));
  EXPECT_EQ((*store->find(1).value()).state, JobState::running);
  EXPECT_EQ((*store->find(2).value()).state, JobState::held);
}

TEST(Jobs, UnfinishedByIdAndRecentByEnd) {
  Folder folder;
  auto store = opened(folder.path());
  const std::vector<JobState> states = {JobState::waiting, JobState::succeeded, JobState::held,     JobState::failed,
                                        JobState::running, JobState::cancelled, JobState::starting, JobState::lost};
  for (std::size_t i = 0; i < states.size(); ++i) {
    auto record = small_job();
    record.state = states[i];
    record.env = {"SECRET=1"};
    record.text = "text";
    if (is_final(states[i])) record.ended_ms = 1000 - static_cast<std::int64_t>(i);  // the later id ended first
    ASSERT_TRUE(store->add(record));
  }
  std::vector<JobId> unfinished, recent;
  const auto all_unfinished = store->unfinished().value();
  const auto three_recent = store->recent(3).value();
  for (const auto& record : all_unfinished) unfinished.push_back(record.job.id);
  for (const auto& record : three_recent) recent.push_back(record.job.id);
  EXPECT_EQ(unfinished, (std::vector<JobId>{1, 3, 5, 7}));
  EXPECT_EQ(recent, (std::vector<JobId>{2, 4, 6}));
  const auto newest = store->recent(1).value().at(0);
  EXPECT_TRUE(newest.env.empty());
  EXPECT_TRUE(newest.text.empty());
  EXPECT_EQ(newest.command, small_job().command);
  EXPECT_TRUE(store->recent(0).value().empty());
  EXPECT_EQ(store->recent(-1).error().code, Code::bad_input);
}

TEST(Releases, EveryFieldSurvives) {
  Folder folder;
  ReleaseRecord record;
  record.tenant = "comfyui";
  record.asked_ms = 123456;
  record.job = 42;
  record.asked_by = "queue";
  record.pools = {
      {"gpu0", gib(15), gib(1), "released", 1.4}, {"ram", gib(19), std::nullopt, "", std::nullopt}, {"gpu1", {}, {}, "", {}}};
  record.restart = true;
  record.error = "HTTP 500: 내부 오류";
  record.id = opened(folder.path())->add_release(record).value();
  EXPECT_EQ(record.id, 1);
  auto store = opened(folder.path());
  expect_same(record, store->releases(10, "").value().at(0));

  record.job.reset();
  record.asked_by = "person";
  record.restart = false;
  record.error = "";
  record.pools = {{"ram", std::nullopt, gib(3), "kept", 0.0}};
  ASSERT_TRUE(store->save_release(record));
  expect_same(record, store->releases(10, "comfyui").value().at(0));
  record.id = 9;
  EXPECT_EQ(store->save_release(record).error().code, Code::not_found);
}

TEST(Releases, NewestFirstAndByTenant) {
  Folder folder;
  auto store = opened(folder.path());
  for (const char* tenant : {"a", "b", "a", "a"}) {
    ReleaseRecord record;
    record.tenant = tenant;
    ASSERT_TRUE(store->add_release(record));
  }
  const auto ids = [&](std::int64_t limit, const std::string& tenant) {
    std::vector<std::int64_t> list;
    const auto records = store->releases(limit, tenant).value();
    for (const auto& record : records) list.push_back(record.id);
    return list;
  };
  EXPECT_EQ(ids(10, ""), (std::vector<std::int64_t>{4, 3, 2, 1}));
  EXPECT_EQ(ids(2, "a"), (std::vector<std::int64_t>{4, 3}));
  EXPECT_EQ(ids(2, "c"), (std::vector<std::int64_t>{}));
  EXPECT_EQ(store->releases(-1, "").error().code, Code::bad_input);
}

TEST(Releases, SummaryCountsVerdictsAndWhatWasFreed) {
  Folder folder;
  auto store = opened(folder.path());
  const auto add = [&](const std::string& tenant, std::vector<ReleasePool> pools, bool restart = false) {
    ReleaseRecord record;
    record.tenant = tenant;
    record.pools = std::move(pools);
    record.restart = restart;
    ASSERT_TRUE(store->add_release(record));
  };
  add("c", {{"gpu0", gib(15), gib(1), "released", {}}, {"ram", gib(5), gib(5), "", {}}});
  add("c", {{"gpu0", gib(5), gib(2), "released", {}}});
  add("c", {{"gpu0", gib(5), std::nullopt, "kept", {}}});
  add("c", {{"gpu0", gib(5), gib(1), "released", {}}}, true);
  add("c", {{"ram", Bytes::highest(), Bytes{-5}, "moved", {}}});
  const auto summary = store->release_summary().value();
  ASSERT_EQ(summary.size(), 3U);
  EXPECT_EQ(summary[0].verdict, "kept");
  EXPECT_EQ(summary[0].count, 1);
  EXPECT_EQ(summary[0].freed, Bytes{});
  EXPECT_EQ(summary[1].tenant, "c");
  EXPECT_EQ(summary[1].pool, "gpu0");
  EXPECT_EQ(summary[1].verdict, "released");
  EXPECT_EQ(summary[1].count, 2);
  EXPECT_EQ(summary[1].freed, gib(17));
  EXPECT_EQ(summary[2].freed, Bytes::highest());
}

TEST(Facts, PutGetAndReplace) {
  Folder folder;
  const std::string value = std::string("{\"상태\":1}\0tail", 18);
  {
    auto store = opened(folder.path());
    EXPECT_FALSE(store->get("engine").value().has_value());
    ASSERT_TRUE(store->put("engine", "first"));
    ASSERT_TRUE(store->put("engine", value));
    ASSERT_TRUE(store->put("paused", ""));
  }
  auto store = opened(folder.path());
  EXPECT_EQ(store->get("engine").value(), value);
  EXPECT_EQ(store->get("paused").value(), "");
}

TEST(File, IsPrivateWithItsCompanions) {
  Folder folder;
  ::umask(0);
  auto store = opened(folder.path() + "/new/folder");
  ASSERT_TRUE(store->add(small_job()));
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path() + "/new/folder")) {
    EXPECT_EQ(entry.status().permissions(), std::filesystem::perms(0600)) << entry.path();
    ++files;
  }
  EXPECT_GE(files, 2);
  EXPECT_EQ(std::filesystem::status(folder.path() + "/new/folder").permissions(), std::filesystem::perms(0700));
}

TEST(States, NamesAndFinality) {
  EXPECT_STREQ(name(JobState::waiting), "waiting");
  EXPECT_STREQ(name(JobState::lost), "lost");
  for (const auto state : {JobState::waiting, JobState::held, JobState::starting, JobState::running})
    EXPECT_FALSE(is_final(state));
  for (const auto state : {JobState::succeeded, JobState::failed, JobState::cancelled, JobState::lost})
    EXPECT_TRUE(is_final(state));
}

}  // namespace
}  // namespace jipsa::test
