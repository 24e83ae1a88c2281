#include "machine/runner_processes.h"

#include <signal.h>

#include <algorithm>
#include <unordered_set>

#include "machine/cgroup.h"
#include "machine/proc_tree.h"
#include "machine/sense.h"

namespace jipsa {

namespace {

bool lives(const ProcStat& s) { return s.state != 'Z' && s.state != 'X'; }

// Alive, and not another that was given the number since.
bool is(Pid pid, std::int64_t start) {
  if (pid <= 0) return false;
  const auto s = read_stat(pid);
  return s && s->start == start && lives(*s);
}

// The shim is dead, and with it the certainty that every orphan is below it. What is left: the first process's tree, and its
// session, whose number can't be given to another process as long as anyone is in it.
std::vector<Pid> orphans(const RunRecord& job) {
  std::vector<Pid> found;
  if (job.pids.pid <= 0) return found;
  const ProcTable table = ProcTable::read();
  const ProcStat* first = table.find(job.pids.pid);
  if (first != nullptr && first->start != job.job_start) return found;  // the number is another's now
  for (const Pid pid : table.tree(job.pids.pid)) found.push_back(pid);
  for (const Pid pid : table.session(job.pids.pid)) {
    const auto tree = table.tree(pid);
    found.insert(found.end(), tree.begin(), tree.end());
  }
  return found;
}

}  // namespace

std::vector<Pid> job_processes(const RunRecord& job, const std::string& boot) {
  std::vector<Pid> found;
  if (job.boot != boot) return found;  // numbers of another boot mean nothing
  found = cgroup_processes(job.cgroup);
  const bool shim = is(job.pids.shim, job.pids.shim_start);
  for (const Pid pid : shim ? list_tree(job.pids.shim) : orphans(job)) found.push_back(pid);
  std::ranges::sort(found);
  found.erase(std::ranges::unique(found).begin(), found.end());
  std::erase_if(found, [&](Pid pid) {
    const auto s = read_stat(pid);
    return !s || !lives(*s) || (shim && pid == job.pids.shim);
  });
  return found;
}

std::size_t signal_job(const RunRecord& job, const std::string& boot, int sig) {
  std::unordered_set<Pid> seen;
  std::size_t first = 0;
  if (sig == SIGKILL && job.boot == boot) cgroup_kill(job.cgroup);
  for (int round = 0; round < 8; ++round) {
    const std::vector<Pid> pids = job_processes(job, boot);
    if (round == 0) first = pids.size();
    bool more = false;
    for (const Pid pid : pids) {
      if (!seen.insert(pid).second) continue;
      more = true;
      kill(pid, sig == SIGKILL ? SIGSTOP : sig);  // what is stopped can't fork while the rest is being counted
      if (sig == SIGTERM) kill(pid, SIGCONT);     // a stopped process could not act on it
    }
    if (!more) break;
  }
  if (sig == SIGKILL)
    for (const Pid pid : seen) kill(pid, SIGKILL);
  return first;
}

}  // namespace jipsa
