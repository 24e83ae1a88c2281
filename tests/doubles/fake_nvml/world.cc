#include "world.h"

#include <dirent.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>

namespace fake {
namespace {

[[noreturn]] void refuse(const std::string& file, const std::string& line) {
  std::fprintf(stderr, "fake_nvml: %s: cannot understand \"%s\"\n", file.c_str(), line.c_str());
  _exit(90);
}

bool yes(const std::string& word) { return word == "yes" || word == "1"; }

unsigned lists_of(const std::string& words) {
  unsigned lists = 0;
  if (words.find("compute") != std::string::npos) lists |= compute;
  if (words.find("graphics") != std::string::npos) lists |= graphics;
  if (words.find("mps") != std::string::npos) lists |= mps;
  return lists ? lists : static_cast<unsigned>(compute);
}

std::optional<std::uint64_t> amount(const std::string& word) {
  if (word == "none") return std::nullopt;
  return std::strtoull(word.c_str(), nullptr, 10);
}

bool gpu_line(World& world, std::istringstream& in) {
  unsigned index = 0;
  std::string key, value;
  if (!(in >> index >> key)) return false;
  Gpu& gpu = world.gpus[index];
  std::getline(in >> std::ws, value);
  std::istringstream words(value);
  if (key == "uuid")
    gpu.uuid = value;
  else if (key == "name")
    gpu.name = value;
  else if (key == "total")
    words >> gpu.total;
  else if (key == "base")
    words >> gpu.base;
  else if (key == "reserved")
    words >> gpu.reserved;
  else if (key == "v2")
    gpu.v2 = yes(value);
  else if (key == "used_counts_reserved")
    gpu.used_counts_reserved = yes(value);
  else if (key == "amounts")
    gpu.amounts = yes(value);
  else if (key == "mig")
    gpu.mig = yes(value);
  else if (key == "lost")
    words >> gpu.lost;
  else if (key == "process") {
    Row row;
    std::string bytes, lists;
    if (!(words >> row.pid >> bytes)) return false;
    words >> lists;
    row.bytes = amount(bytes);
    row.lists = lists_of(lists);
    gpu.rows.push_back(row);
    return true;
  } else {
    return false;
  }
  return !words.fail();
}

bool fault_line(World& world, const std::string& kind, std::istringstream& in) {
  Fault fault;
  std::string number;
  if (!(in >> fault.call)) return false;
  if (kind == "return") {
    fault.kind = Fault::Kind::code;
    if (!(in >> fault.code)) return false;
  } else if (kind == "hang") {
    fault.kind = Fault::Kind::hang;
    if (!(in >> number)) return false;
    fault.seconds = number == "forever" ? -1 : std::atof(number.c_str());
  } else {
    fault.kind = Fault::Kind::crash;
  }
  unsigned gpu = 0;
  if (in >> gpu) fault.gpu = gpu;
  world.faults.push_back(fault);
  return true;
}

World read_world(const std::string& path) {
  World world;
  std::ifstream file(path);
  if (!file) refuse(path, "(no such file: name it with JIPSA_FAKE_NVML)");
  std::string line;
  while (std::getline(file, line)) {
    std::istringstream in(line);
    std::string word;
    if (!(in >> word) || word[0] == '#') continue;
    bool good = true;
    if (word == "gpu")
      good = gpu_line(world, in);
    else if (word == "driver")
      in >> world.driver;
    else if (word == "symbols")
      in >> world.symbols;
    else if (word == "row_size")
      in >> world.row_size;
    else if (word == "holder_dir")
      std::getline(in >> std::ws, world.holder_dir);
    else if (word == "return" || word == "hang" || word == "crash")
      good = fault_line(world, word, in);
    else
      good = false;
    if (!good || in.bad() || (in.fail() && !in.eof())) refuse(path, line);
  }
  for (auto& [index, gpu] : world.gpus) {
    if (gpu.uuid.empty()) gpu.uuid = "GPU-fake-" + std::to_string(index);
  }
  return world;
}

// Dead, or dead and not yet waited for: its memory is gone either way.
bool lives(const std::string& pid) {
  std::ifstream stat("/proc/" + pid + "/stat");
  std::string text;
  std::getline(stat, text);
  const auto end = text.rfind(')');
  return end != std::string::npos && end + 2 < text.size() && text[end + 2] != 'Z' && text[end + 2] != 'X';
}

void read_holder(const std::string& path, const std::string& pid, std::vector<State::Holding>& holdings) {
  std::ifstream file(path);
  std::string line;
  while (std::getline(file, line)) {
    std::istringstream in(line);
    State::Holding holding;
    std::string bytes, lists;
    if (!(in >> holding.gpu >> bytes)) continue;  // an empty file holds nothing
    in >> lists;
    holding.row = {static_cast<unsigned>(std::atoi(pid.c_str())), amount(bytes), lists_of(lists)};
    holdings.push_back(holding);
  }
}

std::vector<State::Holding> read_holders(const std::string& folder) {
  std::vector<State::Holding> holdings;
  DIR* dir = folder.empty() ? nullptr : opendir(folder.c_str());
  if (!dir) return holdings;
  while (const dirent* entry = readdir(dir)) {
    const std::string pid = entry->d_name;
    if (pid.find_first_not_of("0123456789") == std::string::npos && lives(pid)) read_holder(folder + "/" + pid, pid, holdings);
  }
  closedir(dir);
  return holdings;
}

}  // namespace

std::vector<Row> State::rows(unsigned index) const {
  const Gpu* gpu = find(index);
  std::vector<Row> rows = gpu->rows;
  for (const Holding& holding : holdings) {
    if (holding.gpu == index) rows.push_back(holding.row);
  }
  if (!gpu->amounts) {
    for (Row& row : rows) row.bytes.reset();
  }
  return rows;
}

std::uint64_t State::used(const Gpu& gpu) const {
  std::uint64_t used = gpu.base;
  for (const Holding& holding : holdings) {
    if (find(holding.gpu) == &gpu) used += holding.row.bytes.value_or(0);
  }
  return used < gpu.total - gpu.reserved ? used : gpu.total - gpu.reserved;
}

const Gpu* State::find(unsigned index) const {
  const auto found = world.gpus.find(index);
  return found == world.gpus.end() ? nullptr : &found->second;
}

State look() {
  static struct stat seen{};
  static World world;
  const char* path = std::getenv("JIPSA_FAKE_NVML");
  if (!path) refuse("JIPSA_FAKE_NVML", "(not set)");
  struct stat now{};
  const bool there = stat(path, &now) == 0;
  const bool same = there && now.st_ino == seen.st_ino && now.st_size == seen.st_size &&
                    now.st_mtim.tv_sec == seen.st_mtim.tv_sec && now.st_mtim.tv_nsec == seen.st_mtim.tv_nsec;
  if (!same) world = read_world(path);
  seen = now;
  State state;
  state.world = world;
  state.holdings = read_holders(world.holder_dir);
  return state;
}

}  // namespace fake
