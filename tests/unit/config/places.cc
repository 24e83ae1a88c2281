#include <gtest/gtest.h>
#include <stdlib.h>

#include <map>

#include "reading.h"

namespace jipsa::test {
namespace {

// The variables as the test wants them; put back at the end.
class Places : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : kNames) {
      const char* value = ::getenv(name);
      if (value != nullptr) before_[name] = value;
      ::unsetenv(name);
    }
    set("HOME", "/home/me");
  }
  void TearDown() override {
    for (const char* name : kNames) ::unsetenv(name);
    for (const auto& [name, value] : before_) ::setenv(name.c_str(), value.c_str(), 1);
  }
  static void set(const char* name, const std::string& value) { ::setenv(name, value.c_str(), 1); }
  static void expect(const PlaceOptions& options, const std::string& config, const std::string& state,
                     const std::string& socket) {
    const auto places = find_places(options);
    ASSERT_TRUE(places) << places.error().what;
    EXPECT_EQ(places->config_file, config);
    EXPECT_EQ(places->state_dir, state);
    EXPECT_EQ(places->socket, socket);
  }

 private:
  static constexpr const char* kNames[] = {"HOME",         "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR",
                                           "JIPSA_CONFIG", "JIPSA_STATE",     "JIPSA_SOCKET"};
  std::map<std::string, std::string> before_;
};

TEST_F(Places, Defaults) {
  expect({}, "/home/me/.config/jipsa/config.toml", "/home/me/.local/state/jipsa", "/home/me/.local/state/jipsa/jipsa.sock");
}

TEST_F(Places, XdgFolders) {
  Folder folder;
  set("XDG_CONFIG_HOME", "/c");
  set("XDG_STATE_HOME", "/s");
  set("XDG_RUNTIME_DIR", folder.path());
  expect({}, "/c/jipsa/config.toml", "/s/jipsa", folder.path() + "/jipsa/jipsa.sock");
  set("XDG_RUNTIME_DIR", folder.path() + "/absent");
  expect({}, "/c/jipsa/config.toml", "/s/jipsa", "/s/jipsa/jipsa.sock");
  set("XDG_RUNTIME_DIR", "relative");
  set("XDG_STATE_HOME", "relative");
  set("XDG_CONFIG_HOME", "");
  expect({}, "/home/me/.config/jipsa/config.toml", "/home/me/.local/state/jipsa", "/home/me/.local/state/jipsa/jipsa.sock");
}

TEST_F(Places, AStateOfItsOwnHasItsOwnSocket) {
  Folder folder;
  set("XDG_RUNTIME_DIR", folder.path());
  set("JIPSA_STATE", "/elsewhere/");
  expect({}, "/home/me/.config/jipsa/config.toml", "/elsewhere", "/elsewhere/jipsa.sock");
  expect({"", "/option", ""}, "/home/me/.config/jipsa/config.toml", "/option", "/option/jipsa.sock");
  set("JIPSA_SOCKET", "/run/j.sock");
  expect({"", "/option", ""}, "/home/me/.config/jipsa/config.toml", "/option", "/run/j.sock");
}

TEST_F(Places, OptionsBeforeVariables) {
  set("JIPSA_CONFIG", "/v/config");
  set("JIPSA_STATE", "/v/state");
  set("JIPSA_SOCKET", "/v/socket");
  expect({}, "/v/config", "/v/state", "/v/socket");
  expect({"/o/config", "/o/state", "/o/socket"}, "/o/config", "/o/state", "/o/socket");
}

TEST_F(Places, RelativeOptionsBecomeAbsolute) {
  const auto here = std::filesystem::current_path().string();
  const auto places = find_places({"./c.toml", "/s", "/tmp/../tmp/x"});
  ASSERT_TRUE(places);
  EXPECT_EQ(places->config_file, here + "/c.toml");
  EXPECT_EQ(places->socket, "/tmp/x");
}

TEST_F(Places, WithoutHomeTheErrorNamesWhatToSet) {
  ::unsetenv("HOME");
  auto places = find_places({});
  ASSERT_FALSE(places);
  EXPECT_EQ(places.error().code, Code::bad_input);
  EXPECT_EQ(places.error().what, "HOME is not set: set HOME or JIPSA_CONFIG, or give --config");
  places = find_places({"/c", "", ""});
  ASSERT_FALSE(places);
  EXPECT_EQ(places.error().what, "HOME is not set: set HOME or JIPSA_STATE, or give --state");
  expect({"/c", "/s", ""}, "/c", "/s", "/s/jipsa.sock");
  set("HOME", "not/absolute");
  EXPECT_EQ(find_places({}).error().what, "HOME is not an absolute path: set HOME or JIPSA_CONFIG, or give --config");
}

TEST_F(Places, ALongSocketPathIsRefused) {
  const std::string longest = "/" + std::string(106, 's');
  expect({"/c", "/s", longest}, "/c", "/s", longest);
  const auto places = find_places({"/c", "/s", longest + "s"});
  ASSERT_FALSE(places);
  EXPECT_EQ(places.error().code, Code::bad_input);
  EXPECT_NE(places.error().what.find("can have 107 bytes, this one has 108; give a shorter one with --socket"), std::string::npos)
      << places.error().what;
}

}  // namespace
}  // namespace jipsa::test
