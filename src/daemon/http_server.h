// HTTP on the daemon's socket, in the loop's thread: requests in, answers out, some of them later, some of them streams.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "core/result.h"
#include "machine/loop.h"

namespace jipsa {

struct HttpAsk {
  std::string method, path;  // path without the query
  std::map<std::string, std::string> query;
  std::string body;
  std::string last_event_id;  // the header of a stream that is taken up again
};

struct HttpReply {
  int status = 200;
  std::string body;
};

class HttpServer {
 public:
  using ExchangeId = std::uint64_t;
  struct Handler {
    // The answer; or none, and then answer() or stream() is called with this id, now or later.
    std::function<std::optional<HttpReply>(const HttpAsk&, ExchangeId)> ask;
    // The client of an exchange that was kept waiting, or of a stream, went away, or the stream was cut because it read too
    // slowly.
    std::function<void(ExchangeId)> gone;
  };

  // Takes over `listen_fd`.
  static Result<std::unique_ptr<HttpServer>> make(Loop& loop, int listen_fd, Handler handler);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  void answer(ExchangeId id, HttpReply reply);          // of an exchange that is gone: nothing happens
  void stream(ExchangeId id, std::string first_chunk);  // begins a text/event-stream
  void send(ExchangeId id, std::string_view chunk);     // on a stream

 private:
  struct Impl;
  explicit HttpServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace jipsa
