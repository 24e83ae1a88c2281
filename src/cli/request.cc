#include "cli/request.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>

#include "cli/commands.h"
#include "text/utf8.h"

namespace jipsa::cli {
namespace {

// Builds the object key by key; stops at the first mistake, which it has said.
class Request {
 public:
  Request(const Session& session, const Words& words) : session_(session), words_(words) {}

  tl::expected<std::string, int> build() {
    body_ = "{";
    const bool good = check() && what_to_run() && words_of() && needs() && numbers() && place() && environment();
    if (!good) return tl::make_unexpected(exit_);
    body_ += '}';
    return std::move(body_);
  }

 private:
  bool wrong(Msg message, Args args = {}) {
    exit_ = complain(session_, Complaint{message, std::move(args)});
    return false;
  }
  bool wrong(const Complaint& complaint) { return wrong(complaint.message, complaint.args); }
  bool failed(Code code, Msg message, const Args& args) {
    exit_ = complain(session_, code, message, args);
    return false;
  }
  bool utf8(std::string_view text, Msg where, const Args& where_args = {}) {
    const auto bad = find_invalid_utf8(text);
    if (!bad) return true;
    return failed(Code::bad_input, Msg::not_utf8,
                  {{"where", say(session_.lang, where, where_args)}, {"offset", std::to_string(*bad + 1)}});
  }
  void key(std::string_view name) {
    if (body_.size() > 1) body_ += ',';
    append_json_string(body_, name);
    body_ += ':';
  }

  bool check() {
    const bool launcher = words_.has("--with");
    if (launcher && !words_.rest.empty()) return wrong(Msg::command_and_launcher);
    if (!launcher && words_.has("--text")) return wrong(Msg::text_wants_launcher, {{"option", "--text"}});
    if (!launcher && words_.has("--file")) return wrong(Msg::text_wants_launcher, {{"option", "-f"}});
    if (!launcher && words_.rest.empty()) return wrong(Msg::no_command_given);
    if (launcher && words_.has("--text") && words_.has("--file")) return wrong(Msg::two_texts);
    if (launcher && !words_.has("--text") && !words_.has("--file")) return wrong(Msg::launcher_wants_text);
    if (words_.has("--gpu") && !words_.has("--vram")) return wrong(Msg::gpu_wants_vram);
    if (words_.has("--bundle") && !words_.has("--tenant")) return wrong(Msg::bundle_wants_tenant);
    return true;
  }

  bool what_to_run() {
    if (words_.has("--with")) return instructions();
    key("command");
    for (std::size_t i = 0; i < words_.rest.size(); ++i) {
      if (!utf8(words_.rest[i], Msg::where_argument, {{"count", std::to_string(i + 1)}})) return false;
      body_ += i == 0 ? '[' : ',';
      append_json_string(body_, words_.rest[i]);
    }
    body_ += ']';
    return true;
  }

  bool instructions() {
    if (!text_option("--with", "launcher")) return false;
    std::string text = words_.get("--text").value_or("");
    const std::string file = words_.get("--file").value_or("");
    if (!file.empty()) {
      if (!read_text(file, text) || !utf8(text, Msg::where_file, {{"file", file}})) return false;
    } else if (!utf8(text, Msg::where_text)) {
      return false;
    }
    key("text");
    append_json_string(body_, text);
    return true;
  }

  bool read_text(const std::string& file, std::string& text) {
    const int fd = file == "-" ? STDIN_FILENO : ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
    std::array<char, 65536> buffer;
    ssize_t got = fd < 0 ? -1 : 1;
    while (got > 0 || (got < 0 && fd >= 0 && errno == EINTR)) {
      got = ::read(fd, buffer.data(), buffer.size());
      if (got > 0) text.append(buffer.data(), static_cast<std::size_t>(got));
    }
    const int error = errno;
    if (fd > STDIN_FILENO) ::close(fd);
    if (got == 0) return true;
    return failed(error == ENOENT ? Code::not_found : Code::io, Msg::cannot_read_file,
                  {{"file", file}, {"what", std::strerror(error)}});
  }

  // An option whose value goes into the request as it is.
  bool text_option(std::string_view option, std::string_view name) {
    const auto value = words_.get(option);
    if (!value) return true;
    if (!utf8(*value, Msg::where_option, {{"option", std::string(option)}})) return false;
    key(name);
    append_json_string(body_, *value);
    return true;
  }

  bool words_of() {
    return text_option("--name", "name") && text_option("--tenant", "tenant") && text_option("--bundle", "bundle");
  }

