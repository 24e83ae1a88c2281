// A configuration text, read from a file of its own.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

#include "config/config.h"

namespace jipsa::test {

class Folder {
 public:
  Folder() {
    std::string pattern = ::testing::TempDir() + "jipsa-config-XXXXXX";
    if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("mkdtemp");
    path_ = pattern;
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string file() const { return path_ + "/config.toml"; }
  void write(const std::string& text) const {
    std::ofstream(file(), std::ios::binary | std::ios::trunc).write(text.data(), static_cast<std::streamsize>(text.size()));
  }

 private:
  std::string path_;
};

inline ConfigReading reading_of(const std::string& text) {
  Folder folder;
  folder.write(text);
  auto reading = read_config(folder.file(), true);
  for (auto& finding : reading.findings) {
    EXPECT_EQ(finding.file, folder.file());
    EXPECT_FALSE(finding.what.empty());
    EXPECT_FALSE(finding.mend.empty());
    EXPECT_EQ(to_string(finding).find('\n'), std::string::npos);
    finding.file = "F";
  }
  return reading;
}

// All findings, one a line.
inline std::string findings_of(const std::string& text) {
  std::string all;
  for (const auto& finding : reading_of(text).findings) all += to_string(finding) + "\n";
  return all;
}

}  // namespace jipsa::test
