#include "daemon/events.h"

#include <fmt/format.h>

#include <limits>

namespace jipsa {
namespace {

constexpr std::size_t kKept = 200;

void fill_reason(JsonText& json, const Reason& reason) {
  json.key("code").text(name(reason.code));
  json.key("pool").text_or_null(reason.pool);
  json.key("short").bytes(reason.short_by);
  json.key("owner");
  if (reason.owner) {
    json.text(to_string(*reason.owner));
  } else {
    json.null();
  }
}

void fill(JsonText& json, const Admit& a) {
  json.key("job").number(a.job);
  json.key("pool").text_or_null(a.pool);
}
void fill(JsonText& json, const Wait& w) {
  json.key("job").number(w.job);
  fill_reason(json, w.reason);
}
void fill(JsonText& json, const Release& r) {
  json.key("tenant").text(r.tenant);
  json.key("for").number(r.job);
  json.key("pool").text_or_null(r.pool);
  json.key("held").bytes(r.held);
}
void fill(JsonText& json, const Restart& r) {
  json.key("tenant").text(r.tenant);
  json.key("for").number(r.job);
}
void fill(JsonText& json, const Verdict& v) {
  json.key("tenant").text(v.tenant);
  json.key("pool").text(v.pool);
  json.key("verdict").text(name(v.verdict));
  json.key("before").bytes(v.before);
  json.key("after").bytes(v.after);
  json.key("settled_s").real(v.settled_s);
}

const char* type_of(const Decision& decision) {
  struct Names {
    const char* operator()(const Admit&) const { return "admit"; }
    const char* operator()(const Wait&) const { return "wait"; }
    const char* operator()(const Release&) const { return "release"; }
    const char* operator()(const Restart&) const { return "restart"; }
    const char* operator()(const Verdict&) const { return "verdict"; }
  };
  return std::visit(Names{}, decision);
}

}  // namespace

std::string Events::chunk(const Kept& event) { return fmt::format("id: {}\ndata: {}\n\n", event.id, event.json); }

void Events::publish(std::string_view type, const std::function<void(JsonText&)>& fill_rest) {
  JsonText json;
  const std::int64_t id = ++last_id_;
  json.open_object().key("id").number(id).key("at").time(clock_.wall_ms()).key("type").text(type);
  fill_rest(json);
  json.close_object();
  kept_.push_back({id, json.take()});
  if (kept_.size() > kKept) kept_.pop_front();
  if (followers_.empty()) return;
  const std::string text = chunk(kept_.back());
  for (const auto follower : std::set<HttpServer::ExchangeId>(followers_)) server_->send(follower, text);
}

void Events::publish_job(std::string_view type, JobId job) {
  publish(type, [job](JsonText& json) { json.key("job").number(job); });
}

void Events::publish_output(const Output& output) {
  publish(type_of(output.decision),
          [&](JsonText& json) { std::visit([&](const auto& decision) { fill(json, decision); }, output.decision); });
}

std::string Events::recent() const {
  JsonText json;
  json.open_object().key("events").open_array();
  for (const Kept& event : kept_) json.raw(event.json);
  return json.close_array().close_object().take();
}

bool Events::ping() {
  for (const auto follower : std::set<HttpServer::ExchangeId>(followers_)) server_->send(follower, ":\n\n");
  return !followers_.empty();
}

void Events::follow(HttpServer& server, HttpServer::ExchangeId id, std::int64_t after) {
  server_ = &server;
  followers_.insert(id);
  std::string first = ": jipsa\n\n";  // so that the client sees at once that it is connected
  for (const Kept& event : kept_) {
    if (event.id > after) first += chunk(event);
  }
  server.stream(id, std::move(first));
}

}  // namespace jipsa
