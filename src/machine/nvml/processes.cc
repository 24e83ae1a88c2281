#include "machine/nvml/processes.h"

#include <algorithm>

namespace jipsa::nvml {
namespace {

constexpr unsigned most_rows = 65536;
constexpr int most_tries = 4;

bool absent(int rc) { return rc == code::function_not_found || rc == code::library_not_found; }

// Codes that say that the list does not exist here, not that reading it went wrong: no graphics on a compute card, no MPS.
bool no_such_list(int rc) { return rc == code::not_supported || absent(rc); }

bool beyond_lists(int rc) {
  return rc == code::uninitialized || rc == code::driver_not_loaded || rc == code::operating_system ||
         rc == code::version_mismatch || rc == code::lost || rc == code::reset_required;
}

}  // namespace

struct ProcessLists::List {
  const char* call = "";
  int code = code::function_not_found;
  bool readable = true;
  std::vector<ProcessRow> rows;
};

bool ProcessLists::mig(Device card) const {
  unsigned current = 0, pending = 0;
  return calls_.mig_mode && calls_.mig_mode(card, &current, &pending) == code::ok && current == 1;
}

ProcessLists::List ProcessLists::read_list(const std::vector<ListCall>& symbols, Device card, bool with_mig,
                                           std::optional<Bytes> total) {
  List list;
  for (const ListCall& symbol : symbols) {
    unsigned& room = room_[reinterpret_cast<const void*>(symbol.call)];
    std::vector<std::byte> buffer;
    unsigned count = 0;
    list.call = symbol.name;
    for (int tries = 0; tries < most_tries; ++tries) {
      buffer.assign(room * wide_row, std::byte{});  // room for the largest entry, whichever the driver writes
      count = room;
      list.code = symbol.call(card, &count, room ? buffer.data() : nullptr);
      if (list.code != code::insufficient_size) break;
      room = std::min(2 * std::max(std::min(count, most_rows), room) + 5, most_rows);
    }
    if (absent(list.code)) continue;  // an older suffix may be there
    if (list.code != code::ok || count == 0) return list;
    auto rows = decode_rows(buffer, count, symbol.strides, with_mig, total);
    list.readable = rows.has_value();
    if (rows) list.rows = std::move(*rows);
    return list;
  }
  return list;
}

ProcessReading ProcessLists::read(Device card, std::optional<Bytes> total) {
  const bool with_mig = mig(card);
  std::vector<ProcessRow> rows;
  bool any = false;
  for (const auto* symbols : {&calls_.compute, &calls_.graphics, &calls_.mps}) {
    const List list = read_list(*symbols, card, with_mig, total);
    if (beyond_lists(list.code)) return {std::nullopt, trouble_of(list.code), Failure{list.call, list.code}};
    if (no_such_list(list.code)) continue;
    if (list.code != code::ok) return {std::nullopt, "processes_" + trouble_of(list.code), std::nullopt};
    if (!list.readable) return {std::nullopt, "process_layout", std::nullopt};
    rows.insert(rows.end(), list.rows.begin(), list.rows.end());
    any = true;
  }
  if (!any) return {std::nullopt, "processes_not_supported", std::nullopt};
  return {merge_rows(rows), "", std::nullopt};
}

}  // namespace jipsa::nvml
