// A disk that takes no more: the call fails as io, nothing half-done is left, and later calls work once there is room again.
// The limit on file size stands in for the full disk: it needs no rights and no file system of its own.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>

#include "folder.h"

namespace jipsa::test {
namespace {

class SmallFiles {
 public:
  explicit SmallFiles(rlim_t bytes) {
    before_ = ::signal(SIGXFSZ, SIG_IGN);
    ::getrlimit(RLIMIT_FSIZE, &limit_);
    const rlimit small{bytes, limit_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &small);
  }
  ~SmallFiles() {
    ::setrlimit(RLIMIT_FSIZE, &limit_);
    ::signal(SIGXFSZ, before_);
  }
  SmallFiles(const SmallFiles&) = delete;
  SmallFiles& operator=(const SmallFiles&) = delete;

 private:
  rlimit limit_{};
  void (*before_)(int) = nullptr;
};

TEST(FullDisk, AddAndSaveFailAsIoAndWorkAgainLater) {
  Folder folder;
  auto store = opened(folder.path());
  auto first = small_job("first");
  first.job.id = store->add(first).value();
  JobId last = first.job.id;
  {
    SmallFiles limit(256 << 10);
    auto record = small_job("fills");
    record.text = std::string(10'000, 't');
    Result<JobId> added = last;
    for (int i = 0; i < 200 && added; ++i) {
      added = store->add(record);
      if (added) last = *added;
    }
    ASSERT_FALSE(added) << "the limit was never met";
    EXPECT_EQ(added.error().code, Code::io) << added.error().what;
    EXPECT_NE(added.error().what.find(folder.database()), std::string::npos);

    auto big = first;
    big.state = JobState::lost;
    big.note = std::string(300 << 10, 'n');
    const auto saved = store->save(big);
    ASSERT_FALSE(saved);
    EXPECT_EQ(saved.error().code, Code::io) << saved.error().what;
    EXPECT_EQ((*store->find(first.job.id).value()).state, JobState::waiting);
    EXPECT_EQ(static_cast<JobId>(store->unfinished().value().size()), last);
  }
  first.state = JobState::running;
  ASSERT_TRUE(store->save(first));
  const auto id = store->add(small_job("later"));
  ASSERT_TRUE(id) << id.error().what;
  EXPECT_GT(*id, last);
  store.reset();
  store = opened(folder.path());
  EXPECT_EQ((*store->find(first.job.id).value()).state, JobState::running);
  EXPECT_EQ(static_cast<JobId>(store->unfinished().value().size()), last + 1);
}

TEST(FullDisk, OpeningANewOneFailsAsIoAndLeavesNothing) {
  Folder folder;
  {
    SmallFiles limit(4096);
    const auto store = Store::open(folder.path());
    ASSERT_FALSE(store);
    EXPECT_EQ(store.error().code, Code::io) << store.error().what;
    EXPECT_FALSE(std::filesystem::exists(folder.database()));
  }
  EXPECT_TRUE(Store::open(folder.path()));
}

TEST(FullDisk, OpeningAnExistingOneFailsAsIoAndLosesNothing) {
  Folder folder;
  ASSERT_TRUE(opened(folder.path())->add(small_job()));
  const auto before = contents(folder.database());
  {
    SmallFiles limit(16);
    const auto store = Store::open(folder.path());
    ASSERT_FALSE(store);
    EXPECT_EQ(store.error().code, Code::io) << store.error().what;
    EXPECT_TRUE(contents(folder.database()) == before);
  }
  EXPECT_EQ(opened(folder.path())->unfinished().value().size(), 1U);
}

}  // namespace
}  // namespace jipsa::test
