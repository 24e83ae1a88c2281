// `jipsa events`: what happens, as it happens with -f.
#include <poll.h>

#include "cli/commands.h"
#include "cli/job_view.h"
#include "text/units.h"
#include "text/utf8.h"
#include "text/words.h"

namespace jipsa::cli {
namespace {

using std::chrono::milliseconds;

std::optional<Msg> event_message(std::string_view type, Value event) {
  struct Row {
    std::string_view type;
    Msg message;
  };
  static constexpr Row rows[] = {
      {"admit", Msg::event_admit},     {"wait", Msg::event_wait},       {"release", Msg::event_release},
      {"restart", Msg::event_restart}, {"verdict", Msg::event_verdict}, {"submit", Msg::event_submit},
      {"started", Msg::event_started}, {"exit", Msg::event_exit},       {"cancel", Msg::event_cancel},
      {"pause", Msg::event_pause},     {"resume", Msg::event_resume},   {"released", Msg::event_released},
      {"driver", Msg::event_driver}};
  if (type == "restarted") return event["ok"].boolean().value_or(true) ? Msg::event_restarted : Msg::event_restart_failed;
  for (const Row& row : rows) {
    if (row.type == type) return row.message;
  }
  return std::nullopt;
}

std::string wait_reason(const Session& session, Value event) {
  ReasonFacts reason;
  reason.code = event["code"].text_or_empty();
  reason.pool = event["pool"].text_or_empty();
  reason.owner = event["owner"].text_or_empty();
  reason.short_by = read_bytes(event["short"]);
  return reason_short(session.lang, reason, session.now_ms);
}

Args event_args(const Session& session, std::string_view type, Value event) {
  const auto amount = [&](const char* key) {
    const auto bytes = read_bytes(event[key]);
    return bytes ? std::optional(gib_text(bytes)) : std::nullopt;
  };
  const auto job = [&](const char* key) {
    const auto id = event[key].integer();
    return id ? std::optional(job_ref(*id)) : std::nullopt;
  };
  const auto word = [&](const char* key) {
    auto text = event[key].text();
    if (text && text->empty()) text.reset();
    return text;
  };
  const auto number = [&](const char* key) {
    const auto n = event[key].integer();
    return n ? std::optional(std::to_string(*n)) : std::nullopt;
  };
  Args args{{"pool", word("pool")},     {"tenant", word("tenant")},   {"name", word("name")},
            {"error", word("error")},   {"held", amount("held")},     {"before", amount("before")},
            {"after", amount("after")}, {"status", number("status")}, {"state", word("state")}};
  args.push_back({"job", job(type == "release" || type == "restart" ? "for" : "job")});
  if (const auto seconds = event["settled_s"].number()) args.push_back({"span", span_text(session.lang, *seconds)});
  if (type == "verdict") args.push_back({"verdict", verdict_text(session.lang, event["verdict"].text_or_empty())});
  if (type == "wait") args.push_back({"reason", wait_reason(session, event)});
  if (type == "exit") {
    auto code = number("code");
    if (const auto signal = event["signal"].integer()) code = signal_name(*signal);
    args.push_back({"code", code});
  }
  return args;
}

std::string event_line(const Session& session, Value event) {
  const std::string type = event["type"].text_or_empty();
  std::string at = "?";
  if (const auto ms = read_time(event["at"])) at = clock_text(session.lang, *ms, session.now_ms, ClockDetail::seconds);
  const auto message = event_message(type, event);
  // A type of a newer daemon is better shown raw than not at all.
  return at + "  " + (message ? say(session.lang, *message, event_args(session, type, event)) : safe(event.raw())) + '\n';
}

// A stream of server-sent events, taken up again where it broke off.
class Follow {
 public:
  Follow(const Session& session, std::string socket) : session_(session), socket_(std::move(socket)) {
    query_.target = "/v1/events?follow=1";
  }

  int go() {
    for (;;) {
      const auto ended = stream();
      if (session_.output_error != 0) return exits::io;
      if (!ended && !seen_any_) return complain_call(session_, query_, socket_, ended.error());
      if (ended && *ended != exits::good) return *ended;
      if (!told_) note(session_, Msg::reconnecting);
      told_ = true;
      ::poll(nullptr, 0, 1000);
    }
  }

 private:
  // Until the stream ends. An exit code other than good: the daemon said no, which has been told.
  Result<int> stream() {
    auto call = ClientCall::start(socket_, {query_.method, query_.target, "", last_id_, session_.timeout});
    if (!call) return tl::make_unexpected(call.error());
    for (;;) {
      const auto done = call->step(milliseconds{60000});
      if (!done) return tl::make_unexpected(done.error());
      AnswerReader& reader = call->reader();
      if (reader.has_headers() && reader.answer.status != 200) {
        if (!*done) continue;
        const auto reply = read_reply(session_, query_, std::move(reader.answer));
        return reply ? exits::internal : reply.error();
      }
      if (reader.has_headers()) seen_any_ = true;
      if (seen_any_ && !reader.answer.body.empty()) told_ = false;
      take_lines(reader.answer.body);
      if (session_.output_error != 0 || *done) return exits::good;
    }
  }

  void take_lines(std::string& body) {
    std::size_t at = 0;
    for (std::size_t end = body.find('\n'); end != std::string::npos; end = body.find('\n', at)) {
      std::string_view line = std::string_view(body).substr(at, end - at);
      if (line.ends_with('\r')) line.remove_suffix(1);
      take_line(line);
      at = end + 1;
    }
    body.erase(0, at);
  }

  void take_line(std::string_view line) {
    const auto value = [&](std::string_view field) {
      std::string_view rest = line.substr(field.size());
      if (rest.starts_with(' ')) rest.remove_prefix(1);
      return std::string(rest);
    };
    if (line.starts_with("id:")) last_id_ = value("id:");
    if (!line.starts_with("data:")) return;
    const auto event = Document::parse(value("data:"));
    if (session_.json) return print(session_, value("data:") + '\n');
    print(session_, event ? event_line(session_, event->root()) : safe(line) + '\n');
  }

  const Session& session_;
  std::string socket_, last_id_;
  Query query_;
  bool seen_any_ = false, told_ = false;
};

}  // namespace

int cmd_events(const Session& session, const Words& words) {
  if (const auto wrong = too_many(words, 0)) return complain(session, *wrong);
  if (words.has("--follow")) {
    const auto socket = find_socket(session);
    return socket ? Follow(session, *socket).go() : socket.error();
  }
  Query query;
  query.target = "/v1/events";
  const auto reply = ask(session, query);
  if (!reply) return reply.error();
  if (print_json(session, *reply)) return exits::good;
  const Value list = reply->root()["events"];
  if (!list.is_array()) return complain_call(session, query, "", {Code::unreadable, "it has no list of events"});
  std::string out;
  for (const Value event : list) out += event_line(session, event);
  if (out.empty()) out = say(session.lang, Msg::events_none) + '\n';
  print(session, out);
  return exits::good;
}

}  // namespace jipsa::cli
