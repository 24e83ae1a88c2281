// What a job is started with.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "daemon/desk.h"

namespace jipsa {
namespace {

bool replace_all(std::string& in, const std::string& what, const std::string& with) {
  bool any = false;
  for (std::size_t at = in.find(what); at != std::string::npos; at = in.find(what, at + with.size())) {
    in.replace(at, what.size(), with);
    any = true;
  }
  return any;
}

Result<void> write_text(const std::string& path, const std::string& text) {
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (fd < 0) return fail(Code::io, fmt::format("cannot write {}: {}", path, std::strerror(errno)));
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t n = write(fd, text.data() + done, text.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {
      const int error = errno;
      close(fd);
      return fail(Code::io, fmt::format("cannot write {}: {}", path, std::strerror(error)));
    }
    done += static_cast<std::size_t>(n);
  }
  close(fd);
  return {};
}

void set_variable(std::vector<std::string>& env, const std::string& key, const std::string& value) {
  std::erase_if(env, [&](const std::string& entry) { return entry.rfind(key + "=", 0) == 0; });
  env.push_back(key + "=" + value);
}

}  // namespace

std::vector<std::string> Desk::environment(const JobRecord& record) const {
  std::vector<std::string> env = record.env;
  set_variable(env, "JIPSA_JOB_ID", std::to_string(record.job.id));
  set_variable(env, "JIPSA_SOCKET", places_.socket);
  const bool needs_gpu =
      std::any_of(record.job.needs.begin(), record.job.needs.end(), [](const Need& n) { return n.pool != "ram"; });
  if (const std::string uuid = pools_.uuid_of(record.gpu_pool); needs_gpu && !uuid.empty()) {
    set_variable(env, "CUDA_VISIBLE_DEVICES", uuid);
  }
  return env;
}

// A launcher's command is kept with its placeholders, and filled in only here: the text may be long, and its file's name has the
// job's id in it.
Result<JobStart> Desk::make_start(const JobRecord& record) const {
  JobStart start;
  start.id = record.job.id;
  start.command = record.command;
  start.dir = record.dir;
  start.env = environment(record);
  start.output = output_of(record.job.id);
  if (record.launcher.empty()) return start;
  const std::string file = fmt::format("{}/{}.text", places_.jobs_dir, record.job.id);
  bool as_argument = false, as_file = false;
  for (std::string& argument : start.command) {
    // The file first, and only where the text is not: what stands in the text is the text's.
    if (argument.find("{text}") == std::string::npos) {
      as_file |= replace_all(argument, "{file}", file);
    } else {
      as_argument |= replace_all(argument, "{text}", record.text);
    }
  }
  if (as_file) {
    if (auto written = write_text(file, record.text); !written) return tl::unexpected(written.error());
  }
  if (!as_argument && !as_file) start.input = record.text;
  return start;
}

}  // namespace jipsa
