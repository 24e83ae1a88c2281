#include "cli/session.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <ctime>

#include "text/words.h"

namespace jipsa::cli {
namespace {

// errno of the write that failed, or 0.
int write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return errno;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

// As it would be typed: in quotes where a shell needs them.
std::string quoted(const std::string& word) {
  if (word.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:@%+=,") == std::string::npos)
    return word;
  std::string out = "'";
  for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + '\'';
}

std::string start_command(const PlaceOptions& given) {
  std::string command = "jipsad";
  if (!given.config_file.empty()) command += " --config " + quoted(given.config_file);
  if (!given.state_dir.empty()) command += " --state " + quoted(given.state_dir);
  if (!given.socket.empty()) command += " --socket " + quoted(given.socket);
  return command;
}

struct CodeRow {
  std::string_view code;
  int exit;
};
constexpr CodeRow code_rows[] = {{"bad_input", exits::bad_input},
                                 {"not_found", exits::not_found},
                                 {"conflict", exits::conflict},
                                 {"running", exits::conflict},
                                 {"unsupported", exits::unsupported},
                                 {"refused", exits::conflict},
                                 {"io", exits::io},
                                 {"unreadable", exits::internal},
                                 {"internal", exits::internal},
                                 {"unreachable", exits::unreachable},
                                 {"timed_out", exits::unreachable}};

int exit_of_name(std::string_view code) {
  for (const CodeRow& row : code_rows) {
    if (row.code == code) return row.exit;
  }
  return exits::internal;
}

int complain_status(const Session& session, const Query& query, int status, const Document& document) {
  const Value error = document.root()["error"];
  const auto code = error["code"].text();
  if (!code) {
    return complain(session, Code::internal, Msg::daemon_status,
                    {{"method", query.method}, {"target", query.target}, {"status", std::to_string(status)}});
  }
  if (session.json) print(session, document.text() + "\n");
  for (const auto& [known, complaint] : query.instead) {
    if (known != *code) continue;
    complain(session, Code::internal, complaint.message, complaint.args);
    return exit_of_name(*code);
  }
  const Args args{{"what", error["what"].text()}, {"meaning", error_meaning(session.lang, *code)}};
  complain(session, Code::internal, Msg::daemon_error, args);
  return exit_of_name(*code);
}

}  // namespace

int exit_code(Code code) {
  switch (code) {
    case Code::bad_input:
      return exits::bad_input;
    case Code::not_found:
      return exits::not_found;
    case Code::conflict:
    case Code::running:
    case Code::refused:
      return exits::conflict;
    case Code::unsupported:
      return exits::unsupported;
    case Code::io:
      return exits::io;
    case Code::unreachable:
    case Code::timed_out:
      return exits::unreachable;
    case Code::unreadable:
    case Code::internal:
      return exits::internal;
  }
  return exits::internal;
}

std::int64_t wall_ms() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<std::int64_t>(now.tv_sec) * 1000 + now.tv_nsec / 1'000'000;
}

void print(const Session& session, std::string_view text) {
  if (session.output_error == 0) session.output_error = write_all(STDOUT_FILENO, text);
}

void print_line(const Session& session, Msg message, const Args& args) {
  print(session, say(session.lang, message, args) + "\n");
}

void note_line(std::string_view line) { write_all(STDERR_FILENO, std::string(line) + "\n"); }
void note(const Session& session, Msg message, const Args& args) { note_line(say(session.lang, message, args)); }

int complain(const Session& session, const Complaint& complaint) {
  const std::string what = say(session.lang, complaint.message, complaint.args);
  std::optional<std::string> command;
  if (!session.command.empty()) command = session.command;
  note(session, Msg::see_help, {{"what", what}, {"command", command}});
  return exits::bad_input;
}

int complain(const Session& session, Code code, Msg message, const Args& args) {
  note(session, Msg::error_line, {{"what", say(session.lang, message, args)}});
  return exit_code(code);
}

std::string url_part(std::string_view text) {
  static constexpr char digits[] = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const bool plain =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
    if (plain) {
      out += c;
    } else {
      out += '%';
      out += digits[static_cast<unsigned char>(c) >> 4U];
      out += digits[static_cast<unsigned char>(c) & 15U];
    }
  }
  return out;
}

tl::expected<std::string, int> find_socket(const Session& session) {
  const auto places = find_places(session.given);
  if (places) return places->socket;
  return tl::make_unexpected(complain(session, places.error().code, Msg::bad_places, {{"what", places.error().what}}));
}

int complain_call(const Session& session, const Query& query, const std::string& socket, const Error& error) {
  std::optional<std::string> maybe;
  if (query.method != "GET") maybe = say(session.lang, Msg::maybe_done);
  if (error.code == Code::timed_out) {
    const auto seconds = std::chrono::duration<double>(session.timeout + query.extra).count();
    std::string text = std::to_string(static_cast<std::int64_t>(seconds));
    if (seconds < 1) text = "<1";
    return complain(session, error.code, Msg::daemon_slow, {{"socket", socket}, {"seconds", text}, {"maybe", maybe}});
  }
  if (error.code == Code::unreachable) {
    return complain(session, error.code, Msg::daemon_silent,
                    {{"socket", socket}, {"what", error.what}, {"start", start_command(session.given)}});
  }
  return complain(session, error.code, Msg::daemon_garbled,
                  {{"method", query.method}, {"target", query.target}, {"what", error.what}});
}

tl::expected<Reply, int> read_reply(const Session& session, const Query& query, ClientAnswer answer) {
  auto document = Document::parse(std::move(answer.body), query.each);
  if (!document && answer.status != 200) document = Document::parse("{}");  // the status alone is what there is to tell
  if (!document) { return tl::make_unexpected(complain_call(session, query, "", document.error())); }
  if (answer.status != 200) return tl::make_unexpected(complain_status(session, query, answer.status, *document));
  if (!document->root().is_object()) {
    return tl::make_unexpected(complain_call(session, query, "", Error{Code::unreadable, "it is not a JSON object"}));
  }
  return Reply{std::move(*document)};
}

tl::expected<Reply, int> ask(const Session& session, const Query& query) {
  const auto socket = find_socket(session);
  if (!socket) return tl::make_unexpected(socket.error());
  auto answer = call_daemon(*socket, {query.method, query.target, query.body, "", session.timeout + query.extra});
  if (!answer) return tl::make_unexpected(complain_call(session, query, *socket, answer.error()));
  return read_reply(session, query, std::move(*answer));
}

bool print_json(const Session& session, const Reply& reply) {
  if (!session.json) return false;
  const std::string& body = reply.document.text();
  print(session, body.ends_with('\n') ? body : body + "\n");
  return true;
}

}  // namespace jipsa::cli
