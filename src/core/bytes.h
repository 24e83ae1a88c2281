// Amounts of memory: signed, checked, in bytes.
#pragma once

#include <compare>
#include <cstdint>
#include <limits>

namespace jipsa {

// An amount of memory, or a difference of two. Arithmetic saturates at the ends of int64 instead of wrapping:
// a wrapped difference once read as 17 exabytes "free" in other tools, a saturated one stays absurd but on its side.
class Bytes {
 public:
  constexpr Bytes() = default;
  constexpr explicit Bytes(std::int64_t count) : count_(count) {}

  [[nodiscard]] constexpr std::int64_t count() const { return count_; }

  friend constexpr auto operator<=>(Bytes, Bytes) = default;
  friend constexpr Bytes operator+(Bytes a, Bytes b) {
    std::int64_t r = 0;
    if (!__builtin_add_overflow(a.count_, b.count_, &r)) return Bytes{r};
    return b.count_ < 0 ? lowest() : highest();
  }
  friend constexpr Bytes operator-(Bytes a, Bytes b) {
    std::int64_t r = 0;
    if (!__builtin_sub_overflow(a.count_, b.count_, &r)) return Bytes{r};
    return b.count_ > 0 ? lowest() : highest();
  }
  constexpr Bytes operator-() const { return Bytes{} - *this; }
  constexpr Bytes& operator+=(Bytes b) { return *this = *this + b; }
  constexpr Bytes& operator-=(Bytes b) { return *this = *this - b; }

  static constexpr Bytes highest() { return Bytes{std::numeric_limits<std::int64_t>::max()}; }
  static constexpr Bytes lowest() { return Bytes{std::numeric_limits<std::int64_t>::min()}; }

 private:
  std::int64_t count_ = 0;
};

constexpr Bytes mib(std::int64_t n) { return Bytes{n * (std::int64_t{1} << 20)}; }
constexpr Bytes gib(std::int64_t n) { return Bytes{n * (std::int64_t{1} << 30)}; }

}  // namespace jipsa
