#include "cli/replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <optional>
#include <string>
#include <utility>

#include "core/engine.h"
#include "core/state.h"
#include "wire/recording.h"
#include "wire/recording_check.h"
#include "wire/state.h"

namespace jipsa {

namespace {

constexpr int exit_differs = 1, exit_unreadable = 2, exit_io = 6;
constexpr std::size_t flush_at = std::size_t{1} << 16;

class StandardOutput {
 public:
  std::string& text() { return text_; }
  void flush_if_full() {
    if (text_.size() >= flush_at) flush();
  }
  void flush() {
    failed_ = failed_ || std::fwrite(text_.data(), 1, text_.size(), stdout) != text_.size() || std::fflush(stdout) != 0;
    text_.clear();
  }
  [[nodiscard]] bool failed() const { return failed_; }

 private:
  std::string text_;
  bool failed_ = false;
};

void complain(const std::string& what) { fmt::print(stderr, "jipsa replay: {}\n", what); }

std::string shown_name(const std::string& path) { return path == "-" ? "(standard input)" : path; }

struct Tally {
  std::int64_t looks = 0;
};

// Feeds the inputs of a recording to the core. `on_look(t, books)` after every observe, `on_output(output)` for every output.
template <class OnLook, class OnOutput>
Result<void> feed(RecordingReader& reader, const std::string& name, Tally& tally, OnLook&& on_look, OnOutput&& on_output) {
  Engine engine(reader.header().policy);
  RecordingLine line;
  std::vector<Output> outputs;
  for (;;) {
    const auto more = reader.next(line);
    if (!more) return tl::unexpected(more.error());
    if (!*more) return {};
    if (const auto* state = std::get_if<StateLine>(&line.what)) {
      auto resumed = parse_state(state->json);
      if (!resumed) return fail(Code::unreadable, fmt::format("{}:{}: {}", name, line.number, resumed.error().what));
      engine = Engine(reader.header().policy, *resumed);
    }
    auto* input = std::get_if<Input>(&line.what);
    if (input == nullptr) continue;
    const Seconds t = input->t;
    const bool look = std::holds_alternative<Observation>(input->event);
    outputs.clear();
    engine.step(std::move(*input), outputs);
    if (look) {
      ++tally.looks;
      on_look(t, engine.books());
    }
    for (const Output& output : outputs) on_output(output);
  }
}

Result<void> print_replay(const std::string& path, bool ledger, StandardOutput& out, Tally& tally) {
  auto reader = RecordingReader::open(path);
  if (!reader) return tl::unexpected(reader.error());
  const auto on_look = [&](Seconds t, const std::vector<Books>& books) {
    if (!ledger) return;
    for (const Books& pool : books) RecordingWriter::ledger(t, pool, out.text());
    out.flush_if_full();
  };
  const auto on_output = [&](const Output& output) {
    RecordingWriter::output(output, out.text());
    out.flush_if_full();
  };
  return feed(*reader, shown_name(path), tally, on_look, on_output);
}

// What the recording says must come, wherever in it the lines stand: they are needed before the replay begins.
Result<RecordingCheck> read_check(RecordingReader& reader) {
  RecordingCheck check;
  RecordingLine line;
  for (;;) {
    const auto more = reader.next(line);
    if (!more) return tl::unexpected(more.error());
    if (!*more) return check;
    if (auto* expectation = std::get_if<Expectation>(&line.what)) check.expect(line.number, std::move(*expectation));
    if (const auto* output = std::get_if<Output>(&line.what)) check.recorded(line.number, *output);
  }
}

// The lines for what does not hold.
Result<std::vector<std::string>> check_replay(const std::string& path, Tally& tally) {
  const std::string name = shown_name(path);
  auto text = read_recording_text(path);
  if (!text) return tl::unexpected(text.error());
  auto first = RecordingReader::from_text(name, *text);
  if (!first) return tl::unexpected(first.error());
  auto check = read_check(*first);
  if (!check) return tl::unexpected(check.error());
  if (check->empty()) complain(name + ": no expect lines and no recorded outputs: there is nothing to check");
  auto second = RecordingReader::from_text(name, std::move(*text));
  if (!second) return tl::unexpected(second.error());
  const auto fed = feed(
      *second, name, tally, [&](Seconds t, const std::vector<Books>& books) { check->looked(t, books); },
      [&](const Output& output) { check->put_out(output); });
  if (!fed) return tl::unexpected(fed.error());
  return check->failures(name);
}

int replay_one(const std::string& path, const ReplayOptions& options, StandardOutput& out, Tally& tally) {
  std::optional<Error> error;
  int code = 0;
  if (!options.check) {
    if (const auto done = print_replay(path, options.ledger, out, tally); !done) error = done.error();
  } else if (const auto failures = check_replay(path, tally); !failures) {
    error = failures.error();
  } else {
    for (const std::string& failure : *failures) out.text() += failure + '\n';
    code = failures->empty() ? 0 : exit_differs;
  }
  out.flush();
  if (!error) return code;
  complain(error->what);
  return exit_unreadable;
}

}  // namespace

int run_replay(const ReplayOptions& options) {
  StandardOutput out;
  int code = 0;
  for (const std::string& path : options.files) {
    Tally tally;
    const auto began = std::chrono::steady_clock::now();
    code = std::max(code, replay_one(path, options, out, tally));
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - began;
    if (options.stats) {
      fmt::print(stderr, "{}: {} looks in {:.3f} s, {:.0f} looks/s\n", shown_name(path), tally.looks, spent.count(),
                 static_cast<double>(tally.looks) / std::max(spent.count(), 1e-9));
    }
  }
  if (!out.failed()) return code;
  complain("standard output can not be written");
  return exit_io;
}

}  // namespace jipsa
