#include "tenants/comfyui.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>

#include "literal_server.h"
#include "waiting.h"

namespace jipsa::test {
namespace {

using namespace std::chrono_literals;

const char* const kStats = R"({"system": {"os": "posix", "comfyui_version": "0.3.64"},
 "devices": [{"name": "cuda:0 RTX : native", "type": "cuda", "index": 0, "vram_total": 34190917632, "vram_free": 16000000000,
  "torch_vram_total": 107374182, "torch_vram_free": 0}]})";

std::string remaining(int n) { return R"({"exec_info": {"queue_remaining": )" + std::to_string(n) + "}}"; }

std::string history(std::int64_t ms) {
  return R"({"p": {"status": {"messages": [["execution_success", {"timestamp": )" + std::to_string(ms) + "}]]}}}";
}

Reply silent() {
  Reply r;
  r.hold = true;
  return r;
}

class ComfyUiTest : public testing::Test {
 protected:
  ComfyUiTest() {
    server.set("GET /system_stats", reply(200, kStats));
    server.set("GET /prompt", reply(200, remaining(0)));
    server.set("GET /queue", reply(200, R"({"queue_running": [], "queue_pending": []})"));
    server.set("GET /history?max_items=1", reply(200, history(1796093425469)));
    server.set("POST /free", reply(200, "", "application/octet-stream"));
  }
  TenantAnswer look() {
    auto answer = wait_for<TenantAnswer>(*loop, [&](auto take) { comfy->look(take); });
    EXPECT_TRUE(answer.has_value()) << "no answer, or one from inside the call";
    return answer.value_or(TenantAnswer{});
  }
  ReleaseAnswer release() {
    auto answer = wait_for<ReleaseAnswer>(*loop, [&](auto take) { comfy->release(take); });
    EXPECT_TRUE(answer.has_value());
    return answer.value_or(ReleaseAnswer{});
  }
  long asked(const std::string& request) const {
    const auto all = server.requests();
    return std::count(all.begin(), all.end(), request);
  }

  LiteralServer server;
  std::unique_ptr<Loop> loop = std::move(*Loop::make());
  std::unique_ptr<HttpClient> http = std::make_unique<HttpClient>(*loop);
  std::unique_ptr<ComfyUi> comfy = std::make_unique<ComfyUi>(server.url(), *http);
};

TEST_F(ComfyUiTest, Idle) {
  const auto answer = look();
  EXPECT_TRUE(answer.reachable);
  EXPECT_EQ(answer.running, 0);
  EXPECT_EQ(answer.pending, 0);
  EXPECT_EQ(answer.last_used_wall_ms, 1796093425469);
  EXPECT_EQ(answer.version, "0.3.64");
  EXPECT_EQ(answer.trouble, "");
  ASSERT_EQ(answer.devices.size(), 1U);
  EXPECT_EQ(answer.devices[0].free, Bytes{16000000000});
  EXPECT_EQ(asked("GET /queue"), 0) << "whole workflows are not shipped to learn that there are none";
}

TEST_F(ComfyUiTest, RunningAndPending) {
  server.set("GET /prompt", reply(200, remaining(3)));
  server.set("GET /queue", reply(200, R"({"queue_running": [[1, "a"]], "queue_pending": [[2, "b"], [3, "c"]]})"));
  const auto answer = look();
  EXPECT_EQ(answer.running, 1);
  EXPECT_EQ(answer.pending, 2);
  EXPECT_FALSE(answer.last_used_wall_ms.has_value());
  EXPECT_EQ(answer.trouble, "");
  EXPECT_EQ(asked("GET /history?max_items=1"), 0);
}

TEST_F(ComfyUiTest, DeadWorkerShowsAsPendingAndNothingRunning) {
  server.set("GET /prompt", reply(200, remaining(1)));
  server.set("GET /queue", reply(200, R"({"queue_running": [], "queue_pending": [[2, "b"]]})"));
  const auto answer = look();
  EXPECT_EQ(answer.running, 0);
  EXPECT_EQ(answer.pending, 1);
}

TEST_F(ComfyUiTest, HistoryIsAskedOnceWhileNothingHappens) {
  for (int i = 0; i < 5; ++i) EXPECT_EQ(look().last_used_wall_ms, 1796093425469);
  EXPECT_EQ(asked("GET /history?max_items=1"), 1);
  server.set("GET /prompt", reply(200, remaining(1)));
  EXPECT_FALSE(look().last_used_wall_ms.has_value());
  server.set("GET /prompt", reply(200, remaining(0)));
  server.set("GET /history?max_items=1", reply(200, history(1796093500000)));
  EXPECT_EQ(look().last_used_wall_ms, 1796093500000);
  EXPECT_EQ(asked("GET /history?max_items=1"), 2);
}

