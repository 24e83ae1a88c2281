// What Runner and jipsa-shim agree on. Both are built together; the files of a job's folder outlive both, so `pids` and `end` are
// plain text and keep their meaning.
#pragma once

#include <cstdint>

namespace jipsa::shim {

// Descriptors that the shim is started with, next to /dev/null as 0, 1 and 2.
inline constexpr int lock_fd = 3;    // the locked file DIR/run/<id>/lock
inline constexpr int status_fd = 4;  // write end of a pipe to the daemon

// Files in DIR/run/<id>/, the shim's only argument.
//
// spec  SpecHead, then strings that each end in NUL: output, dir, input (a file's path; empty: /dev/null), cgroup (a folder's
// path;
//       empty: none), boot id, `args` arguments, `vars` variables.
// pids  four lines: "boot <id>", "shim <pid> <start>", "job <pid> <start>", "cgroup <path or nothing>". Written whole before the
// job
//       can be executed. cgroup: the one that the job is in, not the one that was wished for.
// end   one line: "exited <status> <wall ms>", "signalled <signal> <wall ms>" or "not_started <errno> <wall ms> <what went
// wrong>".
struct SpecHead {
  std::uint32_t magic = 0;
  std::uint32_t args = 0;
  std::uint32_t vars = 0;
};
inline constexpr std::uint32_t spec_magic = 0x314d4853;  // "SHM1"

// On the pipe: one Status. executed: `value` is the job's process; failed: a text follows, up to the pipe's end.
struct Status {
  enum Kind : std::int32_t { executed = 1, failed = 2 };
  std::int32_t kind = 0;
  std::int32_t value = 0;
};

}  // namespace jipsa::shim
