// An HTTP server for tests that sends the very bytes it is told to, however wrong, and remembers what it was asked.
#pragma once

#include <atomic>
#include <chrono>
#include <list>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace jipsa::test {

struct Reply {
  std::string bytes;                  // sent as they are
  bool hold = false;                  // then the connection stays open and silent; else it is closed unless keep_alive
  bool keep_alive = false;            // the next request on this connection is awaited
  std::chrono::milliseconds drip{0};  // pause after each byte
  std::size_t repeat = 1;             // how often `bytes` is sent
};

// A well-formed answer.
Reply reply(int status, const std::string& body, const std::string& type = "application/json; charset=utf-8");

class LiteralServer {
 public:
  LiteralServer();
  ~LiteralServer();
  LiteralServer(const LiteralServer&) = delete;
  LiteralServer& operator=(const LiteralServer&) = delete;

  [[nodiscard]] std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }
  // `request` as "GET /queue"; without a reply of its own a request is answered 404.
  void set(const std::string& request, Reply reply);
  [[nodiscard]] std::vector<std::string> requests() const;  // "GET /queue", in order
  [[nodiscard]] std::vector<std::string> raw() const;       // head and body as received
  [[nodiscard]] int connections() const { return connections_; }

 private:
  void accept_all();
  void serve(int fd);
  bool send_reply(int fd, const Reply& reply);
  bool pause(std::chrono::milliseconds time);

  int port_ = 0;  // before the listener, whose making fills it in
  int listener_ = -1;
  std::atomic<bool> stopping_ = false;
  std::atomic<int> connections_ = 0;
  mutable std::mutex mutex_;
  std::map<std::string, Reply> replies_;
  std::vector<std::string> raw_;
  std::list<std::thread> threads_;
  std::thread acceptor_;
};

// A port of 127.0.0.1 at which nothing listens.
int closed_port();

}  // namespace jipsa::test
