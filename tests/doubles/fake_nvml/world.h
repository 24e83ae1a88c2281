// The world file of the fake driver library: what its cards hold and how it misbehaves. README.md has the format.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace fake {

enum Lists : unsigned { compute = 1, graphics = 2, mps = 4 };

struct Row {
  unsigned pid = 0;
  std::optional<std::uint64_t> bytes;
  unsigned lists = compute;
};

struct Gpu {
  std::string uuid, name = "Fake GPU";
  std::uint64_t total = 0, base = 0, reserved = 0;
  bool v2 = true, used_counts_reserved = false, amounts = true, mig = false;
  int lost = 0;
  std::vector<Row> rows;
};

struct Fault {
  std::string call;  // "*": every call
  std::optional<unsigned> gpu;
  enum class Kind { code, hang, crash } kind = Kind::code;
  int code = 0;
  double seconds = 0;  // hang; negative: for ever
};

struct World {
  std::string driver = "580.95.05", holder_dir, symbols = "v3";
  unsigned row_size = 24;
  std::map<unsigned, Gpu> gpus;
  std::vector<Fault> faults;
};

struct State {
  World world;
  std::uint64_t used(const Gpu& gpu) const;  // base and what living holders hold
  std::vector<Row> rows(unsigned index) const;
  struct Holding {
    unsigned gpu = 0;
    Row row;
  };
  std::vector<Holding> holdings;
  const Gpu* find(unsigned index) const;
};

// The world as it is at this moment. Exits the process with a message when the file is not as it should be: a test must not pass
// by it.
State look();

}  // namespace fake
