#include "literal_server.h"

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <stdexcept>

namespace jipsa::test {

namespace {

using namespace std::chrono_literals;

int listen_somewhere(int& port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  if (fd < 0 || bind(fd, reinterpret_cast<sockaddr*>(&address), size) != 0 || listen(fd, 64) != 0 ||
      getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    throw std::runtime_error("no port to listen on");
  }
  port = ntohs(address.sin_port);
  return fd;
}

// Whether a whole request has come: head, and as much body as the head announces.
bool whole(const std::string& text) {
  const auto head = text.find("\r\n\r\n");
  if (head == std::string::npos) return false;
  const auto length = text.find("Content-Length: ");
  const std::size_t body = length < head ? std::strtoull(text.c_str() + length + 16, nullptr, 10) : 0;
  return text.size() >= head + 4 + body;
}

std::string first_line(const std::string& text) {
  const auto end = text.find(" HTTP/");
  return text.substr(0, end == std::string::npos ? text.find("\r\n") : end);
}

}  // namespace

Reply reply(int status, const std::string& body, const std::string& type) {
  Reply r;
  r.bytes = "HTTP/1.1 " + std::to_string(status) + " Said\r\nContent-Type: " + type +
            "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
  r.keep_alive = true;
  return r;
}

LiteralServer::LiteralServer() : listener_(listen_somewhere(port_)), acceptor_([this] { accept_all(); }) {}

LiteralServer::~LiteralServer() {
  stopping_ = true;
  acceptor_.join();
  for (auto& thread : threads_) thread.join();
  close(listener_);
}

void LiteralServer::set(const std::string& request, Reply reply) {
  const std::lock_guard lock(mutex_);
  replies_[request] = std::move(reply);
}

std::vector<std::string> LiteralServer::raw() const {
  const std::lock_guard lock(mutex_);
  return raw_;
}

std::vector<std::string> LiteralServer::requests() const {
  std::vector<std::string> lines;
  for (const auto& text : raw()) lines.push_back(first_line(text));
  return lines;
}

void LiteralServer::accept_all() {
  while (!stopping_) {
    pollfd waiting{listener_, POLLIN, 0};
    if (poll(&waiting, 1, 20) <= 0) continue;
    const int fd = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (fd < 0) continue;
    ++connections_;
    threads_.emplace_back([this, fd] {
      serve(fd);
      close(fd);
    });
  }
}

void LiteralServer::serve(int fd) {
  std::string text;
  while (!stopping_) {
    pollfd waiting{fd, POLLIN, 0};
    if (poll(&waiting, 1, 20) <= 0) continue;
    char buffer[4096];
    const ssize_t n = recv(fd, buffer, sizeof buffer, 0);
    if (n <= 0) return;
    text.append(buffer, static_cast<std::size_t>(n));
    if (!whole(text)) continue;
    Reply answer = reply(404, "404: Not Found", "text/plain");
    {
      const std::lock_guard lock(mutex_);
      raw_.push_back(text);
      if (const auto found = replies_.find(first_line(text)); found != replies_.end()) answer = found->second;
    }
    text.clear();
    if (!send_reply(fd, answer)) return;
    while (answer.hold && pause(20ms)) {}
    if (!answer.keep_alive) return;
  }
}

bool LiteralServer::send_reply(int fd, const Reply& answer) {
  for (std::size_t round = 0; round < answer.repeat && !stopping_; ++round) {
    const std::size_t step = answer.drip > 0ms ? 1 : answer.bytes.size();
    for (std::size_t at = 0; at < answer.bytes.size(); at += step) {
      if (send(fd, answer.bytes.data() + at, step, MSG_NOSIGNAL) < 0) return false;
      if (answer.drip > 0ms && !pause(answer.drip)) return false;
    }
  }
  return true;
}

bool LiteralServer::pause(std::chrono::milliseconds time) {
  std::this_thread::sleep_for(time);
  return !stopping_;
}

int closed_port() {
  int port = 0;
  close(listen_somewhere(port));
  return port;
}

}  // namespace jipsa::test
