#include "config/section.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

namespace jipsa::config {
namespace {

std::string printable(std::string text) {
  for (auto& c : text)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  return text;
}

std::size_t distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t above = row[j];
      row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0 : 1)});
      diagonal = above;
    }
  }
  return row[b.size()];
}

}  // namespace

void Findings::add(int line, const std::string& key, std::string what, std::string mend) {
  list_.push_back({file_, line, printable(key.substr(0, 200)), printable(std::move(what)), printable(std::move(mend))});
}

std::string nearest(const std::string& word, const std::vector<std::string>& known) {
  if (word.size() > 64) return {};
  std::string best;
  std::size_t least = 3;  // more than two slips is another word
  for (const auto& candidate : known) {
    const auto d = distance(word, candidate);
    if (d < least && d * 2 < std::max<std::size_t>(candidate.size(), 3)) {
      least = d;
      best = candidate;
    }
  }
  return best;
}

std::string listed(const std::vector<std::string>& words) { return fmt::format("{}", fmt::join(words, ", ")); }

std::string join_key(const std::string& path, const std::string& key) { return path.empty() ? key : path + "." + key; }

bool good_name(const std::string& name) {
  const auto good = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '-';
  };
  return !name.empty() && name.size() <= 64 && std::all_of(name.begin(), name.end(), good);
}

bool good_pool(const std::string& id) {
  if (id == "ram") return true;
  return id.size() > 3 && id.size() < 8 && id.starts_with("gpu") &&
         std::all_of(id.begin() + 3, id.end(), [](char c) { return c >= '0' && c <= '9'; });
}

Read<Bytes> size_of(const Value& value) {
  if (const auto* text = std::get_if<std::string>(&value.data)) return read_size(*text);
  if (const auto* count = std::get_if<std::int64_t>(&value.data)) return size_from_integer(*count);
  if (const auto* number = std::get_if<double>(&value.data))
    return tl::unexpected<Complaint>(fraction_without_unit(fmt::format("{}", *number)));
  auto complaint = read_size("").error();
  complaint.what = fmt::format("is {}, and should be a size", kind_of(value));
  return tl::unexpected<Complaint>(std::move(complaint));
}

Section::Section(const Table& table, int line, std::string path, Findings& findings)
    : table_(table), line_(line), path_(std::move(path)), findings_(findings) {}

const Member* Section::find(const char* key) {
  known_.emplace_back(key);
  const auto found =
      std::find_if(table_.members.begin(), table_.members.end(), [&](const Member& member) { return member.key == key; });
  return found == table_.members.end() ? nullptr : &*found;
}

void Section::wrong_kind(const Member& member, const char* wanted) {
  findings_.add(member.line, path_of(member.key), fmt::format("is {}", kind_of(member.value)), fmt::format("write {}", wanted));
}

bool Section::text(const char* key, std::string& out) {
  const auto* member = find(key);
  if (member == nullptr) return false;
  const auto* value = std::get_if<std::string>(&member->value.data);
  if (value == nullptr || value->empty() || value->find('\0') != std::string::npos) {
    if (value == nullptr)
      wrong_kind(*member, "text in quotes");
    else
      findings_.add(member->line, path_of(key), value->empty() ? "is empty" : "has a NUL in it",
                    "write text, or leave the key out");
    return false;
  }
  out = *value;
  return true;
}

bool Section::flag(const char* key, bool& out) {
  const auto* member = find(key);
  if (member == nullptr) return false;
  const auto* value = std::get_if<bool>(&member->value.data);
  if (value == nullptr)
    wrong_kind(*member, "true or false, without quotes");
  else
    out = *value;
  return value != nullptr;
}

bool Section::integer(const char* key, std::int64_t& out, std::int64_t least, std::int64_t most) {
  const auto* member = find(key);
  if (member == nullptr) return false;
  const auto wanted = fmt::format("a whole number from {} to {}", least, most);
  const auto* value = std::get_if<std::int64_t>(&member->value.data);
  if (value == nullptr) {
    wrong_kind(*member, wanted.c_str());
    return false;
  }
  if (*value < least || *value > most) {
    findings_.add(member->line, path_of(key), fmt::format("{} is out of range", *value), "write " + wanted);
    return false;
  }
  out = *value;
  return true;
}

