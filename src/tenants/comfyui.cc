#include "tenants/comfyui.h"

#include <fmt/core.h>

#include <chrono>
#include <utility>

#include "tenants/comfyui_answers.h"

namespace jipsa {

namespace {

using namespace std::chrono_literals;
using Steady = std::chrono::steady_clock;

constexpr auto kLookDeadline = 2000ms;    // each of the two first questions, asked side by side
constexpr auto kSecondDeadline = 1000ms;  // the one that may follow: a look ends within three seconds
constexpr auto kFreeDeadline = 5000ms;
constexpr std::size_t kMostQueue = 1 << 20;
constexpr std::size_t kMostHistory = 1 << 20;

// A prompt that came and went between two looks leaves the queue as it was: only the history knows.
constexpr auto kHistoryAge = 10s;

// unload_models alone only moves models to host memory; texts would count as true, so these are real booleans.
constexpr const char* kFreeBody = R"({"unload_models": true, "free_memory": true})";

}  // namespace

struct ComfyUi::Looking {
  TenantAnswer answer;
  std::function<void(TenantAnswer)> done;
  int open = 2;
  std::optional<std::int64_t> remaining;
  std::string stats_finding, prompt_finding;

  void trouble(const char* request, const std::string& finding) {
    if (finding.empty()) return;
    if (!answer.trouble.empty()) answer.trouble += "; ";
    answer.trouble += fmt::format("{}: {}", request, finding);
  }
  void finish() { std::exchange(done, nullptr)(std::move(answer)); }
};

class ComfyUi::Impl : public std::enable_shared_from_this<ComfyUi::Impl> {
 public:
  Impl(std::string address, HttpClient& http) : address_(std::move(address)), http_(http) {}

  void look(std::function<void(TenantAnswer)> done) {
    auto looking = std::make_shared<Looking>();
    looking->done = std::move(done);
    get("/system_stats", kLookDeadline, 1 << 20, [this, looking](const HttpAnswer& a) { took_stats(looking, a); });
    get("/prompt", kLookDeadline, 64 << 10, [this, looking](const HttpAnswer& a) { took_prompt(looking, a); });
  }

  void release(std::function<void(ReleaseAnswer)> done) {
    HttpRequest request;
    request.method = "POST";
    request.url = address_ + "/free";
    request.headers = {"Content-Type: application/json"};
    request.body = kFreeBody;
    request.deadline = kFreeDeadline;
    request.max_body = 64 << 10;
    http_.call(std::move(request), [self = weak_from_this(), done = std::move(done)](const HttpAnswer& answer) {
      if (const auto me = self.lock()) done(comfyui::read_free(answer, me->address_));
    });
  }

 private:
  using Took = std::function<void(const HttpAnswer&)>;
  using Shared = std::shared_ptr<Looking>;

  void get(const char* path, std::chrono::milliseconds deadline, std::size_t most, Took took) {
    HttpRequest request;
    request.url = address_ + path;
    request.deadline = deadline;
    request.max_body = most;
    http_.call(std::move(request), [self = weak_from_this(), took = std::move(took)](const HttpAnswer& answer) {
      if (const auto me = self.lock()) took(answer);
    });
  }

  void took_stats(const Shared& looking, const HttpAnswer& http) {
    looking->answer.reachable |= http.status != 0;
    std::string finding = comfyui::not_data(http);
    if (finding.empty()) {
      auto stats = comfyui::read_system_stats(http.body);
      looking->answer.devices = std::move(stats.devices);
      looking->answer.version = std::move(stats.version);
      finding = std::move(stats.trouble);
    }
    looking->stats_finding = std::move(finding);
    took_first(looking);
  }

  void took_prompt(const Shared& looking, const HttpAnswer& http) {
    looking->answer.reachable |= http.status != 0;
    std::string finding = comfyui::not_data(http);
    if (finding.empty()) {
      auto remaining = comfyui::read_prompt(http.body);
      looking->remaining = remaining.count;
      finding = std::move(remaining.trouble);
    }
    looking->prompt_finding = std::move(finding);
    took_first(looking);
  }

  void took_first(const Shared& looking) {
    if (--looking->open > 0) return;
    looking->trouble("GET /system_stats", looking->stats_finding);
    if (looking->prompt_finding != looking->stats_finding) looking->trouble("GET /prompt", looking->prompt_finding);
    if (looking->remaining == 0) {
      looking->answer.running = 0;
      looking->answer.pending = 0;
      return ask_history(looking);
    }
    last_used_.reset();
    history_read_.reset();  // something runs, or nobody knows: what the history says next is news
    if (!looking->remaining || *looking->remaining >= too_many_) return give_remaining(looking);
    get("/queue", kSecondDeadline, kMostQueue, [this, looking](const HttpAnswer& a) { took_queue(looking, a); });
  }

  // The server has work, but not how much of it runs: `running` stays unknown, which no one may take for idle.
  void give_remaining(const Shared& looking) {
    looking->answer.pending = looking->remaining;
    looking->finish();
  }

  void took_queue(const Shared& looking, const HttpAnswer& http) {
    if (http.outcome == HttpAnswer::Outcome::too_large) {
      too_many_ = *looking->remaining;  // so long a queue is not asked for again
      return give_remaining(looking);
    }
    std::string finding = comfyui::not_data(http);
    comfyui::Queue queue;
    if (finding.empty()) {
      queue = comfyui::read_queue(http.body);
      finding = std::move(queue.trouble);
    }
    looking->trouble("GET /queue", finding);
    if (!queue.running || !queue.pending) return give_remaining(looking);
    too_many_ = kNoLimit;
    looking->answer.running = queue.running;
    looking->answer.pending = queue.pending;
    looking->finish();
  }

  void ask_history(const Shared& looking) {
    too_many_ = kNoLimit;
    const auto now = Steady::now();
    if (history_read_ && now - *history_read_ < kHistoryAge) {
      looking->answer.last_used_wall_ms = last_used_;
      return looking->finish();
    }
    history_read_ = now;
    last_used_.reset();
    get("/history?max_items=1", kSecondDeadline, kMostHistory,
        [this, looking](const HttpAnswer& a) { took_history(looking, a); });
  }

  void took_history(const Shared& looking, const HttpAnswer& http) {
    if (http.outcome == HttpAnswer::Outcome::too_large)
      return looking->finish();  // a workflow of megabytes: when is not worth it
    std::string finding = comfyui::not_data(http);
    if (finding.empty()) {
      auto history = comfyui::read_history(http.body);
      last_used_ = history.newest_ms;
      finding = std::move(history.trouble);
    }
    looking->trouble("GET /history", finding);
    looking->answer.last_used_wall_ms = last_used_;
    looking->finish();
  }

  static constexpr std::int64_t kNoLimit = INT64_MAX;
  const std::string address_;
  HttpClient& http_;
  std::optional<Steady::time_point> history_read_;  // since when the queue has been seen empty only
  std::optional<std::int64_t> last_used_;
  std::int64_t too_many_ = kNoLimit;  // a queue of this length was too large to be shipped
};

ComfyUi::ComfyUi(std::string address, HttpClient& http) : impl_(std::make_shared<Impl>(std::move(address), http)) {}
ComfyUi::~ComfyUi() = default;
void ComfyUi::look(std::function<void(TenantAnswer)> done) { impl_->look(std::move(done)); }
void ComfyUi::release(std::function<void(ReleaseAnswer)> done) { impl_->release(std::move(done)); }

}  // namespace jipsa
