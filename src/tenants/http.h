// One HTTP call to a local server, with a deadline for the whole of it. On libcurl's multi interface, in the loop's thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "machine/loop.h"

namespace jipsa {

struct HttpRequest {
  std::string method = "GET";
  std::string url;
  std::vector<std::string> headers;  // "Name: value"
  std::string body;
  std::chrono::milliseconds deadline{2000};
  std::size_t max_body = 1 << 20;  // a longer answer is cut off and is `too_large`
};

struct HttpAnswer {
  enum class Outcome { answered, connection_refused, timed_out, too_large, broken };
  Outcome outcome = Outcome::broken;
  int status = 0;     // when answered; also when an answer began and was then too long, cut off or too slow. 0: none began
  std::string body;   // when answered
  std::string error;  // otherwise: one line for a person
};

// Never follows redirects, never uses a proxy, never sends an Origin header. Calls to one host share connections, but only a GET
// or HEAD goes out on a used one: on a stale connection it may be sent twice, and a request with effects never is. The process
// must ignore SIGPIPE if an https address is to be used.
class HttpClient {
 public:
  explicit HttpClient(Loop& loop);
  ~HttpClient();  // open calls end without their callback; may happen inside one
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  // `done` runs exactly once, on the loop's thread, never from inside this call.
  void call(HttpRequest request, std::function<void(HttpAnswer)> done);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace jipsa
