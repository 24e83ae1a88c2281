#include "daemon/sampler.h"

#include <pthread.h>
#include <signal.h>

#include <memory>
#include <set>
#include <utility>

namespace jipsa {
namespace {

ServerSeen find_server(const ScanAsk::Server& server, const ProcTable& table) {
  ServerSeen seen;
  if (server.known && !server.find) {
    const ProcStat* stat = table.find(*server.known);
    if (stat != nullptr && stat->start == server.known_start) return {server.known, server.known_start, ""};
  }
  if (server.pid) {
    seen.pid = server.pid;
  } else if (server.port) {
    PortOwner owner = find_listener(*server.port);
    seen.pid = owner.pid;
    seen.trouble = std::move(owner.trouble);
  }
  if (!seen.pid) return seen;
  // The listener may have been born after the table was made.
  const ProcStat* stat = table.find(*seen.pid);
  if (stat != nullptr) {
    seen.start = stat->start;
  } else if (const auto late = read_stat(*seen.pid)) {
    seen.start = late->start;
  } else {
    seen.pid.reset();
    seen.trouble = server.pid ? "no_such_process" : seen.trouble;
  }
  return seen;
}

class Rows {
 public:
  explicit Rows(const ProcTable& table) : table_(table) {}

  void add(Pid pid, const std::string& owner) {
    if (!seen_.insert(pid).second) return;
    auto process = read_process(pid);
    if (!process) return;
    process->owner = owner;
    rows_.push_back(std::move(*process));
  }
  void add_tree(Pid root, const std::string& owner, bool with_root) {
    for (const Pid pid : table_.tree(root)) {
      if (with_root || pid != root) add(pid, owner);
    }
  }
  void set_tree_cpu(Pid root) {
    for (Process& row : rows_) {
      if (row.pid == root) row.cpu = table_.tree_cpu(root);
    }
  }
  std::vector<Process> take() { return std::move(rows_); }

 private:
  const ProcTable& table_;
  std::set<Pid> seen_;
  std::vector<Process> rows_;
};

}  // namespace

Scan scan_now(const ScanAsk& ask) {
  Scan scan;
  if (ask.processes) {
    const ProcTable table = ProcTable::read();
    Rows rows(table);
    // Jobs first: a server that a job has started is part of that job.
    for (const auto& [id, shim] : ask.shims) rows.add_tree(shim, "job:" + std::to_string(id), false);
    for (const ScanAsk::Server& server : ask.servers) {
      ServerSeen seen = find_server(server, table);
      if (seen.pid) {
        rows.add_tree(*seen.pid, "tenant:" + server.id, true);
        rows.set_tree_cpu(*seen.pid);
        if (server.arena) {
          if (const auto arena = read_anon_arena(*seen.pid)) scan.arenas[server.id] = *arena;
        }
      }
      scan.servers[server.id] = std::move(seen);
    }
    for (const Pid pid : ask.listed) rows.add(pid, "");
    scan.processes = rows.take();
  }
  scan.memory = read_host_memory();  // last: the totals are to be as young as the rows
  return scan;
}

Sampler::Sampler(Loop& loop) : loop_(loop) {
  // Signals are the loop thread's business.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([this] { work(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

Sampler::~Sampler() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void Sampler::scan(ScanAsk ask, std::function<void(Scan)> done) {
  {
    const std::lock_guard lock(mutex_);
    ask_ = std::move(ask);
    done_ = std::move(done);
  }
  wake_.notify_one();
}

void Sampler::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    wake_.wait(lock, [this] { return stop_ || ask_; });
    if (stop_) return;
    const ScanAsk ask = std::move(*ask_);
    ask_.reset();
    auto done = std::exchange(done_, nullptr);
    lock.unlock();
    auto scan = std::make_shared<Scan>(scan_now(ask));
    loop_.post([done = std::move(done), scan = std::move(scan), guard = std::weak_ptr<bool>(alive_)] {
      if (!guard.expired()) done(std::move(*scan));
    });
    lock.lock();
  }
}

}  // namespace jipsa
