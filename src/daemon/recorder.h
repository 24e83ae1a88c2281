// The flight record: STATE/recordings/*.jsonl, bounded, each file replayable by itself.
#pragma once

#include <cstdint>
#include <string>

#include "core/decision.h"
#include "core/model.h"
#include "machine/loop.h"
#include "wire/recording.h"

namespace jipsa {

class Recorder {
 public:
  Recorder(Loop& loop, std::string dir, std::int64_t max_bytes);
  ~Recorder();  // what is buffered is written
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  // A new file, with its header and the engine's state. Old files are deleted to stay below the bound.
  void begin(const RecordingHeader& header, Seconds t, const std::string& state_json, std::int64_t wall_ms);
  void begun();  // what came since begin() is the file's preamble, and does not count
  [[nodiscard]] bool full() const { return bytes_in_file_ >= max_bytes_ / 8; }

  void input(const Input& input);
  void output(const Output& output);
  void flush();
  void flush_soon();  // within a second

  [[nodiscard]] const std::string& trouble() const { return trouble_; }  // empty: it is being written
  [[nodiscard]] const std::string& file() const { return path_; }

 private:
  void open_file(std::int64_t wall_ms);
  void make_room() const;
  void give_up(const std::string& what);

  Loop& loop_;
  std::string dir_;
  std::int64_t max_bytes_;
  RecordingWriter writer_;
  std::string buffer_, path_, trouble_;
  int fd_ = -1;
  std::int64_t bytes_in_file_ = 0;
  Loop::TimerId timer_ = 0;
};

}  // namespace jipsa
