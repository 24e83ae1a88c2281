#include <gtest/gtest.h>

#include "reading.h"

namespace jipsa::test {
namespace {

constexpr const char* kFull = R"(# 집의 설정
[policy]
headroom = "1 GiB"
ram_headroom = 4294967296
release_window = 2
release_deadline = "20s"
ask_deadline = 10.5
release_cooldown = "10m"
stuck_after = "2m"
idle_grace = 0

[pool.gpu0]
baseline = "2G"

[driver]
nvml = "/usr/lib/wsl/lib/libnvidia-ml.so.1"

[sense]
sample_every = "100ms"
idle_every = 5

[recording]
max_size = "128M"

[queue]
kill_grace = "30s"

[[tenant]]
id = "comfyui"
kind = "comfyui"
url = "http://127.0.0.1:8188/"
restart = "auto"
unit = "user:comfyui.service"
restart_deadline = "3m"
keep = true
slots = 2
pid = 4242
floor = { gpu0 = "0.4GiB", ram = 3221225472 }

[[tenant]]
id = "second"
kind = "comfyui"
url = "https://[::1]:8189"
restart = "ask"
restart_command = ["/usr/local/bin/restart", "이름"]

[launcher.claude]
command = ["claude", "-p", "{text}"]
[launcher."with.dot"]
command = ["run", "{file}", "{text}"]
)";

void expect_full(const Config& c) {
  EXPECT_EQ(c.policy.headroom, gib(1));
  EXPECT_EQ(c.policy.ram_headroom, gib(4));
  EXPECT_DOUBLE_EQ(c.policy.release_window, 2);
  EXPECT_DOUBLE_EQ(c.policy.release_deadline, 20);
  EXPECT_DOUBLE_EQ(c.policy.ask_deadline, 10.5);
  EXPECT_DOUBLE_EQ(c.policy.release_cooldown, 600);
  EXPECT_DOUBLE_EQ(c.policy.stuck_after, 120);
  EXPECT_DOUBLE_EQ(c.policy.idle_grace, 0);
  EXPECT_EQ(c.policy.baseline, (std::map<std::string, Bytes>{{"gpu0", gib(2)}}));
  EXPECT_EQ(c.nvml, "/usr/lib/wsl/lib/libnvidia-ml.so.1");
  EXPECT_DOUBLE_EQ(c.sample_every, 0.1);
  EXPECT_DOUBLE_EQ(c.idle_every, 5);
  EXPECT_EQ(c.recording_bytes, 128 << 20);
  EXPECT_DOUBLE_EQ(c.kill_grace, 30);
  ASSERT_EQ(c.tenants.size(), 2U);
  EXPECT_EQ(c.tenants[0].id, "comfyui");
  EXPECT_EQ(c.tenants[0].kind, "comfyui");
  EXPECT_EQ(c.tenants[0].url, "http://127.0.0.1:8188");
  EXPECT_EQ(c.tenants[0].unit, "user:comfyui.service");
  EXPECT_DOUBLE_EQ(c.tenants[0].restart_deadline, 180);
  EXPECT_EQ(c.tenants[0].pid, 4242);
  EXPECT_EQ(c.tenants[1].url, "https://[::1]:8189");
  EXPECT_EQ(c.tenants[1].restart_command, (std::vector<std::string>{"/usr/local/bin/restart", "이름"}));
  EXPECT_FALSE(c.tenants[1].pid.has_value());
  const TenantPolicy first{2, RestartLeave::automatic, true, {{"gpu0", Bytes{429496729}}, {"ram", gib(3)}}};
  const TenantPolicy second{1, RestartLeave::ask, false, {}};
  EXPECT_EQ(c.policy.tenants, (std::map<std::string, TenantPolicy>{{"comfyui", first}, {"second", second}}));
  ASSERT_EQ(c.launchers.size(), 2U);
  EXPECT_EQ(c.launchers.at("claude").command, (std::vector<std::string>{"claude", "-p", "{text}"}));
  EXPECT_EQ(c.launchers.at("with.dot").command.at(0), "run");
}

TEST(Read, EverySetting) {
  const auto reading = reading_of(kFull);
  EXPECT_TRUE(reading.findings.empty()) << to_string(reading.findings[0]);
  expect_full(reading.config);
}

TEST(Read, ByteOrderMarkAndCarriageReturns) {
  std::string text = "\xef\xbb\xbf";
  for (const char* c = kFull; *c != 0; ++c) text += *c == '\n' ? std::string("\r\n") : std::string(1, *c);
  const auto reading = reading_of(text);
  EXPECT_TRUE(reading.findings.empty()) << to_string(reading.findings[0]);
  expect_full(reading.config);
}

TEST(Read, EmptyAndAbsentFilesAreDefaults) {
  for (const char* text : {"", "\n", "# only a comment", "[policy]\n[queue]\n"}) {
    const auto reading = reading_of(text);
    EXPECT_TRUE(reading.findings.empty());
    EXPECT_EQ(reading.config.policy, Policy{});
    EXPECT_EQ(reading.config.recording_bytes, Config{}.recording_bytes);
  }
  Folder folder;
  EXPECT_TRUE(read_config(folder.file(), false).findings.empty());
  EXPECT_TRUE(read_config(folder.path() + "/no/such/folder/config.toml", false).findings.empty());
  const auto missing = read_config(folder.file(), true);
  ASSERT_EQ(missing.findings.size(), 1U);
  EXPECT_EQ(to_string(missing.findings[0]), folder.file() + ": there is no such file; name the right one with --config");
}

TEST(Read, ABadTenantDoesNotSpoilTheRest) {
  const auto reading = reading_of(R"(
[policy]
headroom = "1G"
idle_grace = "soon"
[[tenant]]
id = "bad"
kind = "comfyui"
url = "127.0.0.1:8188"
[[tenant]]
id = "good"
kind = "comfyui"
url = "http://localhost:8188"
slots = 0
floor = { gpu0 = "1G", gpuX = 1 }
)");
  EXPECT_EQ(reading.findings.size(), 4U);
  EXPECT_EQ(reading.config.policy.headroom, gib(1));
  EXPECT_DOUBLE_EQ(reading.config.policy.idle_grace, 5);
  ASSERT_EQ(reading.config.tenants.size(), 1U);
  EXPECT_EQ(reading.config.tenants[0].id, "good");
  EXPECT_EQ(reading.config.policy.tenants.size(), 1U);
  EXPECT_EQ(reading.config.policy.tenants.at("good").slots, 1);
  EXPECT_EQ(reading.config.policy.tenants.at("good").floor.size(), 1U);
}

}  // namespace
}  // namespace jipsa::test
