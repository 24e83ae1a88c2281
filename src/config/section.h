// One table of the file while it is read: typed access to its keys, and a finding for everything that is not as it should be.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "config/config.h"
#include "config/tree.h"
#include "config/units.h"

namespace jipsa::config {

// Where findings are gathered.
class Findings {
 public:
  Findings(std::string file, std::vector<ConfigFinding>& list) : file_(std::move(file)), list_(list) {}
  void add(int line, const std::string& key, std::string what, std::string mend);

 private:
  std::string file_;
  std::vector<ConfigFinding>& list_;
};

std::string nearest(const std::string& word, const std::vector<std::string>& known);  // empty if none is near
std::string listed(const std::vector<std::string>& words);                            // "a, b, c"
std::string join_key(const std::string& path, const std::string& key);                // "policy.headroom"

bool good_name(const std::string& name);  // [A-Za-z0-9_.-], 1 to 64
constexpr const char* kNameMend = "use up to 64 letters, digits, '_', '.' and '-'";

// Every getter leaves `out` as it is where the key is absent or wrong, and says whether it was there and good.
class Section {
 public:
  enum class Zero { allowed, refused };

  Section(const Table& table, int line, std::string path, Findings& findings);

  bool text(const char* key, std::string& out);  // not empty
  bool flag(const char* key, bool& out);
  bool integer(const char* key, std::int64_t& out, std::int64_t least, std::int64_t most);
  bool size(const char* key, Bytes& out);
  bool duration(const char* key, double& out, Zero zero);
  bool words(const char* key, std::vector<std::string>& out);  // a command: a list of text, the first not empty
  const Table* table(const char* key);
  const Value* any(const char* key);  // the value as it is

  void complain(const char* key, std::string what, std::string mend);  // about a key that is there, or about its absence
  void finish();                                                       // reports the keys that nobody asked for

  [[nodiscard]] int line() const { return line_; }
  [[nodiscard]] std::string path_of(const std::string& key) const { return join_key(path_, key); }
  [[nodiscard]] Findings& findings() { return findings_; }

 private:
  const Member* find(const char* key);
  void wrong_kind(const Member& member, const char* wanted);
  bool word(const Value& item, const std::string& place, std::vector<std::string>& out);
  bool take(const Member& member, const Read<Bytes>& size, Bytes& out);

  const Table& table_;
  int line_;
  std::string path_;
  Findings& findings_;
  std::vector<std::string> known_;
};

// Sizes keyed by pool: { gpu0 = "0.4GiB" }.
Read<Bytes> size_of(const Value& value);
bool good_pool(const std::string& id);  // gpu0, gpu1, …, ram

}  // namespace jipsa::config
