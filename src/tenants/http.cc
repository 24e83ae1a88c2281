#include "tenants/http.h"

#include <curl/curl.h>
#include <fmt/core.h>
#include <sys/epoll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <map>
#include <set>
#include <utility>

namespace jipsa {

namespace {

using Outcome = HttpAnswer::Outcome;
using Done = std::function<void(HttpAnswer)>;

// Headers are kept by the library for as long as the call lives; a server that never stops sending them must not fill memory.
constexpr std::size_t kMaxHead = 64 << 10;
constexpr long kMaxIdleConnections = 16;

struct EasyCleanup {
  void operator()(CURL* easy) const { curl_easy_cleanup(easy); }
};
struct ListFree {
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};

struct Call {
  HttpRequest request;
  Done done;
  std::string body;
  std::size_t head = 0;
  bool too_large = false;
  std::array<char, CURL_ERROR_SIZE> message{};
  std::unique_ptr<curl_slist, ListFree> headers;
  std::unique_ptr<CURL, EasyCleanup> easy;
};

std::size_t take_body(char* data, std::size_t size, std::size_t count, void* user) {
  auto* call = static_cast<Call*>(user);
  const std::size_t bytes = size * count;
  if (bytes > call->request.max_body - std::min(call->body.size(), call->request.max_body)) {
    call->too_large = true;
    return 0;  // anything but `bytes` ends the call
  }
  call->body.append(data, bytes);
  return bytes;
}

std::size_t take_head(char*, std::size_t size, std::size_t count, void* user) {
  auto* call = static_cast<Call*>(user);
  call->head += size * count;
  if (call->head > kMaxHead) {
    call->too_large = true;
    return 0;
  }
  return size * count;
}

bool has_control(const std::string& text) {
  return std::any_of(text.begin(), text.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; });
}

// What would break the request's lines apart; empty when all is well.
std::string malformed(const HttpRequest& request) {
  if (request.method.empty() || has_control(request.method) || request.method.find(' ') != std::string::npos) return "method";
  if (has_control(request.url)) return "address";
  for (const auto& header : request.headers) {
    if (has_control(header)) return "header";
  }
  return "";
}

// False where memory ran out.
bool add_headers(Call& call) {
  std::vector<std::string> lines = call.request.headers;
  lines.emplace_back("Expect:");  // no waiting for a 100 that small servers never send
  for (const auto& line : lines) {
    curl_slist* longer = curl_slist_append(call.headers.get(), line.c_str());
    if (longer == nullptr) return false;
    (void)call.headers.release();
    call.headers.reset(longer);
  }
  return curl_easy_setopt(call.easy.get(), CURLOPT_HTTPHEADER, call.headers.get()) == CURLE_OK;
}

void set_method(CURL* easy, const HttpRequest& request) {
  const bool safe = request.method == "GET" || request.method == "HEAD";
  if (request.method == "HEAD") {
    curl_easy_setopt(easy, CURLOPT_NOBODY, 1L);
  } else if (request.method != "GET" || !request.body.empty()) {
    curl_easy_setopt(easy, CURLOPT_POST, 1L);
    curl_easy_setopt(easy, CURLOPT_POSTFIELDS, request.body.c_str());
    curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
    if (request.method != "POST") curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, request.method.c_str());
  }
  if (!safe) curl_easy_setopt(easy, CURLOPT_FRESH_CONNECT, 1L);
}

// False where this libcurl can't do what is promised (it is then better not to call at all).
bool set_up(Call& call) {
  CURL* easy = call.easy.get();
  const auto deadline = static_cast<long>(std::clamp<std::int64_t>(call.request.deadline.count(), 1, 86'400'000));
  set_method(easy, call.request);
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, take_body);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, &call);
  curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, take_head);
  curl_easy_setopt(easy, CURLOPT_HEADERDATA, &call);
  curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, call.message.data());
  curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, deadline);
  curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, deadline);
  curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
  curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
  return curl_easy_setopt(easy, CURLOPT_URL, call.request.url.c_str()) == CURLE_OK &&
         curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L) == CURLE_OK &&
         curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https") == CURLE_OK &&
         curl_easy_setopt(easy, CURLOPT_PROXY, "") == CURLE_OK && curl_easy_setopt(easy, CURLOPT_NOPROXY, "*") == CURLE_OK &&
         curl_easy_setopt(easy, CURLOPT_USERAGENT, "jipsa") == CURLE_OK && add_headers(call);
}

