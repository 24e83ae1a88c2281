#include "machine/runner_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "machine/proc_file.h"
#include "machine/shim_protocol.h"

namespace jipsa {

namespace {

tl::unexpected<Error> failed(const char* call, const std::string& path) {
  return fail(Code::io, fmt::format("{} {}: {}", call, path, std::strerror(errno)));
}

Result<void> write_file(const std::string& path, const std::string& text) {
  const Fd fd(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (!fd) return failed("open", path);
  std::string_view rest = text;
  while (!rest.empty()) {
    const ssize_t n = write(fd.get(), rest.data(), rest.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return failed("write", path);
    rest.remove_prefix(static_cast<std::size_t>(n));
  }
  return {};
}

// A string of the system ends at its first NUL: what came after one would be dropped without a word.
Result<void> check(const std::string& what, const std::string& text) {
  if (text.find('\0') == std::string::npos) return {};
  return fail(Code::bad_input, fmt::format("{}: holds a NUL character; remove it", what));
}

Result<void> check(const JobStart& job) {
  if (job.command.empty())
    return fail(Code::bad_input, fmt::format("job {}: its command is empty; give at least a program", job.id));
  for (const auto& word : job.command)
    if (auto good = check(fmt::format("job {}: an argument", job.id), word); !good) return good;
  for (const auto& word : job.env)
    if (auto good = check(fmt::format("job {}: an environment variable", job.id), word); !good) return good;
  if (auto good = check(fmt::format("job {}: dir", job.id), job.dir); !good) return good;
  return check(fmt::format("job {}: output", job.id), job.output);
}

std::optional<std::string_view> line_after(std::string_view& text, std::string_view word) {
  if (text.find('\n') == std::string_view::npos) return std::nullopt;
  std::string_view line = next_line(text);
  if (!line.starts_with(word)) return std::nullopt;
  line.remove_prefix(word.size());
  return line;
}

bool take_process(std::string_view line, Pid& pid, std::int64_t& start) {
  const auto p = parse_number<Pid>(next_word(line));
  const auto s = parse_number<std::int64_t>(next_word(line));
  if (!p || !s || *p <= 0) return false;
  pid = *p;
  start = *s;
  return true;
}

}  // namespace

JobFolder::JobFolder(const std::string& state_dir, JobId id) : path_(fmt::format("{}/run/{}", state_dir, id)) {}

Result<Fd> JobFolder::claim() const {
  if (mkdir(path_.c_str(), 0700) != 0 && errno != EEXIST) return failed("make", path_);
  const std::string name = path_ + "/lock";
  Fd fd(open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!fd) return failed("open", name);
  if (flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) return fail(Code::conflict, fmt::format("{}: this job already runs; adopt it", path_));
    return failed("lock", name);
  }
  for (const char* left : {"/pids", "/pids.tmp", "/end", "/end.tmp", "/spec", "/input"})
    if (unlink((path_ + left).c_str()) != 0 && errno != ENOENT) return failed("remove", path_ + left);
  return fd;
}

Result<void> JobFolder::write_spec(const JobStart& job, const std::string& cgroup, const std::string& boot) const {
  if (auto good = check(job); !good) return good;
  std::string input;
  if (job.input) {
    input = path_ + "/input";
    if (auto written = write_file(input, *job.input); !written) return written;
  }
  const shim::SpecHead head{shim::spec_magic, static_cast<std::uint32_t>(job.command.size()),
                            static_cast<std::uint32_t>(job.env.size())};
  std::string text(reinterpret_cast<const char*>(&head), sizeof head);
  const auto add = [&](const std::string& word) { text.append(word.c_str(), word.size() + 1); };
  for (const auto& word : {job.output, job.dir, input, cgroup, boot}) add(word);
  std::ranges::for_each(job.command, add);
  std::ranges::for_each(job.env, add);
  return write_file(path_ + "/spec", text);
}

JobFolder::Lock JobFolder::lock() const {
  const Fd fd(open((path_ + "/lock").c_str(), O_RDWR | O_CLOEXEC));
  if (!fd) return errno == ENOENT || errno == ENOTDIR ? Lock::absent : Lock::held;  // can't be looked at: don't take it for dead
  return flock(fd.get(), LOCK_EX | LOCK_NB) == 0 ? Lock::open : Lock::held;
}

std::optional<RunRecord> JobFolder::record() const {
  const auto text = read_file(path_ + "/pids");
  if (!text) return std::nullopt;
  std::string_view rest = *text;
  RunRecord r;
  const auto boot = line_after(rest, "boot ");
  const auto shim = line_after(rest, "shim ");
  const auto job = line_after(rest, "job ");
  const auto cgroup = line_after(rest, "cgroup ");
  if (!boot || !shim || !job || !cgroup) return std::nullopt;
  if (!take_process(*shim, r.pids.shim, r.pids.shim_start) || !take_process(*job, r.pids.pid, r.job_start)) return std::nullopt;
  r.boot = *boot;
  r.cgroup = *cgroup;
  return r;
}

std::optional<JobEnd> JobFolder::end() const {
  const auto text = read_file(path_ + "/end");
  if (!text || text->empty() || text->back() != '\n') return std::nullopt;  // a file of zeros or half a line after a power cut
  std::string_view rest = std::string_view(*text).substr(0, text->size() - 1);
  const std::string_view how = next_word(rest);
  const auto value = parse_number<int>(next_word(rest));
  const auto wall = parse_number<std::int64_t>(next_word(rest));
  if (!value || !wall) return std::nullopt;
  JobEnd e;
  e.ended_wall_ms = *wall;
  if (how == "exited" || how == "signalled") {
    e.how = how == "exited" ? JobEnd::How::exited : JobEnd::How::signalled;
    e.value = *value;
    return e;
  }
  if (how != "not_started") return std::nullopt;
  e.how = JobEnd::How::not_started;
  e.error = rest.empty() ? "" : std::string(rest.substr(1));
  return e;
}

void JobFolder::remove() const {
  std::error_code ignored;  // what stays is in nobody's way: job ids never return
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace jipsa
