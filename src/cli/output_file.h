// A job's output file, copied to standard output as it grows.
#pragma once

#include <string>

#include "cli/session.h"

namespace jipsa::cli {

class OutputFile {
 public:
  OutputFile(const Session& session, std::string path) : session_(session), path_(std::move(path)) {}
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  // Copies what has come since the last call. False: it can't be read (error() says why) or standard output is gone.
  bool copy_new();
  [[nodiscard]] int error() const { return error_; }     // errno; ENOENT while there is no file yet
  [[nodiscard]] int watch_fd() const { return watch_; }  // readable when the file has grown; -1 while there is nothing to watch
  void drain_watch() const;

 private:
  bool open();

  const Session& session_;
  std::string path_;
  int file_ = -1, watch_ = -1, error_ = 0;
};

}  // namespace jipsa::cli
