// The NVML library, loaded at run time: which file, and which of its calls exist.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "core/result.h"
#include "machine/driver_layout.h"

namespace jipsa::nvml {

using Device = void*;

// One process list: the newest symbol first, each with the entry sizes it is known to have been built with.
struct ListCall {
  const char* name;
  int (*call)(Device, unsigned* count, void* rows);
  std::span<const std::size_t> strides;
};

// A null pointer is a call that this library does not have.
struct Calls {
  int (*init)() = nullptr;
  int (*shutdown)() = nullptr;
  int (*driver_version)(char*, unsigned) = nullptr;
  int (*count)(unsigned*) = nullptr;
  int (*handle)(unsigned, Device*) = nullptr;
  int (*uuid)(Device, char*, unsigned) = nullptr;
  int (*name)(Device, char*, unsigned) = nullptr;
  int (*memory_v1)(Device, MemoryV1*) = nullptr;
  int (*memory_v2)(Device, MemoryV2*) = nullptr;
  int (*mig_mode)(Device, unsigned* current, unsigned* pending) = nullptr;
  std::vector<ListCall> compute, graphics, mps;
};

// Loads `path`, or the system's library if it is empty. Code::not_found: there is none, which is normal on many machines.
// The library stays loaded as long as the process lives: NVML does not survive being unloaded on every driver.
Result<Calls> load(const std::string& path);

}  // namespace jipsa::nvml
