// Each mistake gives exactly the findings it should: place, what, mend.
#include <gtest/gtest.h>

#include "reading.h"

namespace jipsa::test {
namespace {

constexpr const char* kSizes =
    "write \"15G\", \"1.5 GiB\" or \"512M\" (of 1024), \"15GB\" or \"512MB\" (of 1000), or a whole number of bytes";

// A tenant that is good but for what `more` says.
std::string tenant(const std::string& more) {
  return "[[tenant]]\nid = \"c\"\nkind = \"comfyui\"\nurl = \"http://h:1\"\n" + more;
}

TEST(Findings, UnknownKeysSuggestTheNearest) {
  EXPECT_EQ(findings_of("[policy]\nheadrom = 1\n"), "F:2: policy.headrom: unknown key; did you mean \"headroom\"?\n");
  EXPECT_EQ(findings_of("[polcy]\nx = 1\n"), "F:1: polcy: unknown key; did you mean \"policy\"?\n");
  EXPECT_EQ(findings_of("[[tenants]]\nid = 1\n"), "F:1: tenants: unknown key; did you mean \"tenant\"?\n");
  EXPECT_EQ(findings_of("[queue]\n\n\"색\" = 1\n"), "F:3: queue.색: unknown key; known here: kill_grace\n");
  EXPECT_EQ(findings_of(tenant("Keep = true\n")), "F:5: tenant[0].Keep: unknown key; did you mean \"keep\"?\n");
  EXPECT_EQ(findings_of("[launcher.a]\ncommand = [\"x\"]\nstdin = true\n"),
            "F:3: launcher.a.stdin: unknown key; known here: command\n");
  EXPECT_EQ(findings_of("\"new\\nline\" = 1\n").substr(0, 30), "F:1: new?line: unknown key; kn");
}

TEST(Findings, Sizes) {
  const auto bad = [](const std::string& value) { return findings_of("[policy]\nheadroom = " + value + "\n"); };
  const std::string at = "F:2: policy.headroom: ";
  EXPECT_EQ(bad("-1"), at + "-1 is negative; " + kSizes + "\n");
  EXPECT_EQ(bad("1.5"), at + "1.5 has a fraction and no unit; " + kSizes + "\n");
  EXPECT_EQ(bad("nan"), at + "nan has a fraction and no unit; " + kSizes + "\n");
  EXPECT_EQ(bad("\"15X\""), at + "\"15X\" is not a size: no unit is called \"x\"; " + kSizes + "\n");
  EXPECT_EQ(bad("\"-2G\""), at + "\"-2G\" is not a size; " + kSizes + "\n");
  EXPECT_EQ(bad("true"), at + "is true or false, and should be a size; " + kSizes + "\n");
  EXPECT_EQ(bad("[1]"), at + "is a list, and should be a size; " + kSizes + "\n");
  EXPECT_EQ(bad("2026-01-01"), at + "is a date or time, and should be a size; " + kSizes + "\n");
  EXPECT_EQ(bad("4611686018427387904"), at + "4611686018427387904 is too large; write less than 4 EiB\n");
}

TEST(Findings, Durations) {
  const auto bad = [](const std::string& value) { return findings_of("[policy]\nstuck_after = " + value + "\n"); };
  const std::string at = "F:2: policy.stuck_after: ";
  const std::string forms = "write seconds as a number, or \"500ms\", \"30s\", \"10m\", \"2h\" or \"1d\"\n";
  EXPECT_EQ(bad("-1"), at + "-1 is not a duration; " + forms);
  EXPECT_EQ(bad("inf"), at + "inf is not a duration; " + forms);
  EXPECT_EQ(bad("\"10 min\""), at + "\"10 min\" is not a duration: no unit is called \"min\"; " + forms);
  EXPECT_EQ(bad("0"), at + "must be more than 0; write a longer duration, or leave the key out\n");
  EXPECT_EQ(bad("{}"), at + "is a table; " + forms);
  EXPECT_EQ(bad("1e99"), at + "1e+99 seconds is longer than a year; write less\n");
  EXPECT_EQ(findings_of("[policy]\nrelease_window = 40\n"),
            "F:2: policy.release_window: 40 s is longer than release_deadline, 30 s; make it shorter, or the deadline longer\n");
}

TEST(Findings, WrongShapes) {
  EXPECT_EQ(findings_of("policy = 3\n"), "F:1: policy: is a number; write a table: [policy]\n");
  EXPECT_EQ(findings_of("[tenant]\nid = \"c\"\n"),
            "F:1: tenant: is a table; write [[tenant]], with two brackets, once for each server\n");
  EXPECT_EQ(findings_of("tenant = [1]\n"), "F:1: tenant[0]: is a number; write [[tenant]]\n");
  EXPECT_EQ(findings_of("[launcher]\ncommand = [\"x\"]\n"),
            "F:2: launcher.command: is a list; write [launcher.NAME] and below it command = [\"program\", \"{text}\"]\n");
  EXPECT_EQ(findings_of("[pool]\ngpu0 = 1\n"), "F:2: pool.gpu0: is a number; write a table: [pool.gpu0]\n");
}

TEST(Findings, PoolsDriverSenseRecordingQueue) {
  EXPECT_EQ(findings_of("[pool.gpu]\nbaseline = 1\n"), "F:1: pool.gpu: unknown pool; pools are gpu0, gpu1, … and ram\n");
  EXPECT_EQ(findings_of("[pool.ram]\nbaseline = 1\n"),
            "F:2: pool.ram.baseline: host memory has none: what no listed process holds is its baseline; remove this line\n");
  EXPECT_EQ(findings_of("[driver]\nnvml = \"libnvidia-ml.so\"\n"),
            "F:2: driver.nvml: \"libnvidia-ml.so\" is not an absolute path; begin it with '/'\n");
  EXPECT_EQ(findings_of("[driver]\nnvml = \"\"\n"), "F:2: driver.nvml: is empty; write text, or leave the key out\n");
  EXPECT_EQ(findings_of("[sense]\nsample_every = 0.001\n"),
            "F:2: sense.sample_every: 0.001 s is too often; write 0.02 or more\n");
  EXPECT_EQ(findings_of("[sense]\nsample_every = 10\n"),
            "F:2: sense.sample_every: an idle daemon would look more often than a busy one; make idle_every at least as long as "
            "sample_every\n");
  EXPECT_EQ(findings_of("[recording]\nmax_size = 1\n"),
            "F:2: recording.max_size: is too small to hold anything; write \"64K\" or more\n");
  EXPECT_EQ(findings_of("[queue]\nkill_grace = \"x\"\n").substr(0, 42), "F:2: queue.kill_grace: \"x\" is not a durati");
}

TEST(Findings, TenantBasics) {
  EXPECT_EQ(findings_of("\n[[tenant]]\n"),
            "F:2: tenant[0].id: is missing; write id = \"comfyui\", a name of your choice\n"
            "F:2: tenant[0].kind: is missing; known kinds: comfyui\n"
            "F:2: tenant[0].url: is missing; write url = \"http://127.0.0.1:8188\"\n");
  EXPECT_EQ(findings_of("[[tenant]]\nid = 5\nkind = \"comfyui\"\nurl = \"http://h\"\n"),
            "F:2: tenant[0].id: is a number; write text in quotes\n");
  EXPECT_EQ(findings_of("[[tenant]]\nid = \"a b\"\nkind = \"comfyui\"\nurl = \"http://h\"\n"),
            "F:2: tenant[0].id: \"a b\" is not a name; use up to 64 letters, digits, '_', '.' and '-'\n");
  EXPECT_EQ(findings_of("[[tenant]]\nid = \"a\"\nkind = \"comfyUI\"\nurl = \"http://h\"\n"),
            "F:3: tenant[0].kind: \"comfyUI\" is not a known kind; did you mean \"comfyui\"?\n");
  EXPECT_EQ(findings_of("[[tenant]]\nid = \"a\"\nkind = \"vllm\"\nurl = \"http://h\"\n"),
            "F:3: tenant[0].kind: \"vllm\" is not a known kind; known kinds: comfyui\n");
  EXPECT_EQ(findings_of(tenant("") + "[[tenant]]\nid = \"c\"\nkind = \"comfyui\"\nurl = \"http://h:2\"\n"),
            "F:6: tenant[1].id: \"c\" is the id of an earlier tenant too; give each its own\n");
  EXPECT_EQ(findings_of(tenant("") + "[[tenant]]\nid = \"d\"\nkind = \"comfyui\"\nurl = \"http://h:1/\"\n"),
            "F:8: tenant[1].url: is the url of tenant \"c\" too; remove one of the two: a server is one tenant\n");
}

TEST(Findings, Urls) {
  const auto with = [](const std::string& url) {
    return findings_of("[[tenant]]\nid = \"c\"\nkind = \"comfyui\"\nurl = \"" + url + "\"\n");
  };
  for (const char* good :
       {"http://127.0.0.1:8188", "https://host", "http://my-host.local:65535/", "http://[::1]:80", "http://[fe80::1]"})
    EXPECT_EQ(with(good), "") << good;
  for (const char* bad : {"ftp://h", "127.0.0.1:8188", "HTTP//h", "http://", "http:///", "http://:80", "http://h:", "http://h:0",
                          "http://h:65536", "http://h:8 0", "http://h:80/path", "http://h?x=1", "http://u:p@h:80", "http://h h",
                          "http://[::1", "http://[]", "http://::1:80", "http://호스트:80"}) {
    const auto finding = with(bad);
    EXPECT_EQ(finding.rfind("F:4: tenant[0].url: ", 0), 0U) << bad << " gave " << finding;
    EXPECT_NE(finding.find("; write \"http://127.0.0.1:8188\"\n"), std::string::npos) << finding;
  }
}

TEST(Findings, Restart) {
  EXPECT_EQ(findings_of(tenant("restart = \"auto\"\n")),
            "F:5: tenant[0].restart: \"auto\" needs a way to restart; add restart_command = [\"…\"] or unit = \"….service\"\n");
  EXPECT_EQ(findings_of(tenant("restart = \"always\"\n")),
            "F:5: tenant[0].restart: \"always\" is not known; write \"never\", \"ask\" or \"auto\"\n");
  EXPECT_EQ(findings_of(tenant("unit = \"a.service\"\nrestart_command = [\"x\"]\n")),
            "F:5: tenant[0].unit: stands beside restart_command; keep one of the two\n");
  EXPECT_EQ(findings_of(tenant("unit = \"a b\"\nrestart = \"auto\"\n")),
            "F:5: tenant[0].unit: \"a b\" is not a unit's name; write \"comfyui.service\", or \"user:comfyui.service\" for your "
            "own manager\n");
  EXPECT_EQ(findings_of(tenant("restart_command = \"systemctl restart x\"\n")),
            "F:5: tenant[0].restart_command: is text; write a list of text: [\"program\", \"argument\"]\n");
  EXPECT_EQ(findings_of(tenant("restart_command = [\"x\", 5]\n")),
            "F:5: tenant[0].restart_command[1]: is a number; put it in quotes\n");
  EXPECT_EQ(findings_of(tenant("restart_deadline = 0\n")).substr(0, 55),
            "F:5: tenant[0].restart_deadline: must be more than 0; w");
  EXPECT_EQ(reading_of(tenant("restart = \"auto\"\n")).config.policy.tenants.at("c").restart, RestartLeave::never);
}

TEST(Findings, TenantNumbersAndFloor) {
  EXPECT_EQ(findings_of(tenant("slots = 0\n")), "F:5: tenant[0].slots: 0 is out of range; write a whole number from 1 to 1000\n");
  EXPECT_EQ(findings_of(tenant("slots = \"2\"\n")), "F:5: tenant[0].slots: is text; write a whole number from 1 to 1000\n");
  EXPECT_EQ(findings_of(tenant("pid = -1\n")),
            "F:5: tenant[0].pid: -1 is out of range; write a whole number from 1 to 4194304\n");
  EXPECT_EQ(findings_of(tenant("keep = \"yes\"\n")), "F:5: tenant[0].keep: is text; write true or false, without quotes\n");
  EXPECT_EQ(findings_of(tenant("floor = 1\n")), "F:5: tenant[0].floor: is a number; write a table: [tenant[0].floor]\n");
  EXPECT_EQ(findings_of(tenant("[tenant.floor]\ngpu = 1\nram = \"x\"\n")),
            std::string("F:6: tenant[0].floor.gpu: unknown pool; pools are gpu0, gpu1, … and ram\n"
                        "F:7: tenant[0].floor.ram: \"x\" is not a size; ") +
                kSizes + "\n");
}

TEST(Findings, Launchers) {
  EXPECT_EQ(findings_of("[launcher.a]\n"), "F:1: launcher.a.command: is missing; write command = [\"program\", \"{text}\"]\n");
  EXPECT_EQ(findings_of("[launcher.a]\ncommand = []\n"),
            "F:2: launcher.a.command: is empty; write a list of text: [\"program\", \"argument\"]\n");
  EXPECT_EQ(findings_of("[launcher.a]\ncommand = [\"\", \"x\"]\n"),
            "F:2: launcher.a.command: names no program; write a list of text: [\"program\", \"argument\"]\n");
  EXPECT_EQ(findings_of("[launcher.a]\ncommand = [\"x\", \"\\u0000\"]\n"),
            "F:2: launcher.a.command[1]: has a NUL in it; leave it out: no program can be given one\n");
  EXPECT_EQ(findings_of("[launcher.\"a b\"]\ncommand = [\"x\"]\n"),
            "F:1: launcher.a b: \"a b\" is not a name; use up to 64 letters, digits, '_', '.' and '-'\n");
}

TEST(Findings, AllOfThemInTheOrderOfTheFile) {
  const auto all = findings_of("[queue]\nkill_grace = []\n[sense]\nx = 1\n[policy]\nheadroom = -1\n[[tenant]]\n");
  EXPECT_EQ(std::count(all.begin(), all.end(), '\n'), 6);
  EXPECT_LT(all.find("queue"), all.find("sense"));
  EXPECT_LT(all.find("sense"), all.find("policy"));
  EXPECT_LT(all.find("policy"), all.find("tenant"));
}

}  // namespace
}  // namespace jipsa::test
