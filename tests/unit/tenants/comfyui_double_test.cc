// The adapter against the Python double: a whole server rather than single answers.
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "tenants/tenant.h"
#include "waiting.h"

namespace jipsa::test {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

class Double {
 public:
  explicit Double(std::vector<std::string> options) {
    std::string name = (fs::temp_directory_path() / "jipsa-double-XXXXXX").string();
    folder_ = mkdtemp(name.data());
    const std::string file = (folder_ / "port").string();
    std::vector<std::string> words = {
        "python3", std::string(JIPSA_TESTS_DIR) + "/doubles/comfyui.py", "--port", "0", "--port-file", file};
    words.insert(words.end(), options.begin(), options.end());
    std::vector<char*> argv;
    for (auto& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    setenv("PYTHONDONTWRITEBYTECODE", "1", 1);
    if (posix_spawnp(&pid_, "python3", nullptr, nullptr, argv.data(), environ) != 0) pid_ = 0;
    for (int i = 0; i < 3000 && port_ == 0; ++i) {
      std::ifstream(file) >> port_;
      if (port_ == 0) std::this_thread::sleep_for(20ms);
    }
  }
  ~Double() {
    if (pid_ > 0) {
      kill(pid_, SIGKILL);
      waitpid(pid_, nullptr, 0);
    }
    fs::remove_all(folder_);
  }
  Double(const Double&) = delete;
  Double& operator=(const Double&) = delete;
  [[nodiscard]] int port() const { return port_; }
  [[nodiscard]] std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }

 private:
  fs::path folder_;
  pid_t pid_ = 0;
  int port_ = 0;
};

class ComfyUiDouble : public testing::Test {
 protected:
  void start(const std::vector<std::string>& options) {
    server = std::make_unique<Double>(options);
    ASSERT_NE(server->port(), 0) << "the double did not start";
    TenantConfig config;
    config.kind = "comfyui";
    config.url = server->url();
    tenant = std::move(*make_tenant(config, *http));
  }
  TenantAnswer look() {
    return wait_for<TenantAnswer>(*loop, [&](auto take) { tenant->look(take); }).value_or(TenantAnswer{});
  }
  ReleaseAnswer release() {
    return wait_for<ReleaseAnswer>(*loop, [&](auto take) { tenant->release(take); }).value_or(ReleaseAnswer{});
  }
  HttpAnswer post(const std::string& path, const std::string& body) {
    HttpRequest request;
    request.method = "POST";
    request.url = server->url() + path;
    request.body = body;
    request.deadline = 20s;
    return wait_for<HttpAnswer>(*loop, [&](auto take) { http->call(request, take); }).value_or(HttpAnswer{});
  }
  // Looks until `condition` holds or some 20 s are over.
  template <class Condition>
  TenantAnswer look_until(Condition condition) {
    TenantAnswer answer;
    for (int i = 0; i < 400; ++i) {
      answer = look();
      if (condition(answer)) return answer;
      run_for(*loop, 50ms);
    }
    ADD_FAILURE() << "it did not come to that; " << answer.trouble;
    return answer;
  }

  std::unique_ptr<Double> server;
  std::unique_ptr<Loop> loop = std::move(*Loop::make());
  std::unique_ptr<HttpClient> http = std::make_unique<HttpClient>(*loop);
  std::unique_ptr<Tenant> tenant;
};

TEST_F(ComfyUiDouble, ADaysWork) {
  start({"--device", "cuda", "--hold-gpu", "1000000", "--floor-gpu", "0", "--vram-total", "8000000"});
  auto answer = look();
  EXPECT_EQ(answer.trouble, "");
  EXPECT_EQ(answer.running, 0);
  EXPECT_FALSE(answer.last_used_wall_ms.has_value());
  ASSERT_EQ(answer.devices.size(), 1U);
  EXPECT_EQ(answer.devices[0].free, Bytes{7000000});
  EXPECT_EQ(answer.devices[0].own, Bytes{1000000});

  const std::string prompt = R"({"prompt": {"1": {}}, "double": {"seconds": 1, "gpu_bytes": 2000000}})";
  EXPECT_EQ(post("/prompt", prompt).status, 200);
  EXPECT_EQ(post("/prompt", prompt).status, 200);
  answer = look_until([](const auto& a) { return a.running == 1 && a.pending == 1; });
  // A prompt leaves the queue a moment before it stands in the history, which is read again some seconds later.
  look_until([](const auto& a) { return a.running == 0 && a.pending == 0 && a.last_used_wall_ms.has_value(); });

  const auto freed = release();
  EXPECT_TRUE(freed.ok) << freed.error;
  look_until([](const auto& a) { return a.devices.size() == 1 && a.devices[0].free == Bytes{8000000}; });
}

TEST_F(ComfyUiDouble, OldServers) {
  start({"--shape", "nofree"});
  const auto answer = look();
  EXPECT_EQ(answer.trouble, "");
  EXPECT_EQ(answer.version, "");
  ASSERT_EQ(answer.devices.size(), 1U);
  EXPECT_TRUE(answer.devices[0].host_memory);
  EXPECT_TRUE(answer.devices[0].free.has_value());
  const auto freed = release();
  EXPECT_EQ(freed.status, 405);
  EXPECT_NE(freed.error.find("2024-01-04"), std::string::npos);
}

TEST_F(ComfyUiDouble, DeadWorker) {
  start({"--set", R"({"dead_on_free": true})"});
  EXPECT_TRUE(release().ok) << "a receipt, no more";
  run_for(*loop, 300ms);
  EXPECT_EQ(post("/prompt", R"({"prompt": {"1": {}}})").status, 200);
  const auto answer = look();
  EXPECT_EQ(answer.running, 0);
  EXPECT_EQ(answer.pending, 1);
}

}  // namespace
}  // namespace jipsa::test
