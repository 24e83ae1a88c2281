// A folder that is gone when the test ends.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>

#include "store/store.h"

namespace jipsa::test {

class Folder {
 public:
  Folder() {
    std::string pattern = ::testing::TempDir() + "jipsa-store-XXXXXX";
    if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("mkdtemp");
    path_ = pattern;
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::permissions(path_, std::filesystem::perms::owner_all, ignored);
    std::filesystem::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string database() const { return path_ + "/jipsa.db"; }

 private:
  std::string path_;
};

inline std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline void overwrite(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

inline std::unique_ptr<Store> opened(const std::string& dir) {
  auto store = Store::open(dir);
  if (!store) throw std::runtime_error(store.error().what);
  return std::move(*store);
}

inline JobRecord small_job(const std::string& name = "job") {
  JobRecord record;
  record.job.name = name;
  record.command = {"/bin/true"};
  record.dir = "/";
  record.submitted_ms = 1;
  return record;
}

}  // namespace jipsa::test
