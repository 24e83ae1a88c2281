// `jipsa replay`: a recording's inputs through the decision core, on the recording's own clock.
#pragma once

#include <string>
#include <vector>

namespace jipsa {

struct ReplayOptions {
  std::vector<std::string> files;  // "-": standard input
  bool ledger = false;             // also the books of every pool at every look
  bool check = false;              // print nothing but what does not hold
  bool stats = false;              // looks a second, on standard error
};

// 0: done, and with `check` all holds; 1: something does not hold; 2: a file is unreadable; 6: standard output can't be written.
int run_replay(const ReplayOptions& options);

}  // namespace jipsa
