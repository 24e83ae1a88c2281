// /proc/meminfo, and which boot this is.
#include "machine/proc_file.h"
#include "machine/sense.h"

namespace jipsa {

HostMemory read_host_memory(const std::string& proc) {
  const auto text = read_file(proc + "/meminfo");
  if (!text) return {};
  // Kernels before 3.14 have no MemAvailable. MemFree is no substitute: page cache is most of a used machine.
  return {find_kib(*text, "MemTotal"), find_kib(*text, "MemAvailable"), find_kib(*text, "SwapTotal"),
          find_kib(*text, "SwapFree")};
}

std::string read_boot_id(const std::string& proc) {
  const auto text = read_file(proc + "/sys/kernel/random/boot_id");
  if (!text) return {};
  std::string_view rest = *text;
  return std::string(next_word(rest));
}

}  // namespace jipsa
