// /proc/<pid>/stat and status: one process.
#include <unistd.h>

#include <array>

#include "machine/proc_file.h"
#include "machine/proc_tree.h"
#include "machine/sense.h"

namespace jipsa {

namespace {

// The name stands in parentheses and may itself hold blanks and parentheses: only the last one is certain to be its end.
std::optional<ProcStat> parse(std::string_view text) {
  const std::size_t open = text.find('(');
  const std::size_t close = text.rfind(')');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) return std::nullopt;
  ProcStat s;
  std::string_view before = text.substr(0, open);
  const auto pid = parse_number<Pid>(next_word(before));
  if (!pid) return std::nullopt;
  s.pid = *pid;
  s.name = printable(text.substr(open + 1, close - open - 1));
  text.remove_prefix(close + 1);
  const std::string_view state = next_word(text);
  if (state.size() != 1) return std::nullopt;
  s.state = state[0];
  std::array<std::int64_t, 19> field{};  // fields 4 (parent) to 22 (start time) of proc(5)
  for (auto& value : field) {
    const auto n = parse_number<std::int64_t>(next_word(text));
    if (!n) return std::nullopt;
    value = *n;
  }
  s.parent = static_cast<Pid>(field[0]);
  s.group = static_cast<Pid>(field[1]);
  s.session = static_cast<Pid>(field[2]);
  const auto ticks = field[10] + field[11] + field[12] + field[13];  // utime, stime, and those of waited-for children
  s.cpu = static_cast<double>(ticks) / static_cast<double>(sysconf(_SC_CLK_TCK));
  s.start = field[18];
  return s;
}

std::string path_of(const std::string& proc, Pid pid, const char* file) { return proc + "/" + std::to_string(pid) + "/" + file; }

double cpu_of_tree(Pid root, const std::string& proc) {
  double sum = 0;
  for (const Pid pid : list_tree(root, proc))
    if (const auto s = read_stat(pid, proc)) sum += s->cpu;
  return sum;
}

}  // namespace

std::optional<ProcStat> read_stat(Pid pid, const std::string& proc) {
  const auto text = read_file(path_of(proc, pid, "stat"));
  return text ? parse(*text) : std::nullopt;
}

namespace {

template <class Cpu>
std::optional<Process> read_memory(Pid pid, const std::string& proc, Cpu&& cpu) {
  const auto before = read_stat(pid, proc);
  if (!before) return std::nullopt;
  const auto status = read_file(path_of(proc, pid, "status"));
  if (!status) return std::nullopt;
  Process p;
  p.pid = pid;
  p.start = before->start;
  p.name = before->name;
  p.rss_anon = find_kib(*status, "RssAnon");  // kernel threads and zombies have no such lines: unknown, not 0
  p.rss_file = find_kib(*status, "RssFile");
  p.rss_shmem = find_kib(*status, "RssShmem");
  p.swap = find_kib(*status, "VmSwap");
  p.cpu = cpu(*before);
  const auto after = read_stat(pid, proc);
  if (!after || after->start != before->start) return std::nullopt;  // the pid was given to another meanwhile
  return p;
}

}  // namespace

std::optional<Process> read_process(Pid pid, const std::string& proc) {
  return read_memory(pid, proc, [&](const ProcStat&) { return std::optional(cpu_of_tree(pid, proc)); });
}

std::optional<Process> read_process(Pid pid, const ProcTable& table, const std::string& proc) {
  return read_memory(pid, proc, [&](const ProcStat& now) -> std::optional<double> {
    const ProcStat* then = table.find(pid);
    if (then == nullptr || then->start != now.start) return std::nullopt;  // younger than the table
    return table.tree_cpu(pid);
  });
}

}  // namespace jipsa
