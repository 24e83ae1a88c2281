// Sizes and durations as people write them, with what is wrong and the mend apart.
#pragma once

#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "core/bytes.h"

namespace jipsa::config {

struct Complaint {
  std::string what, mend;
};
template <class T>
using Read = tl::expected<T, Complaint>;

Read<Bytes> read_size(std::string_view text);
Read<Bytes> size_from_integer(std::int64_t count);
Complaint fraction_without_unit(std::string_view number);

Read<double> read_duration(std::string_view text);
Read<double> duration_from_number(double seconds);

std::string quoted(std::string_view text);  // for messages: printable, shortened, in double quotes

}  // namespace jipsa::config