HttpAnswer broken(std::string error) { return {Outcome::broken, 0, "", std::move(error)}; }

HttpAnswer timed_out(const Call& call, int status) {
  const auto ms = call.request.deadline.count();
  return {Outcome::timed_out, status, "",
          status == 0 ? fmt::format("no answer within {} ms", ms)
                      : fmt::format("an answer began (HTTP {}) but was not whole within {} ms", status, ms)};
}

HttpAnswer too_large(const Call& call, int status) {
  return {Outcome::too_large, status, "",
          call.head > kMaxHead ? fmt::format("the answer's headers are longer than {} bytes", kMaxHead)
                               : fmt::format("the answer is longer than {} bytes", call.request.max_body)};
}

HttpAnswer to_answer(Call& call, CURLcode code) {
  long response = 0;
  long system_error = 0;
  curl_easy_getinfo(call.easy.get(), CURLINFO_RESPONSE_CODE, &response);
  curl_easy_getinfo(call.easy.get(), CURLINFO_OS_ERRNO, &system_error);
  const int status = response >= 200 && response <= 999 ? static_cast<int>(response) : 0;  // 1xx announces an answer, it is none
  if (call.too_large) return too_large(call, status);
  if (code == CURLE_OPERATION_TIMEDOUT) return timed_out(call, status);
  if (code == CURLE_OK && status != 0) return {Outcome::answered, status, std::move(call.body), ""};
  if (code == CURLE_OK) return broken("no HTTP answer came");
  if (code == CURLE_COULDNT_CONNECT && system_error == ECONNREFUSED) {
    return {Outcome::connection_refused, 0, "", "connection refused: nothing listens there"};
  }
  HttpAnswer answer = broken(call.message[0] != '\0' ? call.message.data() : curl_easy_strerror(code));
  if (code == CURLE_COULDNT_CONNECT && system_error != 0)
    answer.error += fmt::format(" ({})", std::strerror(static_cast<int>(system_error)));
  answer.status = status;
  return answer;
}

}  // namespace

