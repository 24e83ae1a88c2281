#include "machine/runner.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <thread>
#include <unordered_map>
#include <utility>

#include "machine/cgroup.h"
#include "machine/clock.h"
#include "machine/proc_tree.h"
#include "machine/runner_folder.h"
#include "machine/runner_processes.h"
#include "machine/runner_spawn.h"
#include "machine/sense.h"
#include "machine/shim_protocol.h"

namespace jipsa {

namespace {

using namespace std::chrono_literals;

constexpr auto give_up_killing = 2s;  // on what a dead shim left: a process stuck in a driver may outlast any KILL

std::string program_of(Pid pid) {
  std::array<char, 4096> text{};
  const ssize_t n = readlink(fmt::format("/proc/{}/exe", pid).c_str(), text.data(), text.size());
  return {text.data(), n < 0 ? 0 : static_cast<std::size_t>(n)};
}

// Until it is executed, the job's process is a copy of the shim.
bool executed(const JobPids& pids) {
  const std::string shim = program_of(pids.shim), job = program_of(pids.pid);
  return !job.empty() && job != shim;
}

}  // namespace

struct Runner::Impl {
  struct Run {
    RunRecord record;
    Fd pidfd, status;
    std::string message;  // what has come from the shim
    bool started = false, stopping = false, killing = false;
    std::chrono::milliseconds pause{0};  // between two looks, where one must look again
    Loop::TimerId look = 0, stop = 0;
  };

  Loop& loop;
  std::string dir, shim;
  Events events;
  std::string boot = read_boot_id();
  Cgroups cgroups;
  std::unordered_map<JobId, Run> runs;

  Impl(Loop& l, std::string d, std::string s, Events e) : loop(l), dir(std::move(d)), shim(std::move(s)), events(std::move(e)) {}

  ~Impl() {
    for (auto& [id, run] : runs) release(run);
  }

  Run* find(JobId id) {
    const auto at = runs.find(id);
    return at == runs.end() ? nullptr : &at->second;
  }

  void close_status(Run& run) {
    if (run.status) loop.unwatch(run.status.get());
    run.status.reset();
  }

  void release(Run& run) {
    close_status(run);
    if (run.pidfd) loop.unwatch(run.pidfd.get());
    loop.cancel(run.look);
    loop.cancel(run.stop);
  }

  Result<void> watch(JobId id, Run& run) {
    if (run.status)
      if (auto good = loop.watch(run.status.get(), EPOLLIN, [this, id](std::uint32_t) { on_status(id); }); !good) return good;
    return loop.watch(run.pidfd.get(), EPOLLIN, [this, id](std::uint32_t) { on_shim_end(id); });
  }

  // ---- what the shim says ----

  void on_status(JobId id) {
    Run* run = find(id);
    if (run == nullptr || !run->status) return;
    std::array<char, 4096> text{};
    ssize_t n = 0;
    while ((n = read(run->status.get(), text.data(), text.size())) > 0)
      run->message.append(text.data(), static_cast<std::size_t>(n));
    if (n == 0) close_status(*run);
    shim::Status status;
    if (run->message.size() < sizeof status) return;
    std::memcpy(&status, run->message.data(), sizeof status);
    if (status.kind != shim::Status::executed || run->started) return;
    if (auto record = JobFolder(dir, id).record()) run->record = *record;
    run->record.pids.pid = status.value;
    announce(id, *run);
  }

  void announce(JobId id, Run& run) {
    run.started = true;
    if (run.stopping) signal_job(run.record, boot, run.killing ? SIGKILL : SIGTERM);
    const JobPids pids = run.record.pids;
    if (events.started) events.started(id, pids);  // may change `runs`
  }

  void on_shim_end(JobId id) {
    Run* run = find(id);
    if (run == nullptr) return;
    reap(run->pidfd);
    on_status(id);
    if (run = find(id); run == nullptr) return;
    loop.unwatch(run->pidfd.get());
    settle(id, *run);
  }

