// All processes and their kinship.
#include <dirent.h>

#include <algorithm>
#include <unordered_set>

#include "machine/proc_file.h"
#include "machine/proc_tree.h"
#include "machine/sense.h"

namespace jipsa {

namespace {

template <class F>
void each_number(const std::string& folder, F&& f) {
  DIR* dir = opendir(folder.c_str());
  if (dir == nullptr) return;
  while (const dirent* entry = readdir(dir))
    if (const auto pid = parse_number<Pid>(entry->d_name); pid && *pid > 0) f(*pid);
  closedir(dir);
}

// What the kernel lists as the children of each of its threads. Empty optional: this kernel has no such lists.
std::optional<std::vector<Pid>> children(Pid pid, const std::string& proc) {
  const std::string tasks = proc + "/" + std::to_string(pid) + "/task";
  std::vector<Pid> found;
  bool listed = false;
  each_number(tasks, [&](Pid thread) {
    const auto text = read_file(tasks + "/" + std::to_string(thread) + "/children");
    if (!text) return;
    listed = true;
    std::string_view rest = *text;
    while (const auto child = parse_number<Pid>(next_word(rest))) found.push_back(*child);
  });
  if (!listed && read_stat(pid, proc)) return std::nullopt;
  return found;
}

}  // namespace

std::vector<Pid> list_tree(Pid root, const std::string& proc) {
  if (!read_stat(root, proc)) return {};
  std::vector<Pid> tree{root};
  std::unordered_set<Pid> seen{root};
  for (std::size_t i = 0; i < tree.size(); ++i) {
    const auto below = children(tree[i], proc);
    if (!below) return ProcTable::read(proc).tree(root);
    for (const Pid pid : *below)
      if (seen.insert(pid).second) tree.push_back(pid);
  }
  return tree;
}

ProcTable ProcTable::read(const std::string& proc) {
  ProcTable table;
  each_number(proc, [&](Pid pid) {
    if (auto stat = read_stat(pid, proc)) table.rows_.push_back(std::move(*stat));
  });
  std::ranges::sort(table.rows_, {}, &ProcStat::pid);
  for (std::size_t row = 0; row < table.rows_.size(); ++row) table.by_parent_.push_back(row);
  std::ranges::stable_sort(table.by_parent_, {}, [&](std::size_t row) { return table.rows_[row].parent; });
  return table;
}

std::vector<Pid> ProcTable::tree(Pid root) const {
  if (find(root) == nullptr) return {};
  std::vector<Pid> tree{root};
  std::unordered_set<Pid> seen{root};  // rows are read one after another: with reused pids they may even form a ring
  const auto parent = [&](std::size_t row) { return rows_[row].parent; };
  for (std::size_t i = 0; i < tree.size(); ++i)
    for (const std::size_t row : std::ranges::equal_range(by_parent_, tree[i], {}, parent))
      if (seen.insert(rows_[row].pid).second) tree.push_back(rows_[row].pid);
  return tree;
}

const ProcStat* ProcTable::find(Pid pid) const {
  const auto at = std::ranges::lower_bound(rows_, pid, {}, &ProcStat::pid);
  return at != rows_.end() && at->pid == pid ? &*at : nullptr;
}

std::vector<Pid> ProcTable::session(Pid id) const {
  std::vector<Pid> members;
  for (const ProcStat& row : rows_)
    if (row.session == id) members.push_back(row.pid);
  return members;
}

double ProcTable::tree_cpu(Pid root) const {
  double sum = 0;
  for (const Pid pid : tree(root)) sum += find(pid)->cpu;
  return sum;
}

}  // namespace jipsa