struct HttpClient::Impl {
  explicit Impl(Loop& l) : loop(l) {
    if (curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK) initialised = true;
    if (initialised) multi = curl_multi_init();
    if (multi == nullptr) return;
    curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, socket_changed);
    curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, this);
    curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, timer_changed);
    curl_multi_setopt(multi, CURLMOPT_TIMERDATA, this);
    curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, kMaxIdleConnections);
  }

  ~Impl() {
    alive.reset();
    for (auto& [easy, call] : calls) curl_multi_remove_handle(multi, easy);
    calls.clear();
    if (multi != nullptr) curl_multi_cleanup(multi);
    for (const int fd : watched) loop.unwatch(fd);
    if (timer != 0) loop.cancel(timer);
    if (initialised) curl_global_cleanup();
  }

  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  static int socket_changed(CURL*, curl_socket_t fd, int what, void* user, void*) {
    static_cast<Impl*>(user)->watch(fd, what);
    return 0;
  }

  static int timer_changed(CURLM*, long ms, void* user) {
    static_cast<Impl*>(user)->set_timer(ms);
    return 0;
  }

  void watch(int fd, int what) {
    if (what == CURL_POLL_REMOVE) {
      if (watched.erase(fd) != 0) loop.unwatch(fd);
      return;
    }
    std::uint32_t events = 0;
    if ((what & CURL_POLL_IN) != 0) events |= EPOLLIN;
    if ((what & CURL_POLL_OUT) != 0) events |= EPOLLOUT;
    // A descriptor that can't be watched leaves its call to the deadline, which runs on the timer.
    if (loop.watch(fd, events, [this, fd](std::uint32_t seen) { ready(fd, seen); })) watched.insert(fd);
  }

  void set_timer(long ms) {
    if (timer != 0) loop.cancel(std::exchange(timer, 0));
    if (ms < 0) return;
    timer = loop.after(std::chrono::milliseconds(ms), [this] {
      timer = 0;
      act(CURL_SOCKET_TIMEOUT, 0);
    });
  }

  void ready(int fd, std::uint32_t seen) {
    int mask = 0;
    if ((seen & EPOLLIN) != 0) mask |= CURL_CSELECT_IN;
    if ((seen & EPOLLOUT) != 0) mask |= CURL_CSELECT_OUT;
    if ((seen & (EPOLLERR | EPOLLHUP)) != 0) mask |= CURL_CSELECT_ERR;
    act(fd, mask);
  }

  void act(curl_socket_t fd, int mask) {
    int open = 0;
    curl_multi_socket_action(multi, fd, mask, &open);
    hand_over(take_ended());
  }

  // Takes every finished call out of the library first: the callbacks may start new ones, or destroy this client.
  std::vector<std::pair<Done, HttpAnswer>> take_ended() {
    std::vector<std::pair<Done, HttpAnswer>> ended;
    int left = 0;
    while (const CURLMsg* message = curl_multi_info_read(multi, &left)) {
      if (message->msg != CURLMSG_DONE) continue;
      CURL* easy = message->easy_handle;
      const CURLcode code = message->data.result;
      auto node = calls.extract(easy);
      if (node.empty()) continue;
      ended.emplace_back(std::move(node.mapped()->done), to_answer(*node.mapped(), code));
      curl_multi_remove_handle(multi, easy);
    }
    return ended;
  }

  void hand_over(std::vector<std::pair<Done, HttpAnswer>> ended) {
    const std::weak_ptr<bool> still = alive;
    for (auto& [done, answer] : ended) {
      if (still.expired()) return;
      done(std::move(answer));
    }
  }

  void fail_later(Done done, std::string why) {
    loop.post([still = std::weak_ptr<bool>(alive), done = std::move(done), why = std::move(why)] {
      if (!still.expired()) done(broken(why));
    });
  }

  Loop& loop;
  bool initialised = false;
  CURLM* multi = nullptr;
  Loop::TimerId timer = 0;
  std::set<int> watched;
  std::map<CURL*, std::unique_ptr<Call>> calls;
  std::shared_ptr<bool> alive = std::make_shared<bool>(true);
};

HttpClient::HttpClient(Loop& loop) : impl_(std::make_unique<Impl>(loop)) {}
HttpClient::~HttpClient() = default;

void HttpClient::call(HttpRequest request, std::function<void(HttpAnswer)> done) {
  if (const std::string part = malformed(request); !part.empty()) {
    return impl_->fail_later(std::move(done),
                             fmt::format("the request's {} holds a character that HTTP does not allow there", part));
  }
  auto call = std::make_unique<Call>();
  call->request = std::move(request);
  call->easy.reset(impl_->multi != nullptr ? curl_easy_init() : nullptr);
  if (!call->easy || !set_up(*call))
    return impl_->fail_later(std::move(done), "the HTTP library could not be set up for this call");
  call->done = std::move(done);
  CURL* easy = call->easy.get();
  const auto place = impl_->calls.emplace(easy, std::move(call)).first;
  if (const CURLMcode code = curl_multi_add_handle(impl_->multi, easy); code != CURLM_OK) {
    Done unused = std::move(place->second->done);
    impl_->calls.erase(place);
    impl_->fail_later(std::move(unused), fmt::format("the HTTP library took no call: {}", curl_multi_strerror(code)));
  }
}

}  // namespace jipsa
