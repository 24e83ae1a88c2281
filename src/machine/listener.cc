// Which process listens on a local TCP port.
#include <dirent.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <unordered_set>

#include "machine/proc_file.h"
#include "machine/sense.h"

namespace jipsa {

namespace {

using Inodes = std::unordered_set<std::uint64_t>;

// Programs that hold a port for a server that is elsewhere: in a container, or on another machine.
constexpr std::array proxies{"docker-proxy", "rootlessport", "rootlesskit", "slirp4netns", "pasta", "pasta.avx2", "ssh"};

struct Listening {
  Inodes near;  // on loopback or any address: what a local client reaches
  Inodes far;   // on another address of this machine
};

// Loopback or any address, of IPv4 or IPv6. The bytes of each 32-bit word stand in reverse.
bool near_address(std::string_view hex) {
  if (hex.size() == 32 && hex.starts_with("0000000000000000FFFF0000")) hex.remove_prefix(24);  // IPv4 within IPv6
  if (hex.find_first_not_of('0') == std::string_view::npos) return true;
  if (hex.size() == 8) return hex.ends_with("7F");
  return hex == "00000000000000000000000001000000";
}

// "  0: 0100007F:1FFC 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000  0 12345 1 …"
void take_row(std::string_view row, std::uint16_t port, Listening& found) {
  next_word(row);
  const std::string_view local = next_word(row);
  next_word(row);
  if (next_word(row) != "0A") return;
  const std::size_t colon = local.find(':');
  if (colon == std::string_view::npos || parse_number<std::uint16_t>(local.substr(colon + 1), 16) != port) return;
  for (int skip = 0; skip < 5; ++skip) next_word(row);  // queues, timer, retransmits, uid, timeout
  const auto inode = parse_number<std::uint64_t>(next_word(row));
  if (inode && *inode != 0) (near_address(local.substr(0, colon)) ? found.near : found.far).insert(*inode);
}

bool take_table(const std::string& path, std::uint16_t port, Listening& found) {
  const auto text = read_file(path, std::size_t{32} << 20);
  if (!text) return false;
  std::string_view rest = *text;
  next_line(rest);  // the headings
  while (!rest.empty()) take_row(next_line(rest), port, found);
  return true;
}

bool holds(const std::string& folder, const Inodes& inodes, bool& unreadable) {
  DIR* dir = opendir(folder.c_str());
  if (dir == nullptr) {
    unreadable = unreadable || errno == EACCES;
    return false;
  }
  bool found = false;
  std::array<char, 64> target{};
  while (const dirent* entry = found ? nullptr : readdir(dir)) {
    const ssize_t n = readlinkat(dirfd(dir), entry->d_name, target.data(), target.size());
    std::string_view link(target.data(), n < 0 ? 0 : static_cast<std::size_t>(n));
    if (!link.starts_with("socket:[") || !link.ends_with("]")) continue;
    const auto inode = parse_number<std::uint64_t>(link.substr(8, link.size() - 9));
    found = inode && inodes.contains(*inode);
  }
  closedir(dir);
  return found;
}

struct Holders {
  std::vector<Pid> pids;
  bool unreadable = false;  // there are processes whose files may not be seen
};

Holders find_holders(const Inodes& inodes, const std::string& proc) {
  Holders holders;
  DIR* dir = opendir(proc.c_str());
  if (dir == nullptr) return holders;
  while (const dirent* entry = readdir(dir)) {
    const auto pid = parse_number<Pid>(entry->d_name);
    if (pid && *pid > 0 && holds(proc + "/" + entry->d_name + "/fd", inodes, holders.unreadable)) holders.pids.push_back(*pid);
  }
  closedir(dir);
  return holders;
}

bool descends(const ProcTable& table, Pid pid, Pid from) {
  for (int steps = 0; steps < 4096; ++steps) {
    if (pid == from) return true;
    const ProcStat* row = table.find(pid);
    if (row == nullptr || row->parent == 0) return false;
    pid = row->parent;
  }
  return false;
}

// A server that forked its workers after listening shares the socket with them: it is the one that all the others descend from.
PortOwner choose(std::vector<Pid> pids, std::uint16_t port, const std::string& proc) {
  const ProcTable table = ProcTable::read(proc);
  // systemd keeps the sockets that it hands to a service it started.
  const auto activator = [&](Pid pid) {
    const ProcStat* row = table.find(pid);
    return row != nullptr && row->name == "systemd";
  };
  if (!std::ranges::all_of(pids, activator)) std::erase_if(pids, activator);
  for (const Pid first : pids) {
    if (!std::ranges::all_of(pids, [&](Pid pid) { return descends(table, pid, first); })) continue;
    const ProcStat* row = table.find(first);
    if (row == nullptr) break;
    if (std::ranges::find(proxies, row->name) != proxies.end())
      return {{},
              fmt::format("port {} is held by {} (pid {}): the server itself is in a container or on another machine", port,
                          row->name, first)};
    if (activator(first))
      return {{}, fmt::format("port {} is held by systemd (pid {}) for a service that has not started", port, first)};
    return {first, {}};
  }
  std::ranges::sort(pids);
  std::string list;
  for (const Pid pid : pids) list += fmt::format("{}{}", list.empty() ? "" : ", ", pid);
  return {{}, fmt::format("port {} is held by several processes ({}), and none is the others' parent", port, list)};
}

}  // namespace

PortOwner find_listener(std::uint16_t port, const std::string& proc) {
  Listening found;
  const bool four = take_table(proc + "/net/tcp", port, found);
  const bool six = take_table(proc + "/net/tcp6", port, found);
  if (!four && !six) return {{}, fmt::format("{}/net/tcp can't be read", proc)};
  const Inodes& inodes = found.near.empty() ? found.far : found.near;
  if (inodes.empty()) return {};
  Holders holders = find_holders(inodes, proc);
  if (!holders.pids.empty()) return choose(std::move(holders.pids), port, proc);
  if (holders.unreadable) return {{}, fmt::format("port {} is held by a process of another user", port)};
  return {{},
          fmt::format("port {} is held by a process that can't be seen from here (another pid namespace, or the kernel)", port)};
}

}  // namespace jipsa
