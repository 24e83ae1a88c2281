#include "machine/driver_layout.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <map>
#include <utility>

namespace jipsa::nvml {
namespace {

constexpr std::uint64_t not_available = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint64_t no_instance = 0xFFFFFFFF;
constexpr std::uint64_t believable = std::uint64_t{1} << 50;  // a PiB: above it a total is a sentinel or garbage
constexpr Bytes slack = mib(16);  // sums that miss by rounding are still told apart; a real reserve is larger

Bytes off_by(Bytes sum, Bytes total) { return sum > total ? sum - total : total - sum; }

Bytes amount(std::uint64_t n) {
  return n > static_cast<std::uint64_t>(Bytes::highest().count()) ? Bytes::highest() : Bytes{static_cast<std::int64_t>(n)};
}

template <class T>
T field(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

MemoryBooks unknown(std::string trouble) {
  MemoryBooks books;
  books.trouble = std::move(trouble);
  return books;
}

// Sums that do not close leave used and free unknown: which of the three is wrong cannot be told.
MemoryBooks only_total(Bytes total) {
  MemoryBooks books = unknown("memory_sums");
  books.total = total;
  return books;
}

std::optional<std::vector<ProcessRow>> decode_at(std::span<const std::byte> buffer, std::size_t count, std::size_t stride,
                                                 bool mig, std::optional<Bytes> total) {
  if (buffer.size() / stride < count) return std::nullopt;
  std::vector<ProcessRow> rows;
  rows.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::byte* at = buffer.data() + i * stride;
    const auto used = field<std::uint64_t>(at + 8);
    ProcessRow row;
    row.pid = static_cast<Pid>(field<std::uint32_t>(at));
    if (stride > narrow_row) {
      row.gpu_instance = field<std::uint32_t>(at + 16);
      row.compute_instance = field<std::uint32_t>(at + 20);
    }
    if (!mig && (row.gpu_instance != no_instance || row.compute_instance != no_instance)) return std::nullopt;
    if (row.pid <= 0) return std::nullopt;  // all that tells rows of unknown amount apart when read at the wrong stride
    if (used != not_available) {
      row.bytes = amount(used);
      if (*row.bytes > total.value_or(Bytes{static_cast<std::int64_t>(believable)})) return std::nullopt;
    }
    rows.push_back(row);
  }
  return rows;
}

}  // namespace

MemoryBooks books_of(const MemoryV2& read) {
  if (read.total == 0) return unknown("not_supported");  // as on chips that share the host's memory
  if (read.total > believable) return unknown("memory_sums");
  const Bytes total = amount(read.total), reserved = amount(read.reserved), free = amount(read.free), used = amount(read.used);
  const Bytes apart = off_by(used + reserved + free, total);
  const Bytes within = off_by(used + free, total);
  if (std::min(apart, within) > slack || reserved > total || free > total) return only_total(total);
  MemoryBooks books{total, used, free, reserved, ""};
  if (within < apart) books.used = used - reserved;
  books.free = total - *books.used - reserved;
  if (*books.used < Bytes{} || *books.free < Bytes{}) return only_total(total);
  return books;
}

MemoryBooks books_of(const MemoryV1& read) {
  if (read.total == 0) return unknown("not_supported");
  if (read.total > believable) return unknown("memory_sums");
  const Bytes total = amount(read.total), free = amount(read.free), used = amount(read.used);
  if (off_by(used + free, total) > slack || used > total) return only_total(total);
  return MemoryBooks{total, used, total - used, std::nullopt, ""};
}

std::optional<std::vector<ProcessRow>> decode_rows(std::span<const std::byte> buffer, std::size_t count,
                                                   std::span<const std::size_t> strides, bool mig, std::optional<Bytes> total) {
  for (const std::size_t stride : strides) {
    if (auto rows = decode_at(buffer, count, stride, mig, total)) return rows;
  }
  return std::nullopt;
}

std::vector<DeviceProcess> merge_rows(std::span<const ProcessRow> rows) {
  using Instance = std::pair<std::uint32_t, std::uint32_t>;
  std::map<Pid, std::map<Instance, std::optional<Bytes>>> by_pid;
  for (const ProcessRow& row : rows) {
    auto& bytes = by_pid[row.pid][{row.gpu_instance, row.compute_instance}];
    bytes = std::max(bytes, row.bytes);  // an empty optional is the least: a known figure wins over an unknown one
  }
  std::vector<DeviceProcess> merged;
  for (const auto& [pid, instances] : by_pid) {
    std::optional<Bytes> sum = Bytes{};
    for (const auto& [instance, bytes] : instances) sum = sum && bytes ? std::optional{*sum + *bytes} : std::nullopt;
    merged.push_back({pid, sum});
  }
  return merged;
}

std::string trouble_of(int rc) {
  switch (rc) {
    case code::ok:
      return "";
    case code::uninitialized:
      return "uninitialized";
    case code::not_supported:
      return "not_supported";
    case code::no_permission:
      return "no_permission";
    case code::driver_not_loaded:
      return "driver_not_loaded";
    case code::library_not_found:
      return "library_not_found";
    case code::function_not_found:
      return "function_not_found";
    case code::lost:
      return "lost";
    case code::reset_required:
      return "reset_required";
    case code::operating_system:
      return "operating_system";
    case code::version_mismatch:
      return "version_mismatch";
    default:
      return "error_" + std::to_string(rc);
  }
}

}  // namespace jipsa::nvml
