// The words of a command line, sorted by what a command says it takes. Knows nothing of what they mean.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "text/catalogue.h"

namespace jipsa::cli {

// What is wrong with the command line; said in the person's language once that is known.
struct Complaint {
  Msg message;
  Args args;
};

enum class Takes {
  flag,
  value,    // --name X, --name=X; the last one counts
  ids,      // --after 41 42: as many numbers as follow; may be repeated
  settings  // --env A=1 B=2: as many NAME=VALUE as follow; may be repeated
};

struct Option {
  std::string_view name;   // "--follow"
  std::string_view brief;  // "-f"; empty: none
  Takes takes;
};

struct Words {
  std::map<std::string, std::vector<std::string>, std::less<>> options;  // by long name
  std::vector<std::string> rest;
  std::optional<Complaint> complaint;  // the first mistake; what was read before it is there

  [[nodiscard]] bool has(std::string_view name) const { return options.find(name) != options.end(); }
  [[nodiscard]] std::optional<std::string> get(std::string_view name) const;
};

enum class Rest {
  words,   // options may come after words
  command  // the first word that is no option begins a command, and all that follows belongs to it
};

Words sort_words(std::span<const std::string> words, std::span<const Option> options, std::span<const Option> more_options,
                 Rest rest);

std::optional<std::int64_t> whole_number(std::string_view word);
std::optional<std::int64_t> job_id(std::string_view word);  // "42", "#42"; at least 1

}  // namespace jipsa::cli
