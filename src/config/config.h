// What the owner asked for: the configuration file, checked. Used by the daemon and by `jipsa config check`.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/policy.h"
#include "core/result.h"

namespace jipsa {

struct TenantEntry {
  std::string id, kind, url;
  std::vector<std::string> restart_command;
  std::string unit;
  double restart_deadline = 120;
  std::optional<Pid> pid;
};

struct LauncherEntry {
  std::vector<std::string>
      command;  // argv; "{text}" and "{file}" in an argument are replaced; if neither occurs the text goes to standard input
};

struct Config {
  Policy policy;                            // [policy], [pool.<id>], and what [[tenant]] says of restart, keep, slots, floor
  std::string nvml;                         // [driver] nvml = PATH; empty: the system's library
  double sample_every = 0.25;               // [sense] seconds between looks while something is watched or waits
  double idle_every = 2.0;                  //         and while nothing does
  std::int64_t recording_bytes = 64 << 20;  // [recording] upper bound of all recording files together
  double kill_grace = 10;                   // [queue] seconds between TERM and KILL
  std::vector<TenantEntry> tenants;
  std::map<std::string, LauncherEntry> launchers;
};

// One finding about the file. `line` is 1-based, 0 if it concerns the whole file.
struct ConfigFinding {
  std::string file;
  int line = 0;
  std::string key;   // "tenant[0].restart"
  std::string what;  // what is wrong
  std::string mend;  // what to write instead
};
std::string to_string(const ConfigFinding&);  // "FILE:LINE: KEY: WHAT; MEND"

// Reads and checks `path`. A file that does not exist is an empty configuration unless `must_exist`.
// Every finding is reported, not just the first: unknown keys and sections too.
struct ConfigReading {
  Config config;
  std::vector<ConfigFinding> findings;  // empty: good
};
ConfigReading read_config(const std::string& path, bool must_exist);

// Sizes as people write them: "15G", "15GiB", "15360M" (binary), "15GB" (decimal), "123" bytes. Not negative, below 2^62.
Result<Bytes> parse_size(const std::string& text);

// Durations as people write them: "90", "500ms", "30s", "10m", "1.5h", "1d"; seconds, at most a year.
Result<double> parse_duration(const std::string& text);

// Where things are: --config/--state/--socket, then JIPSA_*, then XDG folders.
struct Places {
  std::string config_file, state_dir, socket;
};
struct PlaceOptions {
  std::string config_file, state_dir, socket;  // from the command line; empty: not given
};
Result<Places> find_places(const PlaceOptions& options);

}  // namespace jipsa
