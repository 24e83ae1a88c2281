// Amounts, spans and times as people read them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/bytes.h"
#include "text/language.h"

namespace jipsa {

// GiB with one decimal: "15.5". Some, but less than can be shown: "<0.1". Unknown: "?".
std::string gib_number(std::optional<Bytes> amount);
std::string gib_text(std::optional<Bytes> amount);  // "15.5 GiB"; unknown: "?"

// "2 s", "3 min 12 s", "35 min", "2 h 35 min", "3 d 4 h"; "2초", "2시간 35분". Negative counts as 0.
std::string duration_text(Lang lang, double seconds);
// A measured span: "1.4 s", "1.4초"; from a minute on as duration_text.
std::string span_text(Lang lang, double seconds);

// RFC 3339 to milliseconds since 1970 and back (UTC). Empty: not such a time.
std::optional<std::int64_t> parse_time(std::string_view text);

enum class ClockDetail { minutes, seconds };
// Local time: the hour alone if it is of the same day as `now_ms`, else with the day, of another year with the year too.
std::string clock_text(Lang lang, std::int64_t wall_ms, std::int64_t now_ms, ClockDetail detail = ClockDetail::minutes);

}  // namespace jipsa
