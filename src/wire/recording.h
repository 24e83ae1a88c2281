// Recordings: what the daemon saw and what it decided, one JSON object a line (docs/recordings.md).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "core/decision.h"
#include "core/model.h"
#include "core/policy.h"
#include "core/result.h"

namespace jipsa {

struct RecordingHeader {
  Policy policy;
  std::string started;  // RFC 3339: the wall clock at t = 0; may be empty
  std::string host;     // may be empty
};

// The keys of an output as they stand in a recording. monostate is null, which equals a key that is left out.
using KeyValue = std::variant<std::monostate, bool, std::int64_t, double, std::string>;
using Keys = std::vector<std::pair<std::string, KeyValue>>;
Keys keys_of(const Output& output);  // "t" and "type" first; seconds rounded to milliseconds, as they are written

// A line of type `expect`: what must be true of the outputs or of a ledger.
struct Expectation {
  enum class Kind { ledger, output, never, count };
  Kind kind = Kind::output;
  std::optional<Seconds> at, from, by;
  std::optional<std::int64_t> min, max;
  std::string pool, owner;  // ledger
  std::optional<How> how;   // ledger
  Keys match;               // output, never, count
  std::string text;         // the line itself, for people
};

// The state of the core at the start of the recording, as raw JSON text.
struct StateLine {
  Seconds t = 0;
  std::string json;
};

struct RecordingLine {
  int number = 0;  // 1-based
  std::variant<Input, Output, Expectation, StateLine> what;
};

// Reads a recording line by line. Every error names FILE:LINE, what was found there and the mend. After an error: stop.
class RecordingReader {
 public:
  // Both read up to and including the header. "-" is standard input.
  static Result<RecordingReader> open(const std::string& path);
  static Result<RecordingReader> from_text(std::string name, std::string text);
  ~RecordingReader();
  RecordingReader(RecordingReader&&) noexcept;
  RecordingReader& operator=(RecordingReader&&) noexcept;

  [[nodiscard]] const RecordingHeader& header() const;
  Result<bool> next(RecordingLine& line);  // false: the end

  static constexpr std::size_t longest_line = std::size_t{64} << 20;

 private:
  struct Impl;
  explicit RecordingReader(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// A whole file, or standard input for "-"; for those who must read a recording twice.
Result<std::string> read_recording_text(const std::string& path);

// Turns what the daemon sees and decides into lines, each ended by '\n' and appended to `out`. What is unknown is left out or
// null. Any time is written such that reading it gives the same double; a clock rounded to milliseconds (recording_time) gives
// short ones.
class RecordingWriter {
 public:
  void header(const RecordingHeader& header, std::string& out);  // a new file: the next look is written whole
  void state(Seconds t, std::string_view json, std::string& out);
  void input(const Input& input, std::string& out);  // sections of a look that equal the previous look's are left out
  static void output(const Output& output, std::string& out);
  static void keys(const Keys& keys, std::string& out);  // one object, no '\n'
  static void ledger(Seconds t, const Books& books, std::string& out);

 private:
  Observation last_;
};

constexpr Seconds recording_time(std::int64_t milliseconds) { return static_cast<double>(milliseconds) / 1000.0; }

// "job:7", "tenant:comfyui", "process:vllm", "baseline", "driver", "unexplained"; empty if it is none of these.
std::optional<Owner> parse_owner(std::string_view text);

}  // namespace jipsa
