#include "daemon/api.h"

#include <fmt/format.h>

#include <charconv>

namespace jipsa {
namespace {

struct WireCode {
  const char* name;
  int status;
};

WireCode wire_code(Code code) {
  switch (code) {
    case Code::bad_input:
      return {"bad_input", 400};
    case Code::not_found:
      return {"not_found", 404};
    case Code::conflict:
    case Code::running:
    case Code::refused:
      return {"conflict", 409};
    case Code::unsupported:
      return {"unsupported", 501};
    case Code::io:
      return {"io", 507};
    case Code::unreadable:
      return {"unreadable", 500};
    case Code::unreachable:
    case Code::timed_out:
    case Code::internal:
      break;
  }
  return {"internal", 500};
}

std::vector<std::string> split(const std::string& path) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at < path.size();) {
    const std::size_t end = std::min(path.find('/', at), path.size());
    if (end > at) parts.push_back(path.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

std::optional<JobId> parse_id(const std::string& text) {
  JobId id = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id);
  if (error != std::errc{} || end != text.data() + text.size() || id <= 0) return std::nullopt;
  return id;
}

HttpReply reply(Result<std::string> answer) { return answer ? HttpReply{200, std::move(*answer)} : error_reply(answer.error()); }

HttpReply unknown_route(const HttpAsk& ask) {
  return error_reply({Code::not_found, fmt::format("no route {} {}; see docs/api.md", ask.method, ask.path)});
}

}  // namespace

HttpReply error_reply(const Error& error) {
  const WireCode code = wire_code(error.code);
  JsonText json;
  json.open_object()
      .key("error")
      .open_object()
      .key("code")
      .text(code.name)
      .key("what")
      .text(error.what)
      .close_object()
      .close_object();
  return {code.status, json.take()};
}

Result<std::int64_t> query_number(const HttpAsk& ask, const std::string& key, std::int64_t fallback, std::int64_t most) {
  const auto it = ask.query.find(key);
  if (it == ask.query.end()) return fallback;
  const std::string& text = it->second;
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || number < 0 || number > most) {
    return fail(Code::bad_input, fmt::format("{}={}: give a whole number from 0 to {}", key, text, most));
  }
  return number;
}

Api::~Api() {
  p_.loop.cancel(keep_alive_);
  for (const auto& [job, waiting] : waiters_) {
    for (const auto& [exchange, timer] : waiting) p_.loop.cancel(timer);
  }
}

std::optional<HttpReply> Api::handle(const HttpAsk& ask, ExchangeId id) {
  const Path path = split(ask.path);
  const auto is = [&](const char* method, std::initializer_list<const char*> parts) {
    if (ask.method != method || path.size() != parts.size()) return false;
    std::size_t i = 0;
    for (const char* part : parts) {
      if (*part != '*' && path[i] != part) return false;
      ++i;
    }
    return true;
  };
  if (path.size() >= 2 && path[0] == "v1" && path[1] == "jobs") return jobs(ask, path, id);
  if (is("POST", {"v1", "queue", "pause"})) return reply(set_paused(true));
  if (is("POST", {"v1", "queue", "resume"})) return reply(set_paused(false));
  if (is("GET", {"v1", "whose"})) return reply(whose());
  if (is("GET", {"v1", "tenants"})) return reply(tenants());
  if (is("POST", {"v1", "tenants", "*", "release"})) return reply(ask_release(path[2]));
  if (is("GET", {"v1", "releases"})) return reply(releases(ask));
  if (is("GET", {"v1", "status"})) return reply(status());
  if (is("GET", {"v1", "doctor"})) return reply(doctor());
  if (is("GET", {"v1", "events"})) return events(ask, id);
  return unknown_route(ask);
}

std::optional<HttpReply> Api::jobs(const HttpAsk& ask, const Path& path, ExchangeId id) {
  if (path.size() == 2) {
    if (ask.method == "POST") return add_job(ask, id);
    if (ask.method == "GET") return reply(list_jobs(ask));
    return unknown_route(ask);
  }
  const auto job = parse_id(path[2]);
  if (!job) return error_reply({Code::bad_input, fmt::format("\"{}\" is no job id; give a number such as 7", path[2])});
  if (path.size() == 3 && ask.method == "GET") {
    return ask.query.count("wait") != 0 ? wait_for_job(ask, *job, id) : reply(one_job(*job));
  }
  if (path.size() == 4 && ask.method == "POST" && path[3] == "cancel") return reply(cancel_job(*job));
  return unknown_route(ask);
}

}  // namespace jipsa