TEST_F(ComfyUiTest, HistoryTroubleLeavesTheRestAlone) {
  const std::string huge = "{\"p\": \"" + std::string(2 << 20, 'x') + "\"}";
  server.set("GET /history?max_items=1", reply(200, huge));
  auto answer = look();
  EXPECT_EQ(answer.running, 0);
  EXPECT_FALSE(answer.last_used_wall_ms.has_value());
  EXPECT_EQ(answer.trouble, "") << "a long history is no fault";
  comfy = std::make_unique<ComfyUi>(server.url(), *http);
  server.set("GET /history?max_items=1", reply(500, "oops"));
  answer = look();
  EXPECT_EQ(answer.pending, 0);
  EXPECT_FALSE(answer.last_used_wall_ms.has_value());
  EXPECT_EQ(answer.trouble.find("GET /history: HTTP 500"), 0U) << answer.trouble;
}

TEST_F(ComfyUiTest, QueueTooLargeToShip) {
  server.set("GET /prompt", reply(200, remaining(40)));
  server.set("GET /queue", reply(200, "{\"queue_running\": [\"" + std::string(2 << 20, 'x') + "\"]}"));
  auto answer = look();
  EXPECT_FALSE(answer.running.has_value());
  EXPECT_EQ(answer.pending, 40);
  EXPECT_EQ(answer.trouble, "");
  EXPECT_FALSE(look().running.has_value());
  EXPECT_EQ(asked("GET /queue"), 1) << "not fetched again while it is as long";
  server.set("GET /prompt", reply(200, remaining(2)));
  server.set("GET /queue", reply(200, R"({"queue_running": [[1, "a"]], "queue_pending": [[2, "b"]]})"));
  answer = look();
  EXPECT_EQ(answer.running, 1);
  EXPECT_EQ(answer.pending, 1);
}

TEST_F(ComfyUiTest, BusyButTheQueueIsNoHelp) {
  server.set("GET /prompt", reply(200, remaining(1)));
  for (const char* body : {"<html>", "{}", R"({"queue_running": 1, "queue_pending": []})", ""}) {
    server.set("GET /queue", reply(200, body));
    const auto answer = look();
    EXPECT_FALSE(answer.running.has_value()) << body;
    EXPECT_EQ(answer.pending, 1) << body;
    EXPECT_EQ(answer.trouble.find("GET /queue: "), 0U) << answer.trouble;
  }
}

