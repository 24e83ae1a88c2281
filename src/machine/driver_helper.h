// The process jipsa-nvml as the daemon sees it: one descriptor to talk over, one that tells its end.
#pragma once

#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/result.h"

namespace jipsa {

class DriverHelper {
 public:
  static Result<std::unique_ptr<DriverHelper>> start(const std::string& program, const std::string& library);
  ~DriverHelper();  // kills it; waits a moment for its end, never longer: a process in a driver call may not be killable
  DriverHelper(const DriverHelper&) = delete;
  DriverHelper& operator=(const DriverHelper&) = delete;

  [[nodiscard]] int socket() const { return socket_; }
  [[nodiscard]] int pidfd() const { return pidfd_; }  // readable when it has ended

  bool send(std::string_view text);      // false: it can't be spoken to any more
  std::optional<std::string> receive();  // what has arrived; "" for nothing yet, empty when it closed its end
  void kill();
  std::optional<std::string> reap();  // how it ended ("signal 11", "exit status 2"); empty while it lives

 private:
  DriverHelper(int socket, int pidfd) : socket_(socket), pidfd_(pidfd) {}
  int socket_, pidfd_;
  bool reaped_ = false;
};

}  // namespace jipsa
