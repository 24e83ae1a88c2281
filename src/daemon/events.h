// What happened, for those who watch: the last 200 events, and the streams that follow.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <set>
#include <string>
#include <string_view>

#include "core/decision.h"
#include "daemon/http_server.h"
#include "daemon/json_text.h"
#include "daemon/record_clock.h"

namespace jipsa {

class Events {
 public:
  explicit Events(RecordClock& clock) : clock_(clock) {}

  // `fill` appends keys after "id", "at" and "type".
  void publish(std::string_view type, const std::function<void(JsonText&)>& fill);
  void publish_job(std::string_view type, JobId job);
  void publish_output(const Output& output);

  [[nodiscard]] std::string recent() const;  // {"events":[…]}

  // Streams. With `after`, those of the kept events that are younger come first.
  static constexpr std::size_t most_followers = 64;
  [[nodiscard]] bool full() const { return followers_.size() >= most_followers; }
  void follow(HttpServer& server, HttpServer::ExchangeId id, std::int64_t after);
  bool ping();  // a comment to every stream; false: there is none
  void unfollow(HttpServer::ExchangeId id) { followers_.erase(id); }

 private:
  struct Kept {
    std::int64_t id;
    std::string json;
  };
  static std::string chunk(const Kept& event);

  RecordClock& clock_;
  HttpServer* server_ = nullptr;
  std::deque<Kept> kept_;
  std::int64_t last_id_ = 0;
  std::set<HttpServer::ExchangeId> followers_;
};

}  // namespace jipsa
