// Runs a loop until something has come back.
#pragma once

#include <chrono>
#include <optional>

#include "machine/loop.h"

namespace jipsa::test {

// Starts `begin(take)`, runs the loop until `take` was called or `limit` is over, and gives what was taken.
template <class T, class Begin>
std::optional<T> wait_for(Loop& loop, Begin begin, std::chrono::milliseconds limit = std::chrono::seconds(30)) {
  std::optional<T> got;
  begin([&](T value) {
    got = std::move(value);
    loop.stop();
  });
  if (got) return std::nullopt;  // called back from inside the call: that is promised not to happen
  const auto guard = loop.after(limit, [&] { loop.stop(); });
  loop.run();
  loop.cancel(guard);
  return got;
}

inline void run_for(Loop& loop, std::chrono::milliseconds time) {
  loop.after(time, [&] { loop.stop(); });
  loop.run();
}

}  // namespace jipsa::test
