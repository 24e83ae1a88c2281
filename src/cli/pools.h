// Pools and who holds them, as the daemon tells of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/answer.h"
#include "cli/session.h"
#include "core/bytes.h"

namespace jipsa::cli {

struct ClaimView {
  std::string owner, how;
  std::optional<Bytes> bytes, lo, hi;
  bool capped = false;
  std::optional<std::int64_t> idle_since_ms, left_by;
};

struct PoolView {
  std::string id, name, trouble;
  std::optional<Bytes> total, used, free;
  std::optional<double> age_s;
  std::vector<ClaimView> claims;  // the largest first
};

std::vector<PoolView> read_pools(Value pools);

// "idle 2 h 35 min, left by #41"; empty if neither is known.
std::string claim_more(const Session& session, const ClaimView& claim);
// "17.5 of 31.8 GiB", or that it is not measured and why.
std::string pool_used(const Session& session, const PoolView& pool);
// One line a pool, with its owners (`jipsa`) or with what is free (`jipsa whose`).
enum class PoolLine { owners, free };
std::string pool_lines(const Session& session, const std::vector<PoolView>& pools, PoolLine line);

}  // namespace jipsa::cli