  bool need(std::string_view option, std::string_view pool, std::string& needs) {
    const auto text = words_.get(option);
    if (!text) return true;
    const auto size = parse_size(*text);
    if (!size) return wrong(Msg::bad_size, {{"option", std::string(option)}, {"what", size.error().what}});
    if (!needs.empty()) needs += ',';
    append_json_string(needs, pool);
    needs += ':' + std::to_string(size->count());
    return true;
  }

  bool needs() {
    std::string card = words_.get("--gpu").value_or("gpu");
    if (whole_number(card)) card = "gpu" + card;
    std::string needs;
    if (!utf8(card, Msg::where_option, {{"option", "--gpu"}}) || !need("--vram", card, needs) || !need("--ram", "ram", needs))
      return false;
    if (needs.empty()) return true;
    key("needs");
    body_ += '{' + needs + '}';
    return true;
  }

  bool numbers() {
    if (const auto text = words_.get("--priority")) {
      const auto number = whole_number(*text);
      if (!number) return wrong(Msg::bad_number, {{"option", "--priority"}, {"word", *text}});
      key("priority");
      body_ += std::to_string(*number);
    }
    const auto after = words_.options.find("--after");
    if (after == words_.options.end()) return true;
    const auto ids = job_ids(after->second);
    if (!ids) return wrong(ids.error());
    key("after");
    for (std::size_t i = 0; i < ids->size(); ++i) body_ += (i == 0 ? '[' : ',') + std::to_string((*ids)[i]);
    body_ += ']';
    return true;
  }

  bool place() {
    std::array<char, PATH_MAX> path;
    const auto wanted = words_.get("--in");
    if (wanted) {
      struct stat info{};
      errno = 0;
      const bool found = ::realpath(wanted->c_str(), path.data()) != nullptr && ::stat(path.data(), &info) == 0;
      if (found && !S_ISDIR(info.st_mode)) errno = ENOTDIR;
      if (!found || !S_ISDIR(info.st_mode) || ::access(path.data(), X_OK) != 0) {
        return failed(Code::bad_input, Msg::no_such_directory, {{"dir", *wanted}, {"what", std::strerror(errno)}});
      }
    } else if (::getcwd(path.data(), path.size()) == nullptr) {
      return failed(Code::bad_input, Msg::no_directory, {{"what", std::strerror(errno)}});
    }
    if (!utf8(path.data(), Msg::where_directory)) return false;
    key("dir");
    append_json_string(body_, path.data());
    return true;
  }

  // The caller's environment as it is, with what --env says in place of, or beside, what was there.
  bool environment() {
    std::vector<std::string> extra;
    if (const auto given = words_.options.find("--env"); given != words_.options.end()) extra = given->second;
    for (const std::string& setting : extra) {
      const std::size_t equals = setting.find('=');
      if (equals == 0 || equals == std::string::npos) return wrong(Msg::bad_env, {{"word", setting}});
      if (!utf8(setting, Msg::where_option, {{"option", "--env"}})) return false;
    }
    key("env");
    body_ += '[';
    bool first = true;
    const auto put = [&](std::string_view setting) {
      if (!first) body_ += ',';
      first = false;
      append_json_string(body_, setting);
    };
    std::string skipped;
    for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
      const std::string_view setting = *entry;
      const std::string_view name = setting.substr(0, setting.find('='));
      if (name.empty() || name.size() == setting.size() || overridden(extra, name)) continue;
      if (find_invalid_utf8(setting)) {
        skipped += (skipped.empty() ? "" : ", ") + std::string(name);
      } else {
        put(setting);
      }
    }
    for (std::size_t i = 0; i < extra.size(); ++i) {
      const std::string_view setting = extra[i];
      const std::vector<std::string> later(extra.begin() + static_cast<std::ptrdiff_t>(i) + 1, extra.end());
      if (!overridden(later, setting.substr(0, setting.find('=')))) put(setting);
    }
    body_ += ']';
    if (!skipped.empty()) note(session_, Msg::env_skipped, {{"names", skipped}});
    return true;
  }

  static bool overridden(const std::vector<std::string>& settings, std::string_view name) {
    for (const std::string& setting : settings) {
      if (setting.size() > name.size() && setting[name.size()] == '=' && std::string_view(setting).substr(0, name.size()) == name)
        return true;
    }
    return false;
  }

  const Session& session_;
  const Words& words_;
  std::string body_;
  int exit_ = exits::bad_input;
};

}  // namespace

tl::expected<std::string, int> job_request(const Session& session, const Words& words) { return Request(session, words).build(); }

}  // namespace jipsa::cli
