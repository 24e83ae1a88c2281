// One daemon a state folder, and one socket to reach it by.
#pragma once

#include <string>

#include "core/result.h"

namespace jipsa {

// Holds STATE/lock as long as it lives. The folder is made (0700) if need be.
class StateLock {
 public:
  static Result<StateLock> take(const std::string& state_dir);  // Code::running names the pid of the daemon that has it
  ~StateLock();
  StateLock(StateLock&& other) noexcept : fd_(other.fd_) { other.fd_ = -1; }
  StateLock& operator=(StateLock&&) = delete;

 private:
  explicit StateLock(int fd) : fd_(fd) {}
  int fd_;
};

// A listening unix socket (0600, its folder 0700). Call it only with the state's lock held: a socket that is in the way is taken
// to be a dead daemon's, unless somebody answers on it.
Result<int> listen_at(const std::string& socket_path);

}  // namespace jipsa
