// Why a job waits, as a sentence.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/bytes.h"
#include "text/language.h"

namespace jipsa {

// A reason as the API gives it. Times are wall clock, milliseconds since 1970.
struct ReasonFacts {
  std::string code, pool, owner;  // empty: not given
  std::optional<Bytes> need, free, short_by, held;
  std::optional<std::int64_t> idle_since_ms, left_by, asked_at_ms;
  std::vector<std::int64_t> after;  // the job's own dependencies: what is named if the reason names nobody
};

std::string reason_short(Lang lang, const ReasonFacts& reason, std::int64_t now_ms);  // for the list
std::string reason_long(Lang lang, const ReasonFacts& reason, std::int64_t now_ms);   // with need, free and clock times

// "job:7" → "#7", "tenant:comfyui" → "comfyui", "baseline" → "desktop" on a card and "other" in host memory. Not escaped: say()
// does.
std::string owner_text(Lang lang, std::string_view owner, std::string_view pool);

std::string job_ref(std::int64_t id);  // "#42"

}  // namespace jipsa
