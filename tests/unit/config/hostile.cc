// Files that are no configuration at all: a finding, never a crash, never long.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <random>

#include "reading.h"

namespace jipsa::test {
namespace {

void expect_one_finding(const Folder& folder, const std::string& part) {
  const auto reading = read_config(folder.file(), false);
  ASSERT_EQ(reading.findings.size(), 1U) << part;
  EXPECT_NE(to_string(reading.findings[0]).find(part), std::string::npos) << to_string(reading.findings[0]);
  EXPECT_EQ(reading.findings[0].file, folder.file());
}

TEST(Hostile, SyntaxErrorsNameTheLine) {
  Folder folder;
  folder.write("[policy]\n\nheadroom = 1 2\n");
  expect_one_finding(folder, folder.file() + ":3: not TOML at column ");
  folder.write("[policy\n");
  expect_one_finding(folder, folder.file() + ":1: not TOML");
  folder.write("a = \"never closed\n");
  expect_one_finding(folder, folder.file() + ":1: not TOML");
  folder.write("[policy]\nheadroom = 1\nheadroom = 2\n");
  expect_one_finding(folder, ":3: not TOML");
  folder.write("[policy]\n\n[.a]\n\n[queue]\n");
  expect_one_finding(folder, ":3: not TOML");
  folder.write("[policy]\nheadroom = 99999999999999999999\n");
  expect_one_finding(folder, ":2: not TOML");
}

TEST(Hostile, NotAFile) {
  Folder folder;
  std::filesystem::create_directory(folder.file());
  expect_one_finding(folder, "is a folder");
  std::filesystem::remove(folder.file());
  ASSERT_EQ(::mkfifo(folder.file().c_str(), 0600), 0);
  expect_one_finding(folder, "not a regular file");
  std::filesystem::remove(folder.file());
  std::filesystem::create_symlink("nowhere", folder.file());
  expect_one_finding(folder, "link that leads nowhere");
  std::filesystem::remove(folder.file());
  std::filesystem::create_symlink("config.toml", folder.file());
  expect_one_finding(folder, "can't be read");
  EXPECT_TRUE(read_config("/dev/null", true).findings.empty());
}

// Rights do not bind root: as root, look as somebody else.
TEST(Hostile, UnreadableFile) {
  Folder folder;
  folder.write("[policy]\n");
  ASSERT_EQ(::chmod(folder.path().c_str(), 0755), 0);
  ASSERT_EQ(::chmod(folder.file().c_str(), 0000), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    if (::geteuid() == 0 && ::setresuid(65534, 65534, 65534) != 0) ::_exit(2);
    const auto reading = read_config(folder.file(), false);
    const bool good =
        reading.findings.size() == 1 && to_string(reading.findings[0]).find("Permission denied") != std::string::npos;
    ::_exit(good ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(WIFEXITED(status) ? WEXITSTATUS(status) : -1, 0);
}

TEST(Hostile, HugeFile) {
  Folder folder;
  folder.write("");
  std::filesystem::resize_file(folder.file(), 100 << 20);
  expect_one_finding(folder, "larger than 1 MiB");
  folder.write(std::string((1 << 20) + 1, '\n'));
  expect_one_finding(folder, "larger than 1 MiB");
  folder.write(std::string(1 << 20, '\n'));
  EXPECT_TRUE(read_config(folder.file(), true).findings.empty());
}

TEST(Hostile, OtherEncodingsAndBytes) {
  Folder folder;
  folder.write(std::string("\xff\xfe[\0p\0]\0", 8));
  expect_one_finding(folder, "UTF-16");
  folder.write("a = \"\xc0\xaf\"\n");
  expect_one_finding(folder, ":1: ");
  folder.write(std::string("a = 1\nb\0 = 2\n", 13));
  expect_one_finding(folder, ":2: ");
}

TEST(Hostile, DeepNestingIsRefusedBeforeItExhaustsTheStack) {
  Folder folder;
  std::string dots = "a";
  for (int i = 0; i < 30'000; ++i) dots += ".a";
  for (const auto& text : {dots + " = 1\n", "[" + dots + "]\n", "x = {" + dots + " = 1}\n"}) {
    folder.write(text);
    expect_one_finding(folder, "dots");
  }
  folder.write("x = " + std::string(60'000, '[') + "\n");
  expect_one_finding(folder, "not TOML");
  std::string tables = "x = ";
  for (int i = 0; i < 10'000; ++i) tables += "{a=";
  folder.write(tables + "\n");
  expect_one_finding(folder, "not TOML");
  folder.write("# " + std::string(65 << 10, 'x') + "\n");
  expect_one_finding(folder, "a line of");
  folder.write("[queue] # " + std::string(1000, '.') + "\n");
  EXPECT_TRUE(read_config(folder.file(), true).findings.empty());
}

TEST(Hostile, GarbageAndMutationsNeverCrash) {
  const std::string seed =
      "[policy]\nheadroom = \"1G\"\n[pool.gpu0]\nbaseline = 5\n[[tenant]]\nid = \"c\"\nkind = \"comfyui\"\nurl = \"http://h:1\"\n"
      "floor = { gpu0 = \"0.4GiB\" }\nrestart_command = [\"a\", \"b\"]\n[launcher.x]\ncommand = "
      "[\"{text}\"]\n[sense]\nidle_every = 1979-05-27\n";
  const std::string alphabet = "[]{}=.,\"'#\n\\u0 \t-e_1:TZ가\xff";
  Folder folder;
  std::mt19937 random(3);
  for (int round = 0; round < 3000; ++round) {
    std::string text = seed;
    if (round % 3 == 0) {
      text.resize(random() % 400);
      for (auto& c : text) c = static_cast<char>(random());
    } else {
      for (unsigned i = 0; i < 1 + random() % 8; ++i) {
        const auto at = random() % text.size();
        if (random() % 2 == 0)
          text[at] = alphabet[random() % alphabet.size()];
        else
          text.insert(at, 1, alphabet[random() % alphabet.size()]);
      }
    }
    folder.write(text);
    const auto reading = read_config(folder.file(), true);
    for (const auto& finding : reading.findings) {
      ASSERT_FALSE(finding.what.empty());
      ASSERT_EQ(to_string(finding).find('\n'), std::string::npos) << to_string(finding);
    }
  }
}

}  // namespace
}  // namespace jipsa::test