  // ---- the end ----

  // The shim is dead: says what became of the job.
  void settle(JobId id, Run& run) {
    const JobFolder folder(dir, id);
    const auto record = folder.record();
    if (record) run.record = *record;
    if (auto end = folder.end()) {
      const bool ran = end->how == JobEnd::How::exited || end->how == JobEnd::How::signalled;
      if (ran && !run.started) announce(id, run);
      return finish(id, std::move(*end));
    }
    if (record) return end_orphans(id, SystemClock().steady_ns());
    JobEnd end{JobEnd::How::not_started, 0, "jipsa-shim ended before it started the job", SystemClock().wall_ms()};
    if (run.message.size() > sizeof(shim::Status)) end.error = run.message.substr(sizeof(shim::Status));
    finish(id, std::move(end));
  }

  void end_orphans(JobId id, std::int64_t since) {
    Run* run = find(id);
    if (run == nullptr) return;
    const bool gone = signal_job(run->record, boot, SIGKILL) == 0;
    const auto tried = std::chrono::nanoseconds(SystemClock().steady_ns() - since);
    if (!gone && tried < give_up_killing) {
      run->look = loop.after(5ms, [this, id, since] { end_orphans(id, since); });
      return;
    }
    finish(id, {JobEnd::How::lost, 0,
                fmt::format("jipsa-shim (pid {}) was killed; what was left of the job {}", run->record.pids.shim,
                            gone ? "was ended" : "does not react to KILL"),
                SystemClock().wall_ms()});
  }

  void finish(JobId id, JobEnd end) {
    auto node = runs.extract(id);
    if (node.empty()) return;
    release(node.mapped());
    cgroup_remove(node.mapped().record.cgroup);
    cgroup_remove(cgroups.path(id));
    if (events.ended) events.ended(id, std::move(end));
  }

  // ---- found after a restart ----

  void look_again(JobId id, Run& run) {
    run.pause = std::min<std::chrono::milliseconds>(std::max<std::chrono::milliseconds>(run.pause * 2, 2ms), 250ms);
    run.look = loop.after(run.pause, [this, id] { look(id); });
  }

  // A shim lives, as its lock is held. Finds which process it is, and whether it has come to execute the job.
  void look(JobId id) {
    Run* run = find(id);
    if (run == nullptr) return;
    if (!run->pidfd && !attach(id, *run)) {
      if (JobFolder(dir, id).lock() == JobFolder::Lock::held) return look_again(id, *run);
      return settle(id, *run);
    }
    if (run->started) return;
    if (executed(run->record.pids)) return announce(id, *run);
    look_again(id, *run);
  }

  bool attach(JobId id, Run& run) {
    const auto record = JobFolder(dir, id).record();
    if (!record || record->boot != boot) return false;
    run.record = *record;
    run.pidfd = open_pidfd(record->pids.shim);
    const auto stat = read_stat(record->pids.shim);
    if (run.pidfd && stat && stat->start == record->pids.shim_start && watch(id, run)) return true;
    run.pidfd.reset();
    return false;
  }

  // ---- stopping ----

