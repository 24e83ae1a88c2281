// Waiting for a job's end, beside other things to wait for. Outlives a restart of the daemon, as the job itself does.
#pragma once

#include <chrono>
#include <optional>
#include <span>

#include "cli/job_view.h"
#include "cli/session.h"

namespace jipsa::cli {

class JobWatch {
 public:
  JobWatch(const Session& session, std::int64_t id) : session_(session), id_(id) {}

  enum class State { going, ended, failed };
  // Moves on, waiting at most `patience`, less if one of `also` becomes readable or a signal comes.
  State step(std::chrono::milliseconds patience, std::span<const int> also = {});

  [[nodiscard]] const JobView& job() const { return job_; }  // as last heard of
  [[nodiscard]] bool heard() const { return job_.id != 0; }
  [[nodiscard]] int exit() const { return exit_; }  // when failed; what is wrong has been said

 private:
  using Time = std::chrono::steady_clock::time_point;
  State begin();
  State take(ClientAnswer answer);
  State lost(const Error& error);
  [[nodiscard]] Query query() const;

  const Session& session_;
  std::int64_t id_;
  std::optional<ClientCall> call_;
  std::string socket_;
  JobView job_;
  std::optional<Time> lost_since_, retry_at_;
  int exit_ = 0;
};

}  // namespace jipsa::cli
