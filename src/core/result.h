// How functions that can fail say so. No exception crosses a folder: a .cc that uses a throwing library catches inside.
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace jipsa {

// What kind of failure it is; wire/ maps each to an HTTP status and cli/ to an exit code.
enum class Code {
  bad_input,    // the caller's words are wrong: `what` names the place and the mend
  not_found,    // no such job, tenant, pool, launcher, file
  conflict,     // it exists, but not in a state that allows this
  running,      // another daemon owns this state
  unreachable,  // nobody answers at that address
  timed_out,    // no answer within the deadline; it may still have been carried out
  refused,      // an answer, and it was no
  unsupported,  // this machine or server can't do that
  unreadable,   // a file or an answer is not what it should be; it was left as it is
  io,           // the system said no: full disk, read-only, permission
  internal,     // a bug of ours
};

struct Error {
  Code code = Code::internal;
  std::string what;  // one line, English, technical: place, finding, mend
};

template <class T>
using Result = tl::expected<T, Error>;

inline tl::unexpected<Error> fail(Code code, std::string what) { return tl::unexpected<Error>(Error{code, std::move(what)}); }

}  // namespace jipsa
