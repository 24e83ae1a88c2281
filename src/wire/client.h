// The client's side of the daemon's API: one HTTP/1.1 call over its unix socket. No threads, nothing kept between calls.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

#include "core/result.h"

namespace jipsa {

struct ClientRequest {
  std::string method = "GET";
  std::string target;                         // "/v1/jobs?limit=5"
  std::string body;                           // JSON, when there is one
  std::string last_event_id;                  // for a stream that is taken up again
  std::chrono::milliseconds deadline{10000};  // of the whole call; a stream's counts until its headers have come
};

struct ClientAnswer {
  int status = 0;
  std::string body;
};

// Reads an answer from bytes as they come: Content-Length, chunked, or until the connection closes.
class AnswerReader {
 public:
  Result<void> feed(std::string_view bytes);
  Result<void> close();  // the connection ended
  [[nodiscard]] bool has_headers() const { return stage_ != Stage::headers; }
  [[nodiscard]] bool done() const { return stage_ == Stage::done; }
  ClientAnswer answer;  // the body as far as it has come; a stream's reader may take from it

 private:
  enum class Stage { headers, body, chunk_size, chunk_data, chunk_end, trailer, done };
  enum class Framing { until_close, length, chunked };
  Result<void> read_headers();
  Result<void> read_header(std::string_view line);
  Result<bool> step();  // false: more bytes are needed
  Result<bool> read_chunk_line();
  void take(std::size_t count);

  Stage stage_ = Stage::headers;
  Framing framing_ = Framing::until_close;
  std::string pending_;
  std::size_t used_ = 0;  // of pending_
  std::size_t left_ = 0;  // of the body or the chunk
};

// A call under way. Failures: unreachable (nobody listens; nothing was done), timed_out (it may have been done), unreadable.
class ClientCall {
 public:
  static Result<ClientCall> start(const std::string& socket, const ClientRequest& request);
  ~ClientCall();
  ClientCall(ClientCall&& other) noexcept;
  ClientCall& operator=(ClientCall&& other) noexcept;

  [[nodiscard]] int fd() const { return fd_; }
  // Takes in what has come, waiting up to `patience` for something to come. True: the answer is whole.
  Result<bool> step(std::chrono::milliseconds patience);
  [[nodiscard]] AnswerReader& reader() { return reader_; }

 private:
  explicit ClientCall(int fd) : fd_(fd) {}
  Result<void> connect(const std::string& socket);
  Result<void> send(std::string_view bytes);
  [[nodiscard]] std::chrono::milliseconds remaining() const;

  int fd_ = -1;
  std::chrono::steady_clock::time_point deadline_;
  AnswerReader reader_;
};

// The whole of it: asks and waits for the whole answer.
Result<ClientAnswer> call_daemon(const std::string& socket, const ClientRequest& request);

}  // namespace jipsa
