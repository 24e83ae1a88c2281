#include "cli/args.h"

#include <cctype>
#include <charconv>

namespace jipsa::cli {
namespace {

bool is_setting(std::string_view word) {
  const std::size_t equals = word.find('=');
  if (equals == std::string_view::npos || equals == 0) return false;
  for (std::size_t i = 0; i < equals; ++i) {
    const auto c = static_cast<unsigned char>(word[i]);
    if (std::isalpha(c) == 0 && c != '_' && (i == 0 || std::isdigit(c) == 0)) return false;
  }
  return true;
}

class Sorter {
 public:
  Sorter(std::span<const std::string> words, std::span<const Option> options, std::span<const Option> more, Rest rest)
      : words_(words), options_(options), more_(more), rest_(rest) {}

  Words sort() {
    for (; at_ < words_.size() && !out_.complaint; ++at_) {
      const std::string& word = words_[at_];
      if (word == "--") {
        take_rest(at_ + 1);
        break;
      }
      const bool is_option = word.size() > 1 && word[0] == '-';
      if (is_option) {
        option(word);
      } else if (rest_ == Rest::words) {
        out_.rest.push_back(word);
      } else {
        take_rest(at_);
        break;
      }
    }
    return std::move(out_);
  }

 private:
  void take_rest(std::size_t from) {
    out_.rest.insert(out_.rest.end(), words_.begin() + static_cast<std::ptrdiff_t>(from), words_.end());
  }

  void complain(Msg message, Args args) { out_.complaint = Complaint{message, std::move(args)}; }

  void option(const std::string& word) {
    const std::size_t equals = word.starts_with("--") ? word.find('=') : std::string::npos;
    const std::string name = word.substr(0, equals);
    const Option* option = find(name);
    if (option == nullptr) return complain(Msg::unknown_option, {{"option", name}});
    std::optional<std::string> value;
    if (equals != std::string::npos) value = word.substr(equals + 1);
    take(*option, value);
  }

  const Option* find(std::string_view name) const {
    for (const auto& set : {options_, more_}) {
      for (const Option& option : set) {
        if (name == option.name || (!option.brief.empty() && name == option.brief)) return &option;
      }
    }
    return nullptr;
  }

  void take(const Option& option, const std::optional<std::string>& value) {
    auto& values = out_.options[std::string(option.name)];
    if (option.takes == Takes::flag) {
      if (value) complain(Msg::option_takes_no_value, {{"option", std::string(option.name)}});
      return;
    }
    if (value) {
      values.push_back(*value);
    } else if (at_ + 1 < words_.size() && words_[at_ + 1] != "--") {
      values.push_back(words_[++at_]);
    } else {
      return complain(Msg::option_wants_value, {{"option", std::string(option.name)}});
    }
    if (option.takes == Takes::value) {
      values.erase(values.begin(), values.end() - 1);
      return;
    }
    while (at_ + 1 < words_.size()) {  // more of the same kind
      const std::string& next = words_[at_ + 1];
      if (option.takes == Takes::ids ? !job_id(next).has_value() : !is_setting(next)) break;
      values.push_back(next);
      ++at_;
    }
  }

  std::span<const std::string> words_;
  std::span<const Option> options_, more_;
  Rest rest_;
  std::size_t at_ = 0;
  Words out_;
};

}  // namespace

std::optional<std::string> Words::get(std::string_view name) const {
  const auto found = options.find(name);
  if (found == options.end() || found->second.empty()) return std::nullopt;
  return found->second.back();
}

Words sort_words(std::span<const std::string> words, std::span<const Option> options, std::span<const Option> more_options,
                 Rest rest) {
  return Sorter(words, options, more_options, rest).sort();
}

std::optional<std::int64_t> whole_number(std::string_view word) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (word.empty() || error != std::errc{} || end != word.data() + word.size()) return std::nullopt;
  return value;
}

std::optional<std::int64_t> job_id(std::string_view word) {
  if (word.starts_with('#')) word.remove_prefix(1);
  const auto id = whole_number(word);
  return id && *id > 0 ? id : std::nullopt;
}

}  // namespace jipsa::cli
