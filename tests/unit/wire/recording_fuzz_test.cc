// Any text whatever gives lines or an error that names a line; never a crash. Meant to run under the address sanitizer too.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cctype>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "wire/recording.h"
#include "wire/recording_json.h"

namespace jipsa {
namespace {

const std::vector<std::string>& seeds() {
  static const std::vector<std::string> lines{
      R"({"type":"recording","version":1,"started":"x","host":"h","config":{"headroom":1,"pools":{"gpu0":{"baseline":5}},"tenants":{"c":{"restart":"auto","keep":true,"floor":{"gpu0":5}}}}})",
      R"({"t":0.25,"type":"observe","pools":[{"id":"gpu0","kind":"gpu","total":34190917632,"used":18792579072.0,"processes":[{"pid":4242,"bytes":null}]},{"id":"ram","kind":"ram","total":68719476736,"available":1e10}],"processes":[{"pid":4242,"start":1000,"name":"py\u00e9\ud83d\ude00\n","rss_anon":21000000000,"cpu":12.5}],"tenants":[{"id":"c","kind":"comfyui","pid":4242,"reachable":true,"running":0,"pending":null,"last_used":-9240,"report":{"pool":"gpu0","models":[{"name":"m","bytes":5}]}}]})",
      R"({"t":1,"type":"submit","job":{"id":1,"name":"영상","needs":{"gpu":17179869184,"ram":8589934592},"priority":-1,"after":[2,3]}})",
      R"({"t":2,"type":"started","job":1,"pids":[1,2,3]})",
      R"({"t":2,"type":"released","tenant":"c","ok":true,"status":200})",
      R"({"t":3,"type":"verdict","tenant":"c","pool":"ram","verdict":"late","before":5,"after":null,"settled_s":0.7})",
      R"({"t":3,"type":"wait","job":1,"code":"leftover","pool":"gpu0","short":5,"owner":"tenant:c"})",
      R"({"type":"expect","at":4.5,"ledger":"gpu0","owner":"tenant:c","min":16500000000,"max":16800000000,"how":"eliminated"})",
      R"({"type":"expect","by":6,"output":{"type":"release","tenant":"c","for":null}})",
      R"({"t":9,"type":"state","state":{"a":[1,2,{"b":"}"}]}})"};
  return lines;
}

std::string mutated(std::string line) {
  const int changes = *rc::gen::inRange(1, 4);
  for (int i = 0; i < changes && !line.empty(); ++i) {
    const auto at = *rc::gen::inRange<std::size_t>(0, line.size());
    const auto length = std::min(*rc::gen::inRange<std::size_t>(1, 12), line.size() - at);
    switch (*rc::gen::inRange(0, 6)) {
      case 0:
        line.erase(at, length);
        break;
      case 1:
        line.insert(at, line.substr(at, length));
        break;
      case 2:
        line[at] = static_cast<char>(*rc::gen::inRange(0, 256));
        break;
      case 3:
        line.insert(at, *rc::gen::element<std::string>("{", "}", "[", "]", "\"", "\\", ",", ":", "\\u", "1e999", "-", "null",
                                                       "\xff", "\n", "9999999999999999999"));
        break;
      case 4:
        line.resize(at);
        break;
      default:
        line.replace(at, length, line.substr(line.size() / 2, length));
        break;
    }
  }
  return line;
}

// "fuzz:<digits>: ": the error names its line.
bool names_a_line(const std::string& what) {
  if (!what.starts_with("fuzz:")) return false;
  std::size_t at = 5;
  while (at < what.size() && std::isdigit(static_cast<unsigned char>(what[at])) != 0) ++at;
  return at > 5 && what.compare(at, 2, ": ") == 0 && what.size() > at + 2;
}

void read_all(const std::string& text) {
  auto reader = RecordingReader::from_text("fuzz", text);
  if (!reader) {
    RC_ASSERT(names_a_line(reader.error().what));
    return;
  }
  RecordingWriter writer;
  std::string out;
  RecordingLine line;
  for (;;) {
    const auto more = reader->next(line);
    if (!more) {
      RC_ASSERT(names_a_line(more.error().what));
      return;
    }
    if (!*more) return;
    RC_ASSERT(line.number >= 1);
    if (const auto* input = std::get_if<Input>(&line.what)) writer.input(*input, out);
    if (const auto* output = std::get_if<Output>(&line.what)) RecordingWriter::output(*output, out);
  }
}

constexpr int tries = 30;  // in each of RapidCheck's 100 cases

RC_GTEST_PROP(RecordingFuzz, MutatedRecordingsGiveLinesOrAnErrorWithALine, ()) {
  for (int i = 0; i < tries; ++i) {
    std::string text;
    const auto broken = *rc::gen::inRange<std::size_t>(0, seeds().size());
    for (std::size_t n = 0; n < seeds().size(); ++n) text += (n == broken ? mutated(seeds()[n]) : seeds()[n]) + "\n";
    read_all(text);
  }
}

RC_GTEST_PROP(RecordingFuzz, NoiseIsRefused, ()) {
  for (int i = 0; i < tries; ++i) {
    const auto bytes = *rc::gen::container<std::string>(rc::gen::arbitrary<char>());
    read_all(bytes);
    read_all(seeds()[0] + "\n" + bytes);
  }
}

// Empty: a number beyond any double stopped it (its error 406). That is JSON all the same, and the cursor refuses such a number
// only where it must convert it, so there is nothing to compare.
std::optional<bool> other_parser_accepts(const std::string& line) {
  try {
    return !nlohmann::json::parse(line).is_discarded();
  } catch (const nlohmann::json::out_of_range& e) {
    if (e.id == 406) return std::nullopt;
    throw;
  } catch (const nlohmann::json::parse_error&) { return false; }
}

// The cursor accepts exactly what a complete JSON parser accepts.
RC_GTEST_PROP(RecordingFuzz, AgreesWithAnotherParserOnWhatIsJson, ()) {
  for (int i = 0; i < tries; ++i) {
    std::string line = mutated(*rc::gen::elementOf(seeds()));
    JsonCursor cursor(line);
    std::string raw;
    cursor.read_raw(raw);
    cursor.end();
    const bool ours = cursor.ok() && valid_utf8(line);
    const auto theirs = other_parser_accepts(line);
    if (!theirs) continue;
    if (ours != *theirs) RC_FAIL(line + "\n" + cursor.error());
  }
}

}  // namespace
}  // namespace jipsa