bool Section::take(const Member& member, const Read<Bytes>& size, Bytes& out) {
  if (size)
    out = *size;
  else
    findings_.add(member.line, path_of(member.key), size.error().what, size.error().mend);
  return size.has_value();
}

bool Section::size(const char* key, Bytes& out) {
  const auto* member = find(key);
  return member != nullptr && take(*member, size_of(member->value), out);
}

bool Section::duration(const char* key, double& out, Zero zero) {
  const auto* member = find(key);
  if (member == nullptr) return false;
  Read<double> seconds = 0.0;
  if (const auto* text = std::get_if<std::string>(&member->value.data)) {
    seconds = read_duration(*text);
  } else if (const auto* whole = std::get_if<std::int64_t>(&member->value.data)) {
    seconds = duration_from_number(static_cast<double>(*whole));
  } else if (const auto* number = std::get_if<double>(&member->value.data)) {
    seconds = duration_from_number(*number);
  } else {
    wrong_kind(*member, "seconds as a number, or \"500ms\", \"30s\", \"10m\", \"2h\" or \"1d\"");
    return false;
  }
  if (seconds && *seconds == 0 && zero == Zero::refused)
    seconds = tl::unexpected<Complaint>(Complaint{"must be more than 0", "write a longer duration, or leave the key out"});
  if (!seconds) {
    findings_.add(member->line, path_of(key), seconds.error().what, seconds.error().mend);
    return false;
  }
  out = *seconds;
  return true;
}

bool Section::word(const Value& item, const std::string& place, std::vector<std::string>& out) {
  const auto* text = std::get_if<std::string>(&item.data);
  if (text != nullptr && text->find('\0') == std::string::npos) {
    out.push_back(*text);
    return true;
  }
  if (text == nullptr)
    findings_.add(item.line, place, fmt::format("is {}", kind_of(item)), "put it in quotes");
  else
    findings_.add(item.line, place, "has a NUL in it", "leave it out: no program can be given one");
  return false;
}

bool Section::words(const char* key, std::vector<std::string>& out) {
  const auto* member = find(key);
  if (member == nullptr) return false;
  constexpr const char* kWanted = "a list of text: [\"program\", \"argument\"]";
  const auto* list = std::get_if<Array>(&member->value.data);
  if (list == nullptr) {
    wrong_kind(*member, kWanted);
    return false;
  }
  std::vector<std::string> read;
  bool good = true;
  for (std::size_t i = 0; i < list->size(); ++i) good = word((*list)[i], fmt::format("{}[{}]", path_of(key), i), read) && good;
  if (!good) return false;
  if (read.empty() || read[0].empty()) {
    findings_.add(member->line, path_of(key), read.empty() ? "is empty" : "names no program", fmt::format("write {}", kWanted));
    return false;
  }
  out = std::move(read);
  return true;
}

const Table* Section::table(const char* key) {
  const auto* member = find(key);
  if (member == nullptr) return nullptr;
  const auto* value = std::get_if<Table>(&member->value.data);
  if (value == nullptr) wrong_kind(*member, fmt::format("a table: [{}]", path_of(key)).c_str());
  return value;
}

const Value* Section::any(const char* key) {
  const auto* member = find(key);
  return member == nullptr ? nullptr : &member->value;
}

void Section::complain(const char* key, std::string what, std::string mend) {
  const auto* member = find(key);
  findings_.add(member == nullptr ? line_ : member->line, path_of(key), std::move(what), std::move(mend));
}

void Section::finish() {
  std::sort(known_.begin(), known_.end());
  known_.erase(std::unique(known_.begin(), known_.end()), known_.end());
  for (const auto& member : table_.members) {
    if (std::binary_search(known_.begin(), known_.end(), member.key)) continue;
    const auto near = nearest(member.key, known_);
    findings_.add(member.line, path_of(member.key), "unknown key",
                  near.empty() ? "known here: " + listed(known_) : fmt::format("did you mean \"{}\"?", near));
  }
}

}  // namespace jipsa::config
