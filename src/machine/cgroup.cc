#include "machine/cgroup.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "machine/fd.h"
#include "machine/proc_file.h"

namespace jipsa {

namespace {

// Blanks in paths stand as "\040" in mountinfo.
std::string unescape(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto code = text[i] == '\\' ? parse_number<unsigned>(text.substr(i + 1, 3), 8) : std::nullopt;
    out += code ? static_cast<char>(*code) : text[i];
    if (code) i += 3;
  }
  return out;
}

struct Mount {
  std::string root, point;
};

// "41 31 0:38 / /sys/fs/cgroup/unified rw,relatime shared:9 - cgroup2 cgroup2 rw"
std::optional<Mount> find_mount(std::string_view mountinfo) {
  while (!mountinfo.empty()) {
    std::string_view line = next_line(mountinfo);
    const std::size_t dash = line.find(" - ");
    if (dash == std::string_view::npos || !line.substr(dash + 3).starts_with("cgroup2 ")) continue;
    for (int skip = 0; skip < 3; ++skip) next_word(line);
    Mount mount;
    mount.root = unescape(next_word(line));
    mount.point = unescape(next_word(line));
    return mount;
  }
  return std::nullopt;
}

std::optional<std::string> own_place(std::string_view cgroup) {
  while (!cgroup.empty()) {
    const std::string_view line = next_line(cgroup);
    if (line.starts_with("0::/")) return std::string(line.substr(3));
  }
  return std::nullopt;
}

// Names of the folders in a folder.
std::vector<std::string> folders(const std::string& path) {
  std::vector<std::string> names;
  DIR* dir = opendir(path.c_str());
  if (dir == nullptr) return names;
  while (const dirent* entry = readdir(dir))
    if (entry->d_type == DT_DIR && entry->d_name[0] != '.') names.emplace_back(entry->d_name);
  closedir(dir);
  return names;
}

bool make_folder(const std::string& path) { return mkdir(path.c_str(), 0755) == 0 || errno == EEXIST; }

void collect(const std::string& path, std::vector<Pid>& pids) {
  if (const auto text = read_file(path + "/cgroup.procs")) {
    std::string_view rest = *text;
    while (const auto pid = parse_number<Pid>(next_word(rest)))
      if (*pid > 0) pids.push_back(*pid);  // 0: a process of another pid namespace
  }
  for (const std::string& name : folders(path)) collect(path + "/" + name, pids);
}

}  // namespace

Cgroups Cgroups::find(const std::string& state_dir, const std::string& proc) {
  Cgroups none;
  const auto mountinfo = read_file(proc + "/self/mountinfo");
  const auto cgroup = read_file(proc + "/self/cgroup");
  struct stat info{};
  if (!mountinfo || !cgroup || stat(state_dir.c_str(), &info) != 0) return none;
  const auto mount = find_mount(*mountinfo);
  auto place = own_place(*cgroup);
  if (!mount || !place) return none;
  if (mount->root != "/") {  // only a part of the hierarchy is mounted here
    if (!place->starts_with(mount->root)) return none;
    place->erase(0, mount->root.size());
  }
  while (place->ends_with('/')) place->pop_back();
  Cgroups found;
  found.base_ = fmt::format("{}{}/jipsa-{:x}-{:x}", mount->point, *place, info.st_dev, info.st_ino);
  return found;
}

// One that was busy when its job ended (the last process was still on its way out) goes here; those of running jobs stay.
Cgroups::~Cgroups() { cgroup_remove(base_); }

std::string Cgroups::path(JobId id) const { return base_.empty() ? std::string{} : fmt::format("{}/job-{}", base_, id); }

std::string Cgroups::make(JobId id) const {
  const std::string job = path(id);
  return !job.empty() && make_folder(base_) && make_folder(job) ? job : std::string{};
}

std::vector<Pid> cgroup_processes(const std::string& path) {
  std::vector<Pid> pids;
  if (!path.empty()) collect(path, pids);
  return pids;
}

bool cgroup_kill(const std::string& path) {
  if (path.empty()) return false;
  const Fd fd(open((path + "/cgroup.kill").c_str(), O_WRONLY | O_CLOEXEC));
  return fd && write(fd.get(), "1", 1) == 1;
}

bool cgroup_remove(const std::string& path) {
  if (path.empty()) return true;
  for (const std::string& name : folders(path)) cgroup_remove(path + "/" + name);
  return rmdir(path.c_str()) == 0 || errno == ENOENT;
}

}  // namespace jipsa