TEST_F(ComfyUiTest, UnknownQueueIsNotIdle) {
  for (const Reply& wrong :
       {reply(500, "x"), reply(403, ""), reply(200, "<html>"), reply(200, "{}"), reply(200, R"({"exec_info": {"queue_rem)")}) {
    server.set("GET /prompt", wrong);
    const auto answer = look();
    EXPECT_TRUE(answer.reachable);
    EXPECT_FALSE(answer.running.has_value());
    EXPECT_FALSE(answer.pending.has_value());
    EXPECT_EQ(answer.trouble.find("GET /prompt: "), 0U) << answer.trouble;
    EXPECT_EQ(answer.devices.size(), 1U);
  }
}

TEST_F(ComfyUiTest, UnknownStatsLeaveTheQueueKnown) {
  Reply cut = reply(200, kStats);
  cut.bytes.resize(cut.bytes.size() - 50);
  cut.keep_alive = false;
  for (const Reply& wrong : {reply(500, "x"), reply(403, ""), reply(404, "no"), reply(200, "<html>"), reply(200, "null"), cut}) {
    server.set("GET /system_stats", wrong);
    const auto answer = look();
    EXPECT_TRUE(answer.reachable);
    EXPECT_TRUE(answer.devices.empty());
    EXPECT_EQ(answer.running, 0);
    EXPECT_EQ(answer.trouble.find("GET /system_stats: "), 0U) << answer.trouble;
  }
}

TEST_F(ComfyUiTest, NobodyThere) {
  comfy = std::make_unique<ComfyUi>("http://127.0.0.1:" + std::to_string(closed_port()), *http);
  const auto answer = look();
  EXPECT_FALSE(answer.reachable);
  EXPECT_FALSE(answer.running.has_value());
  EXPECT_FALSE(answer.pending.has_value());
  EXPECT_TRUE(answer.devices.empty());
  EXPECT_EQ(answer.trouble, "GET /system_stats: connection refused: nothing listens there");
  const auto freed = release();
  EXPECT_FALSE(freed.ok);
  EXPECT_FALSE(freed.status.has_value());
}

TEST_F(ComfyUiTest, AcceptsAndNeverAnswers) {
  for (const char* request : {"GET /system_stats", "GET /prompt", "POST /free"}) server.set(request, silent());
  const auto answer = look();
  EXPECT_FALSE(answer.reachable);
  EXPECT_FALSE(answer.running.has_value());
  EXPECT_EQ(answer.trouble, "GET /system_stats: no answer within 2000 ms");
  const auto freed = release();
  EXPECT_FALSE(freed.ok);
  EXPECT_FALSE(freed.status.has_value());
  EXPECT_NE(freed.error.find("may still be carried out"), std::string::npos);
}

TEST_F(ComfyUiTest, AnotherServerAltogether) {
  for (const char* request : {"GET /system_stats", "GET /prompt"})
    server.set(request, reply(404, "<html>nginx</html>", "text/html"));
  const auto answer = look();
  EXPECT_TRUE(answer.reachable);
  EXPECT_FALSE(answer.running.has_value());
  EXPECT_EQ(answer.trouble.find("GET /system_stats: HTTP 404"), 0U) << answer.trouble;
}

TEST_F(ComfyUiTest, LookingHasNoSideEffects) {
  look();
  server.set("GET /prompt", reply(200, remaining(1)));
  look();
  server.set("GET /prompt", reply(500, ""));
  look();
  for (const auto& request : server.requests()) {
    EXPECT_TRUE(request == "GET /system_stats" || request == "GET /prompt" || request == "GET /queue" ||
                request == "GET /history?max_items=1")
        << request;
  }
}

TEST_F(ComfyUiTest, ReleaseAsksForBothAsJson) {
  const auto answer = release();
  EXPECT_TRUE(answer.ok);
  EXPECT_EQ(answer.status, 200);
  ASSERT_EQ(server.raw().size(), 1U);
  const auto text = server.raw()[0];
  EXPECT_EQ(text.find("POST /free HTTP/1.1\r\n"), 0U);
  EXPECT_NE(text.find("\r\nContent-Type: application/json\r\n"), std::string::npos);
  EXPECT_EQ(text.find("Origin"), std::string::npos);
  EXPECT_TRUE(text.ends_with("\r\n\r\n{\"unload_models\": true, \"free_memory\": true}"));
}

TEST_F(ComfyUiTest, ReleaseRefused) {
  for (const int status : {403, 404, 405, 500, 302}) {
    server.set("POST /free", reply(status, "x"));
    const auto answer = release();
    EXPECT_FALSE(answer.ok);
    EXPECT_EQ(answer.status, status);
    EXPECT_NE(answer.error, "");
  }
}

TEST_F(ComfyUiTest, ServerDiesOfTheRelease) {
  server.set("POST /free", Reply{});
  const auto answer = release();
  EXPECT_FALSE(answer.ok);
  EXPECT_FALSE(answer.status.has_value());
  EXPECT_EQ(asked("POST /free"), 1) << "never sent twice";
}

TEST_F(ComfyUiTest, DestroyedWhileAsking) {
  int called = 0;
  comfy->look([&](const TenantAnswer&) { ++called; });
  comfy->release([&](const ReleaseAnswer&) { ++called; });
  comfy.reset();
  run_for(*loop, 200ms);
  EXPECT_EQ(called, 0);
}

TEST_F(ComfyUiTest, ACallbackMayDestroyTheAdapter) {
  bool called = false;
  comfy->look([&](const TenantAnswer&) {
    called = true;
    comfy.reset();
    http.reset();
    loop->stop();
  });
  const auto guard = loop->after(30s, [&] { loop->stop(); });
  loop->run();
  loop->cancel(guard);
  EXPECT_TRUE(called);
}

class MakeTenant : public testing::Test {
 protected:
  Result<std::unique_ptr<Tenant>> make(const std::string& kind, const std::string& url) {
    TenantConfig config;
    config.id = "comfy1";
    config.kind = kind;
    config.url = url;
    return make_tenant(config, *http);
  }
  std::unique_ptr<Loop> loop = std::move(*Loop::make());
  std::unique_ptr<HttpClient> http = std::make_unique<HttpClient>(*loop);
};

TEST_F(MakeTenant, UnknownKindNamesTheKnownOnes) {
  const auto made = make("llama", "http://127.0.0.1:8188");
  ASSERT_FALSE(made.has_value());
  EXPECT_EQ(made.error().code, Code::unsupported);
  EXPECT_NE(made.error().what.find("comfy1"), std::string::npos);
  EXPECT_NE(made.error().what.find("comfyui"), std::string::npos);
}

TEST_F(MakeTenant, BadAddresses) {
  for (const char* url : {"", "127.0.0.1:8188", "ftp://h/", "http://", "http://h:99999", "http://h:1/?a=b", "http://h/#x",
                          "http://a b/", "file:///x"}) {
    const auto made = make("comfyui", url);
    ASSERT_FALSE(made.has_value()) << url;
    EXPECT_EQ(made.error().code, Code::bad_input) << url;
    EXPECT_NE(made.error().what.find("http://127.0.0.1:8188"), std::string::npos) << "shows how to write it";
  }
}

TEST_F(MakeTenant, SlashesAtTheEndDoNotMatter) {
  LiteralServer server;
  server.set("GET /ui/prompt", reply(200, remaining(0)));
  auto made = make("comfyui", server.url() + "/ui//");
  ASSERT_TRUE(made.has_value());
  const auto answer = wait_for<TenantAnswer>(*loop, [&](auto take) { (*made)->look(take); });
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(answer->running, 0);
}

}  // namespace
}  // namespace jipsa::test
