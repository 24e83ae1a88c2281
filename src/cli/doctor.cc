// `jipsa doctor`: what works here, what does not, and what that means.
#include "cli/commands.h"
#include "cli/job_view.h"
#include "cli/table.h"
#include "text/units.h"
#include "text/utf8.h"
#include "text/words.h"

namespace jipsa::cli {
namespace {

std::string_view color_of(std::string_view state) {
  if (state == "ok") return "32";
  if (state == "limited") return "33";
  return state == "broken" ? "31" : "2";
}

bool is_amount(std::string_view key) {
  return key == "total" || key == "used" || key == "free" || key == "available" || key == "bytes";
}

std::string value_text(const Session& session, std::string_view key, Value value) {
  if (const auto truth = value.boolean()) return say(session.lang, *truth ? Msg::yes : Msg::no);
  if (is_amount(key)) return gib_text(read_bytes(value));
  if (const auto text = value.text())
    return key.find("trouble") != std::string_view::npos ? trouble_text(session.lang, *text) : safe(*text);
  return safe(value.raw());
}

// What the sentence does not say already. All of it only where something is not as it should be.
std::string details_text(const Session& session, std::string_view state, Value detail) {
  std::string out;
  if (state == "missing") return out;  // that it is not there is all there is to say
  for (const Member m : detail.members()) {
    const bool trouble = m.key.find("trouble") != std::string_view::npos || m.key == "error";
    if (m.value.is_null() || m.key == "state" || m.key == "version" || m.key == "name") continue;
    if (!trouble && state != "broken" && state != "limited") continue;
    out += (out.empty() ? "" : "; ") + detail_label(session.lang, m.key) + ": " + value_text(session, m.key, m.value);
  }
  return out;
}

}  // namespace

int cmd_doctor(const Session& session, const Words& words) {
  if (const auto wrong = too_many(words, 0)) return complain(session, *wrong);
  Query query;
  query.target = "/v1/doctor";
  const auto reply = ask(session, query);
  if (!reply) return reply.error();
  const Value list = reply->root()["checks"];
  if (!list.is_array()) return complain_call(session, query, "", {Code::unreadable, "it has no list of checks"});
  Table table(session.color);
  int broken = 0;
  for (const Value check : list) {
    const std::string state = check["state"].text_or_empty();
    const Value detail = check["detail"];
    const CheckText text =
        check_text(session.lang, check["id"].text_or_empty(), state, detail["version"].text(), detail["name"].text());
    table.add({{text.state, color_of(state)}, {text.label}, {text.meaning}});
    if (const std::string details = details_text(session, state, detail); !details.empty())
      table.add({{""}, {""}, {details, "2"}});
    if (state == "broken") ++broken;
  }
  if (!print_json(session, *reply)) {
    std::string out;
    table.append_to(out);
    out += '\n';
    out += broken == 0 ? say(session.lang, Msg::doctor_all_well)
                       : say(session.lang, Msg::doctor_not_well, {{"count", std::to_string(broken)}});
    print(session, out + '\n');
  }
  return broken == 0 ? exits::good : exits::no;
}

}  // namespace jipsa::cli
