// The parts of jipsad, made in order and tied together.
#pragma once

#include <memory>
#include <string>

#include "config/config.h"
#include "core/result.h"

namespace jipsa {

struct DaemonSetup {
  Config config;
  Places places;
  std::string version, shim, nvml_helper;
};

class Daemon {
 public:
  // With the state's lock held. Finds the jobs of an earlier daemon, then listens.
  static Result<std::unique_ptr<Daemon>> make(DaemonSetup setup);
  ~Daemon();
  Daemon(const Daemon&) = delete;
  Daemon& operator=(const Daemon&) = delete;

  void run();  // until TERM or INT; jobs go on running

 private:
  struct Impl;
  explicit Daemon(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace jipsa
