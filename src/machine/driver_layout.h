// The NVML library's structures as they lie in memory, and what their numbers mean. Pure: no call is made here.
// The library's versions disagree on sizes under one symbol name and on what "used" counts, so nothing is believed that
// arithmetic on the same read does not bear out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/model.h"

namespace jipsa::nvml {

struct MemoryV1 {
  std::uint64_t total = 0, free = 0, used = 0;  // used counts the driver's reserve
};
static_assert(sizeof(MemoryV1) == 24);

struct MemoryV2 {
  std::uint32_t version = 0;
  std::uint64_t total = 0, reserved = 0, free = 0, used = 0;
};
static_assert(sizeof(MemoryV2) == 40 && offsetof(MemoryV2, total) == 8 && offsetof(MemoryV2, used) == 32);

inline constexpr std::uint32_t memory_v2_version = 0x02000028;  // size | 2 << 24; a plain 2 is refused with code 25

struct MemoryBooks {
  std::optional<Bytes> total, used, free,
      reserved;  // total = used + reserved + free, an unknown reserve counting as part of used
  std::string trouble;
};

// Decides by the sums whether `used` counts the reserve.
MemoryBooks books_of(const MemoryV2& read);
MemoryBooks books_of(const MemoryV1& read);

// One entry of a process list, whatever its stride was.
struct ProcessRow {
  Pid pid = 0;
  std::optional<Bytes> bytes;
  std::uint32_t gpu_instance = 0xFFFFFFFF, compute_instance = 0xFFFFFFFF;  // all ones: no MIG
  bool operator==(const ProcessRow&) const = default;
};

// Entry sizes: 16 (no suffix), 24 (_v2, most _v3), 32 (_v3 of drivers 535.43 to 535.8x).
inline constexpr std::size_t narrow_row = 16, plain_row = 24, wide_row = 32;

// Reads `count` entries, trying each stride in turn; empty when none makes sense: with MIG off every instance id is all ones,
// every pid is above 0, and no process uses more than the card has. `buffer` must hold count entries of the largest stride.
std::optional<std::vector<ProcessRow>> decode_rows(std::span<const std::byte> buffer, std::size_t count,
                                                   std::span<const std::size_t> strides, bool mig, std::optional<Bytes> total);

// Compute, graphics and MPS lists as one: a process in two of them shows its whole figure in both, so the larger counts once.
// Over several MIG instances a process has several figures, which do add up.
std::vector<DeviceProcess> merge_rows(std::span<const ProcessRow> rows);

// "lost", "no_permission", …; "error_999" for codes without a name of their own.
std::string trouble_of(int code);

namespace code {
inline constexpr int ok = 0, uninitialized = 1, not_supported = 3, no_permission = 4, insufficient_size = 7,
                     driver_not_loaded = 9, library_not_found = 12, function_not_found = 13, lost = 15, reset_required = 16,
                     operating_system = 17, version_mismatch = 18, argument_version = 25;
}

}  // namespace jipsa::nvml
