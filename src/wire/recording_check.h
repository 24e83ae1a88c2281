// Whether a replay gave what its recording says it must: the `expect` lines and the outputs that the daemon recorded.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "wire/recording.h"

namespace jipsa {

class RecordingCheck {
 public:
  void expect(int line, Expectation expectation);
  void recorded(int line, const Output& output);
  [[nodiscard]] bool empty() const { return expectations_.empty() && recorded_.empty(); }

  // What the replay gives, in the order of time; after all of expect and recorded. `books` right after the look at `t`.
  void looked(Seconds t, const std::vector<Books>& books);
  void put_out(const Output& output);

  // After the replay: one line for each thing that does not hold, "FILE:LINE: expected …; seen …".
  [[nodiscard]] std::vector<std::string> failures(const std::string& file);

 private:
  struct Expected {
    int line = 0;
    Expectation what;
    std::string failure;
  };
  struct Recorded {
    int line = 0;
    Keys keys;
  };
  void settle_ledgers(const Seconds* next_look);
  [[nodiscard]] std::string ledger_failure(const Expectation& e) const;
  [[nodiscard]] std::string output_failure(const Expectation& e) const;
  [[nodiscard]] std::string first_difference(const std::string& file) const;

  std::vector<Expected> expectations_;
  std::vector<Recorded> recorded_;
  std::vector<std::size_t> ledgers_;  // into expectations_, by `at`, the latest first: settled ones are popped
  bool sorted_ = false;
  bool any_look_ = false;
  Seconds look_t_ = 0;
  std::vector<Books> look_;
  std::set<std::string> pools_;  // of any look so far
  std::vector<Output> outputs_;
};

}  // namespace jipsa