  void keep_killing(JobId id, std::chrono::milliseconds pause) {
    Run* run = find(id);
    if (run == nullptr) return;
    run->killing = true;
    signal_job(run->record, boot, SIGKILL);
    run->stop = loop.after(pause, [this, id, pause] { keep_killing(id, std::min<std::chrono::milliseconds>(pause * 2, 1s)); });
  }
};

Runner::Runner(Loop& loop, std::string state_dir, std::string shim_path, Events events, bool use_cgroups)
    : impl_(std::make_unique<Impl>(loop, std::move(state_dir), std::move(shim_path), std::move(events))) {
  mkdir((impl_->dir + "/run").c_str(), 0700);  // if that fails, so does each start, with the system's own words
  if (use_cgroups) impl_->cgroups = Cgroups::find(impl_->dir);
}

Runner::~Runner() = default;

Result<JobPids> Runner::start(const JobStart& job) {
  if (impl_->find(job.id) != nullptr) return fail(Code::conflict, fmt::format("job {} already runs", job.id));
  const JobFolder folder(impl_->dir, job.id);
  const auto lock = folder.claim();
  if (!lock) return tl::unexpected(lock.error());
  Impl::Run run;
  run.record.boot = impl_->boot;
  run.record.cgroup = impl_->cgroups.make(job.id);
  auto spawned = folder.write_spec(job, run.record.cgroup, impl_->boot).and_then([&] {
    return spawn_shim(impl_->shim, folder.path(), *lock);
  });
  if (!spawned) {
    if (const auto record = folder.record()) signal_job(*record, impl_->boot, SIGKILL);
    cgroup_remove(run.record.cgroup);
    return tl::unexpected(spawned.error());
  }
  run.record.pids.shim = spawned->pid;
  if (const auto stat = read_stat(spawned->pid)) run.record.pids.shim_start = stat->start;
  run.pidfd = std::move(spawned->pidfd);
  run.status = std::move(spawned->status);
  Impl::Run& kept = impl_->runs[job.id] = std::move(run);
  if (!impl_->watch(job.id, kept)) {  // epoll is full: the job runs, so look now and then
    impl_->close_status(kept);
    kept.pidfd.reset();
    impl_->look_again(job.id, kept);
  }
  return kept.record.pids;
}

Result<Runner::Found> Runner::adopt(JobId id) {
  if (impl_->find(id) != nullptr) return Found::alive;
  const JobFolder folder(impl_->dir, id);
  if (folder.lock() == JobFolder::Lock::held) {
    impl_->runs[id].look = impl_->loop.after(0ns, [impl = impl_.get(), id] { impl->look(id); });
    if (const auto record = folder.record(); record && record->boot == impl_->boot) impl_->runs[id].record = *record;
    return Found::alive;
  }
  const auto record = folder.record();
  if (folder.end()) {
    Impl::Run& run = impl_->runs[id];
    run.started = true;  // only the end is news
    if (record) run.record = *record;
    run.look = impl_->loop.after(0ns, [impl = impl_.get(), id] {
      if (Impl::Run* ended = impl->find(id)) impl->settle(id, *ended);
    });
    return Found::ended;
  }
  if (!record) {
    cgroup_remove(impl_->cgroups.path(id));
    return Found::never_started;
  }
  const std::int64_t until = SystemClock().steady_ns() + std::chrono::nanoseconds(give_up_killing).count();
  while (signal_job(*record, impl_->boot, SIGKILL) > 0 && SystemClock().steady_ns() < until) std::this_thread::sleep_for(2ms);
  if (record->boot == impl_->boot) cgroup_remove(record->cgroup);
  return Found::shim_died;
}

void Runner::stop(JobId id, std::chrono::milliseconds grace) {
  Impl::Run* run = impl_->find(id);
  if (run == nullptr || run->killing) return;
  run->stopping = true;
  impl_->loop.cancel(run->stop);
  if (grace > 0ms) signal_job(run->record, impl_->boot, SIGTERM);
  run->stop = impl_->loop.after(std::max<std::chrono::milliseconds>(grace, 0ms),
                                [impl = impl_.get(), id] { impl->keep_killing(id, 10ms); });
}

std::vector<Pid> Runner::processes(JobId id) const {
  const Impl::Run* run = impl_->find(id);
  return run == nullptr ? std::vector<Pid>{} : job_processes(run->record, impl_->boot);
}

void Runner::forget(JobId id) {
  if (impl_->find(id) != nullptr) return;  // it still runs, and its end needs the folder
  const JobFolder folder(impl_->dir, id);
  if (const auto record = folder.record()) cgroup_remove(record->cgroup);
  cgroup_remove(impl_->cgroups.path(id));
  folder.remove();
}

}  // namespace jipsa
