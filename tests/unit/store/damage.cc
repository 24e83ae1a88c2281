// What is damaged, newer or not ours is refused with its path and a mend, and not a byte of it changes.
#include <SQLiteCpp/SQLiteCpp.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <random>

#include "folder.h"

namespace jipsa::test {
namespace {

namespace fs = std::filesystem;

void fill(const std::string& dir, int jobs = 40) {
  auto store = opened(dir);
  for (int i = 0; i < jobs; ++i) {
    auto record = small_job("job " + std::to_string(i));
    record.env = {std::string(500, 'e')};
    ASSERT_TRUE(store->add(record));
  }
}

void expect_refused(const Folder& folder, Code code, const std::string& finding) {
  const auto before = fs::is_regular_file(folder.database()) ? contents(folder.database()) : "";
  const auto store = Store::open(folder.path());
  ASSERT_FALSE(store) << finding;
  EXPECT_EQ(store.error().code, code) << store.error().what;
  EXPECT_NE(store.error().what.find(folder.database()), std::string::npos) << store.error().what;
  EXPECT_NE(store.error().what.find(finding), std::string::npos) << store.error().what;
  EXPECT_NE(store.error().what.find("; "), std::string::npos) << "no mend: " << store.error().what;
  EXPECT_EQ(store.error().what.find('\n'), std::string::npos) << store.error().what;
  if (fs::is_regular_file(folder.database())) { EXPECT_TRUE(contents(folder.database()) == before) << "the file was changed"; }
}

TEST(Damage, NotADatabase) {
  Folder folder;
  overwrite(folder.database(), std::string(5000, 'x'));
  expect_refused(folder, Code::unreadable, "does not begin as an SQLite database");
}

TEST(Damage, EmptyFile) {
  Folder folder;
  overwrite(folder.database(), "");
  expect_refused(folder, Code::unreadable, "empty");
}

TEST(Damage, CutOffAnywhere) {
  Folder folder;
  fill(folder.path());
  const auto whole = contents(folder.database());
  ASSERT_GT(whole.size(), 4096U * 4);
  for (const std::size_t size : {std::size_t{1}, std::size_t{99}, std::size_t{100}, std::size_t{4000}, std::size_t{4096},
                                 std::size_t{4097}, whole.size() / 2, whole.size() - 4096, whole.size() - 1}) {
    overwrite(folder.database(), whole.substr(0, size));
    expect_refused(folder, Code::unreadable, "damaged");
  }
}

TEST(Damage, RandomBytesInTheHeaderAndPagesNeverCrashAndNeverChangeTheFile) {
  Folder folder;
  fill(folder.path());
  const auto whole = contents(folder.database());
  std::mt19937 random(1);
  int refused = 0;
  for (int round = 0; round < 300; ++round) {
    auto bytes = whole;
    const std::size_t range = round % 2 == 0 ? 100 : bytes.size();
    for (int i = 0; i < 1 + round % 30; ++i) bytes[random() % range] = static_cast<char>(random());
    overwrite(folder.database(), bytes);
    auto store = Store::open(folder.path());
    if (store) {  // bytes that mean nothing, or text that is still text
      std::ignore = (*store)->unfinished();
      std::ignore = (*store)->recent(10);
      std::ignore = (*store)->release_summary();
      continue;
    }
    ++refused;
    EXPECT_TRUE(store.error().code == Code::unreadable || store.error().code == Code::io) << store.error().what;
    EXPECT_TRUE(contents(folder.database()) == bytes) << "round " << round << ": a refused file was changed";
  }
  EXPECT_GT(refused, 100);
}

TEST(Damage, AnotherProgramsDatabase) {
  Folder folder;
  SQLite::Database(folder.database(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE)
      .exec("CREATE TABLE jobs (id); PRAGMA application_id=7");
  expect_refused(folder, Code::unreadable, "another program");
}

TEST(Damage, ANewerSchema) {
  Folder folder;
  fill(folder.path());
  SQLite::Database(folder.database(), SQLite::OPEN_READWRITE).exec("PRAGMA user_version = 2");
  expect_refused(folder, Code::unreadable, "schema version 2");
}

TEST(Damage, ANewerSchemaThatIsStillInTheLogOnly) {
  Folder folder;
  fill(folder.path());
  SQLite::Database other(folder.database(), SQLite::OPEN_READWRITE);
  other.exec("PRAGMA user_version = 2");  // the open connection keeps it out of the main file
  expect_refused(folder, Code::unreadable, "schema version 2");
}

TEST(Damage, OtherThingsInItsPlace) {
  {
    Folder folder;
    fs::create_directory(folder.database());
    expect_refused(folder, Code::unreadable, "folder");
    EXPECT_TRUE(fs::is_directory(folder.database()));
  }
  {
    Folder folder;
    ASSERT_EQ(::mkfifo(folder.database().c_str(), 0600), 0);
    expect_refused(folder, Code::unreadable, "not a regular file");
  }
  {
    Folder folder;
    fs::create_symlink("/nowhere/at/all", folder.database());
    expect_refused(folder, Code::unreadable, "link");
    EXPECT_TRUE(fs::is_symlink(folder.database()));
  }
}

TEST(Damage, ALogWithoutItsDatabaseIsNotTakenForThatOfANewOne) {
  Folder folder;
  overwrite(folder.database() + "-wal", std::string(5000, 'w'));
  expect_refused(folder, Code::unreadable, "-wal");
  EXPECT_FALSE(fs::exists(folder.database()));
}

TEST(Damage, AFileInTheWayOfTheFolder) {
  Folder folder;
  overwrite(folder.path() + "/file", "x");
  const auto store = Store::open(folder.path() + "/file/state");
  ASSERT_FALSE(store);
  EXPECT_EQ(store.error().code, Code::io);
  EXPECT_NE(store.error().what.find(folder.path() + "/file/state"), std::string::npos) << store.error().what;
}

// Rights do not bind root: as root, look as somebody else.
Code code_as_ordinary_user(const std::string& dir) {
  const pid_t child = ::fork();
  if (child == 0) {
    if (::geteuid() == 0 && ::setresuid(65534, 65534, 65534) != 0) ::_exit(100);
    const auto store = Store::open(dir);
    ::_exit(store ? 101 : static_cast<int>(store.error().code));
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return static_cast<Code>(WIFEXITED(status) ? WEXITSTATUS(status) : 102);
}

void give_away(const std::string& path) {
  if (::geteuid() != 0) return;
  ASSERT_EQ(::chown(path.c_str(), 65534, 65534), 0);
}

TEST(Damage, AReadOnlyFolderIsIo) {
  Folder folder;
  give_away(folder.path());
  ASSERT_EQ(::chmod(folder.path().c_str(), 0500), 0);
  EXPECT_EQ(code_as_ordinary_user(folder.path()), Code::io);
  ASSERT_EQ(::chmod(folder.path().c_str(), 0700), 0);
  fill(folder.path());
  give_away(folder.database());
  ASSERT_EQ(::chmod(folder.path().c_str(), 0500), 0);
  EXPECT_EQ(code_as_ordinary_user(folder.path()), Code::io);
}

TEST(Damage, AReadOnlyFileIsIo) {
  Folder folder;
  fill(folder.path());
  give_away(folder.path());
  give_away(folder.database());
  ASSERT_EQ(::chmod(folder.database().c_str(), 0400), 0);
  const auto before = contents(folder.database());
  EXPECT_EQ(code_as_ordinary_user(folder.path()), Code::io);
  EXPECT_TRUE(contents(folder.database()) == before);
}

TEST(Damage, AnotherWriterIsNamedAsSuch) {
  Folder folder;
  auto store = opened(folder.path());
  SQLite::Database other(folder.database(), SQLite::OPEN_READWRITE);
  other.exec("BEGIN IMMEDIATE");
  const auto answer = store->add(small_job());
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, Code::running) << answer.error().what;
  other.exec("ROLLBACK");
  EXPECT_TRUE(store->add(small_job()));
}

TEST(Damage, ARowThatNobodyWroteIsUnreadableAndNamesTheFinding) {
  Folder folder;
  fill(folder.path(), 2);
  SQLite::Database(folder.database(), SQLite::OPEN_READWRITE).exec("UPDATE jobs SET needs = '{\"gpu\":' WHERE id = 1");
  auto store = opened(folder.path());
  const auto found = store->find(1);
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, Code::unreadable);
  EXPECT_NE(found.error().what.find("needs"), std::string::npos) << found.error().what;
  EXPECT_TRUE(store->find(2).value().has_value());
}

}  // namespace
}  // namespace jipsa::test
