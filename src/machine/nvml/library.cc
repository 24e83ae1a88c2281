#include "machine/nvml/library.h"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <iterator>

namespace jipsa::nvml {
namespace {

constexpr std::size_t suffixed[] = {plain_row, wide_row}, unsuffixed[] = {narrow_row};

bool in_wsl() {
  std::ifstream file("/proc/version");
  std::string version{std::istreambuf_iterator<char>(file), {}};
  std::transform(version.begin(), version.end(), version.begin(), [](unsigned char c) { return std::tolower(c); });
  return version.find("microsoft") != std::string::npos && access("/dev/dxg", F_OK) == 0;
}

// Under WSL a library packaged by the distribution is the wrong one; Windows' own comes first.
std::vector<std::string> candidates(const std::string& path) {
  if (!path.empty()) return {path};
  if (in_wsl()) return {"/usr/lib/wsl/lib/libnvidia-ml.so.1", "libnvidia-ml.so.1"};
  return {"libnvidia-ml.so.1"};
}

template <class F>
void find(void* library, F*& call, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    call = reinterpret_cast<F*>(dlsym(library, name));
    if (call) return;
  }
}

std::vector<ListCall> find_list(void* library, std::initializer_list<const char*> names) {
  std::vector<ListCall> found;
  for (const char* name : names) {
    ListCall list{name, nullptr,
                  std::string(name).find("_v") == std::string::npos ? std::span<const std::size_t>(unsuffixed) : suffixed};
    find(library, list.call, {name});
    if (list.call) found.push_back(list);
  }
  return found;
}

Calls find_all(void* library) {
  Calls calls;
  find(library, calls.init, {"nvmlInit_v2", "nvmlInit"});
  find(library, calls.shutdown, {"nvmlShutdown"});
  find(library, calls.driver_version, {"nvmlSystemGetDriverVersion"});
  find(library, calls.count, {"nvmlDeviceGetCount_v2", "nvmlDeviceGetCount"});
  find(library, calls.handle, {"nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetHandleByIndex"});
  find(library, calls.uuid, {"nvmlDeviceGetUUID"});
  find(library, calls.name, {"nvmlDeviceGetName"});
  find(library, calls.memory_v1, {"nvmlDeviceGetMemoryInfo"});
  find(library, calls.memory_v2, {"nvmlDeviceGetMemoryInfo_v2"});
  find(library, calls.mig_mode, {"nvmlDeviceGetMigMode"});
  calls.compute = find_list(library, {"nvmlDeviceGetComputeRunningProcesses_v3", "nvmlDeviceGetComputeRunningProcesses_v2",
                                      "nvmlDeviceGetComputeRunningProcesses"});
  calls.graphics = find_list(library, {"nvmlDeviceGetGraphicsRunningProcesses_v3", "nvmlDeviceGetGraphicsRunningProcesses_v2",
                                       "nvmlDeviceGetGraphicsRunningProcesses"});
  calls.mps = find_list(library, {"nvmlDeviceGetMPSComputeRunningProcesses_v3", "nvmlDeviceGetMPSComputeRunningProcesses_v2",
                                  "nvmlDeviceGetMPSComputeRunningProcesses"});
  return calls;
}

}  // namespace

Result<Calls> load(const std::string& path) {
  Error missing{Code::not_found, ""};
  for (const std::string& name : candidates(path)) {
    void* library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library) {
      const char* said = dlerror();
      Error error{Code::unreadable, said ? said : name + ": cannot be loaded"};
      // The same words about another file mean that the library is there and something it needs is not.
      if (!error.what.starts_with(name + ": cannot open shared object file: No such file")) return tl::unexpected(error);
      missing.what = error.what;
      continue;
    }
    const Calls calls = find_all(library);
    if (calls.init && calls.count && calls.handle && calls.uuid && (calls.memory_v1 || calls.memory_v2)) return calls;
    return fail(Code::unreadable, name + ": is not an NVML library: a call is missing; name another with [driver] nvml");
  }
  return tl::unexpected(missing);
}

}  // namespace jipsa::nvml
