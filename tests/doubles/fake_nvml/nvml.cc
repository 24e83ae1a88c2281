// The calls of the NVML library that Jipsa makes, answered from the world file.
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <string>

#include "world.h"

namespace {

using fake::Fault;
using fake::Gpu;
using fake::State;

constexpr int ok = 0, uninitialized = 1, invalid = 2, insufficient_size = 7, no_function = 13, bad_version = 25;
constexpr unsigned most_gpus = 64;
char handles[most_gpus];  // a handle is the address of its place here
bool initialised = false;

void crash() {
  const rlimit none{0, 0};
  setrlimit(RLIMIT_CORE, &none);
  signal(SIGSEGV, SIG_DFL);
  raise(SIGSEGV);
}

void hang(double seconds) {
  while (seconds < 0) pause();
  usleep(static_cast<useconds_t>(seconds * 1e6));
}

int fault(const State& state, const char* call, const unsigned* gpu) {
  for (const Fault& f : state.world.faults) {
    if (f.call != "*" && f.call != call) continue;
    if (f.gpu && (!gpu || *f.gpu != *gpu)) continue;
    if (f.kind == Fault::Kind::crash) crash();
    if (f.kind == Fault::Kind::hang) hang(f.seconds);
    if (f.kind == Fault::Kind::code && f.code != ok) return f.code;
  }
  return ok;
}

// Every call about one card goes through here: its faults, its being lost.
template <class Answer>
int about(void* handle, const char* call, Answer answer) {
  if (!initialised) return uninitialized;
  const auto index = static_cast<unsigned>(static_cast<char*>(handle) - handles);
  const State state = fake::look();
  if (const int rc = fault(state, call, &index)) return rc;
  const Gpu* gpu = index < most_gpus ? state.find(index) : nullptr;
  if (!gpu) return invalid;
  if (gpu->lost) return gpu->lost;
  return answer(state, *gpu, index);
}

int copy(const std::string& text, char* out, unsigned length) {
  if (text.size() + 1 > length) return insufficient_size;
  std::memcpy(out, text.c_str(), text.size() + 1);
  return ok;
}

template <class T>
void put(unsigned char* at, T value) {
  std::memcpy(at, &value, sizeof value);
}

int list(void* handle, const char* call, unsigned kind, const char* symbols, unsigned row_size, unsigned* count, void* out) {
  return about(handle, call, [&](const State& state, const Gpu&, unsigned index) {
    // A suffix newer than the driver is exported and says that it is not there.
    if (std::string(symbols) > state.world.symbols) return no_function;
    const unsigned size = std::string(symbols) == "v3" ? state.world.row_size : row_size;
    const unsigned room = *count;
    unsigned n = 0;
    for (const fake::Row& row : state.rows(index)) {
      if (!(row.lists & kind)) continue;
      if (n++ >= room) continue;
      unsigned char* at = static_cast<unsigned char*>(out) + (n - 1) * size;
      std::memset(at, 0, size);
      put(at, row.pid);
      put(at + 8, row.bytes.value_or(~std::uint64_t{0}));
      if (size > 16) put(at + 16, ~std::uint64_t{0});  // both instance ids
    }
    *count = n;
    return n > room ? insufficient_size : ok;
  });
}

}  // namespace

extern "C" {

int nvmlInit_v2() {
  const State state = fake::look();
  if (const int rc = fault(state, "init", nullptr)) return rc;
  initialised = true;
  return ok;
}

int nvmlShutdown() {
  initialised = false;
  return ok;
}

int nvmlSystemGetDriverVersion(char* out, unsigned length) {
  const State state = fake::look();
  if (const int rc = fault(state, "driver", nullptr)) return rc;
  return copy(state.world.driver, out, length);
}

int nvmlDeviceGetCount_v2(unsigned* count) {
  if (!initialised) return uninitialized;
  const State state = fake::look();
  if (const int rc = fault(state, "count", nullptr)) return rc;
  *count = state.world.gpus.empty() ? 0 : state.world.gpus.rbegin()->first + 1;
  return ok;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** handle) {
  if (index >= most_gpus) return invalid;
  return about(handles + index, "handle", [&](const State&, const Gpu&, unsigned) {
    *handle = handles + index;
    return ok;
  });
}

int nvmlDeviceGetUUID(void* handle, char* out, unsigned length) {
  return about(handle, "uuid", [&](const State&, const Gpu& gpu, unsigned) { return copy(gpu.uuid, out, length); });
}

int nvmlDeviceGetName(void* handle, char* out, unsigned length) {
  return about(handle, "name", [&](const State&, const Gpu& gpu, unsigned) { return copy(gpu.name, out, length); });
}

int nvmlDeviceGetMigMode(void* handle, unsigned* current, unsigned* pending) {
  return about(handle, "mig", [&](const State&, const Gpu& gpu, unsigned) {
    *current = *pending = gpu.mig ? 1 : 0;
    return ok;
  });
}

int nvmlDeviceGetMemoryInfo(void* handle, std::uint64_t* out) {
  return about(handle, "memory", [&](const State& state, const Gpu& gpu, unsigned) {
    const std::uint64_t used = state.used(gpu) + gpu.reserved;
    out[0] = gpu.total;
    out[1] = gpu.total - used;
    out[2] = used;
    return ok;
  });
}

int nvmlDeviceGetMemoryInfo_v2(void* handle, std::uint64_t* out) {
  return about(handle, "memory_v2", [&](const State& state, const Gpu& gpu, unsigned) {
    if (!gpu.v2) return no_function;
    std::uint32_t version = 0;
    std::memcpy(&version, out, sizeof version);
    if (version != 0x02000028) return bad_version;
    const std::uint64_t used = state.used(gpu);
    out[1] = gpu.total;
    out[2] = gpu.reserved;
    out[3] = gpu.total - gpu.reserved - used;
    out[4] = gpu.used_counts_reserved ? used + gpu.reserved : used;
    return ok;
  });
}

#define FAKE_LIST(symbol, call, kind)                                                                                  \
  int symbol(void* handle, unsigned* count, void* out) { return list(handle, call, kind, "v1", 16, count, out); }      \
  int symbol##_v2(void* handle, unsigned* count, void* out) { return list(handle, call, kind, "v2", 24, count, out); } \
  int symbol##_v3(void* handle, unsigned* count, void* out) { return list(handle, call, kind, "v3", 24, count, out); }

FAKE_LIST(nvmlDeviceGetComputeRunningProcesses, "compute", fake::compute)
FAKE_LIST(nvmlDeviceGetGraphicsRunningProcesses, "graphics", fake::graphics)
FAKE_LIST(nvmlDeviceGetMPSComputeRunningProcesses, "mps", fake::mps)

}  // extern "C"
