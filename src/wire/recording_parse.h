// From one line's JSON to core's types. Each function reports through the cursor.
#pragma once

#include <string_view>

#include "wire/recording.h"
#include "wire/recording_json.h"

namespace jipsa {

void parse_header(JsonCursor& in, RecordingHeader& out);
// False, with nothing read: `type` is none of its own.
bool parse_input(std::string_view type, JsonCursor& in, Input& out);
bool parse_output(std::string_view type, JsonCursor& in, Output& out);
void parse_expectation(JsonCursor& in, Expectation& out);
bool is_output_type(std::string_view type);

// The enumerator of that name, from the names in core/decision.h.
template <class E>
std::optional<E> find_name(std::string_view wanted, E last) {
  for (int i = 0; i <= static_cast<int>(last); ++i) {
    if (wanted == name(static_cast<E>(i))) return static_cast<E>(i);
  }
  return std::nullopt;
}

}  // namespace jipsa
