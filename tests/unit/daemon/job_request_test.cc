#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "daemon/api.h"

namespace jipsa {
namespace {

Config config() {
  Config c;
  c.launchers["agent"] = {{"run-agent", "--file", "{file}"}};
  TenantEntry tenant;
  tenant.id = "comfyui";
  c.tenants.push_back(tenant);
  return c;
}

TEST(JobRequest, TakesEverythingThatTheApiNames) {
  const auto job = parse_job(R"({"name":"video","command":["./run.sh","--x"],"dir":"/home/me","env":["K=V"],
    "needs":{"gpu":17179869184,"ram":5},"priority":-3,"tenant":"comfyui","bundle":"wan","after":[41,41,2]})",
                             config());
  ASSERT_TRUE(job) << job.error().what;
  EXPECT_EQ(job->job.name, "video");
  EXPECT_EQ(job->command, (std::vector<std::string>{"./run.sh", "--x"}));
  EXPECT_EQ(job->env, std::vector<std::string>{"K=V"});
  EXPECT_EQ(job->job.priority, -3);
  EXPECT_EQ(job->job.needs.size(), 2U);
  EXPECT_EQ(job->job.after, (std::vector<JobId>{41, 2}));
}

TEST(JobRequest, ALauncherGivesTheCommand) {
  const auto job = parse_job(R"({"launcher":"agent","text":"fix it"})", config());
  ASSERT_TRUE(job) << job.error().what;
  EXPECT_EQ(job->command.front(), "run-agent");
  EXPECT_EQ(job->text, "fix it");
}

struct Bad {
  const char* body;
  Code code;
  const char* names;  // what the error must name
};

class BadRequest : public testing::TestWithParam<Bad> {};

TEST_P(BadRequest, IsRefusedWithThePlaceInTheError) {
  const auto job = parse_job(GetParam().body, config());
  ASSERT_FALSE(job);
  EXPECT_EQ(job.error().code, GetParam().code);
  EXPECT_NE(job.error().what.find(GetParam().names), std::string::npos) << job.error().what;
}

INSTANTIATE_TEST_SUITE_P(
    All, BadRequest,
    testing::Values(
        Bad{"", Code::bad_input, "not JSON"}, Bad{"[]", Code::bad_input, "object"}, Bad{"{}", Code::bad_input, "command"},
        Bad{R"({"command":"ls"})", Code::bad_input, "command"}, Bad{R"({"command":[1]})", Code::bad_input, "command[0]"},
        Bad{R"({"command":[""]})", Code::bad_input, "command[0]"}, Bad{R"({"command":["a\u0000b"]})", Code::bad_input, "NUL"},
        Bad{R"({"command":["a"],"need":{}})", Code::bad_input, "need"},
        Bad{R"({"command":["a"],"needs":{"vram":1}})", Code::bad_input, "needs.vram"},
        Bad{R"({"command":["a"],"needs":{"gpu":-1}})", Code::bad_input, "needs.gpu"},
        Bad{R"({"command":["a"],"needs":{"gpu":1.5}})", Code::bad_input, "needs.gpu"},
        Bad{R"({"command":["a"],"needs":{"gpu":18446744073709551615}})", Code::bad_input, "needs.gpu"},
        Bad{R"({"command":["a"],"needs":{"gpu":1,"gpu0":1}})", Code::bad_input, "any one card"},
        Bad{R"({"command":["a"],"dir":"x"})", Code::bad_input, "dir"},
        Bad{R"({"command":["a"],"env":["=x"]})", Code::bad_input, "env[0]"},
        Bad{R"({"command":["a"],"after":[0]})", Code::bad_input, "after[0]"},
        Bad{R"({"command":["a"],"text":"x"})", Code::bad_input, "launcher"},
        Bad{R"({"command":["a"],"bundle":"x"})", Code::bad_input, "tenant"},
        Bad{R"({"command":["a"],"tenant":"x"})", Code::not_found, "comfyui"},
        Bad{R"({"launcher":"agent"})", Code::bad_input, "text"}, Bad{R"({"launcher":"x","text":"t"})", Code::not_found, "agent"},
        Bad{R"({"launcher":"agent","text":"t","command":["a"]})", Code::bad_input, "command"}));

RC_GTEST_PROP(JobRequest, NoBytesCrashIt, (const std::string& body)) {
  const auto job = parse_job(body, config());
  RC_ASSERT(job.has_value() || !job.error().what.empty());
}

}  // namespace
}  // namespace jipsa
