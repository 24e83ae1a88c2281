// A long history must not slow down what is asked often, and is bounded where it may be.
#include <SQLiteCpp/SQLiteCpp.h>
#include <gtest/gtest.h>

#include <string>

#include "folder.h"
#include "store/schema.h"

namespace jipsa::test {
namespace {

std::string plan(SQLite::Database& db, const char* sql) {
  SQLite::Statement statement(db, std::string("EXPLAIN QUERY PLAN ") + sql);
  std::string lines;
  while (statement.executeStep()) lines += statement.getColumn(3).getString() + "\n";
  return lines;
}

TEST(Scale, WhatIsAskedOftenGoesByIndex) {
  Folder folder;
  ASSERT_TRUE(opened(folder.path())->add(small_job()));
  SQLite::Database db(folder.database());
  const auto unfinished = plan(db, store::kUnfinishedJobs);
  EXPECT_NE(unfinished.find("INDEX jobs_unfinished"), std::string::npos) << unfinished;
  EXPECT_EQ(unfinished.find("TEMP B-TREE"), std::string::npos) << unfinished;
  const auto recent = plan(db, store::kRecentJobs);
  EXPECT_NE(recent.find("INDEX jobs_finished"), std::string::npos) << recent;
  EXPECT_EQ(recent.find("TEMP B-TREE"), std::string::npos) << recent;
}

TEST(Scale, TheNewestReleasesAreKept) {
  Folder folder;
  opened(folder.path());
  SQLite::Database(folder.database(), SQLite::OPEN_READWRITE)
      .exec(
          "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000)"
          " INSERT INTO releases (tenant, asked_ms, asked_by, restart, error) SELECT 't', i, 'queue', 0, '' FROM n;"
          " INSERT INTO release_pools (release, position, pool, verdict) VALUES (1, 0, 'gpu0', 'kept'), (2, 0, 'gpu0', 'kept')");
  auto store = opened(folder.path());
  ReleaseRecord record;
  record.tenant = "t";
  EXPECT_EQ(store->add_release(record).value(), 100'001);
  const auto kept = store->releases(200'000, "").value();
  ASSERT_EQ(kept.size(), static_cast<std::size_t>(store::kKeptReleases));
  EXPECT_EQ(kept.front().id, 100'001);
  EXPECT_EQ(kept.back().id, 2);
  const auto summary = store->release_summary().value();
  ASSERT_EQ(summary.size(), 1U);
  EXPECT_EQ(summary[0].count, 1);  // the pools of the dropped one went with it
}

}  // namespace
}  // namespace jipsa::test
