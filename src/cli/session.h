// What all commands share: the language, the terminal, the daemon's address; and how they ask and answer.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

#include "cli/answer.h"
#include "cli/args.h"
#include "config/config.h"
#include "core/result.h"
#include "text/catalogue.h"
#include "wire/client.h"

namespace jipsa::cli {

// Exit codes of jipsa (docs/api.md).
namespace exits {
constexpr int good = 0, no = 1, bad_input = 2, not_found = 3, conflict = 4, unsupported = 5, io = 6, internal = 7,
              unreachable = 8;
}
int exit_code(Code code);

struct Session {
  std::string command;  // its name, for messages about its use
  Lang lang = Lang::en;
  bool json = false, color = false, out_is_terminal = false, err_is_terminal = false;
  std::chrono::milliseconds timeout{10000};
  PlaceOptions given;
  std::int64_t now_ms = 0;
  mutable int output_error = 0;  // errno of the first write to standard output that failed: it must not end in "good"
};

std::int64_t wall_ms();

void print(const Session& session, std::string_view text);  // standard output, all of it; failure is remembered in the session
void print_line(const Session& session, Msg message, const Args& args = {});
void note(const Session& session, Msg message, const Args& args = {});  // standard error
void note_line(std::string_view line);

// Says what is wrong and returns the exit code for it.
int complain(const Session& session, const Complaint& complaint);                     // use: exit 2
int complain(const Session& session, Code code, Msg message, const Args& args = {});  // all else

struct Query {
  std::string method = "GET";
  std::string target;
  std::string body;
  std::chrono::milliseconds extra{0};                           // how much longer than usual the daemon may take
  std::vector<std::pair<std::string_view, Complaint>> instead;  // what to say to an error code instead of the daemon's words
  const EachItem* each = nullptr;                               // reads a long list of the answer as it is parsed
};

std::string url_part(std::string_view text);  // percent-encoded

struct Reply {
  Document document;
  [[nodiscard]] Value root() const { return document.root(); }
};

// Where the daemon's socket is; the error has been said.
tl::expected<std::string, int> find_socket(const Session& session);

// The answer to a call that went well. Otherwise what is wrong has been said, and this is the exit code.
tl::expected<Reply, int> ask(const Session& session, const Query& query);

// The two halves of ask(), for those who wait for an answer beside other things.
int complain_call(const Session& session, const Query& query, const std::string& socket, const Error& error);
tl::expected<Reply, int> read_reply(const Session& session, const Query& query, ClientAnswer answer);

// With --json: the body as it came. True if that was all there was to do.
bool print_json(const Session& session, const Reply& reply);

}  // namespace jipsa::cli
