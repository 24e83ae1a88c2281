// When to look at the machine, and making one observation of what the driver, /proc and the servers have said.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "config/config.h"
#include "core/model.h"
#include "daemon/pools.h"
#include "daemon/record_clock.h"
#include "daemon/sampler.h"
#include "daemon/tenants_watch.h"
#include "machine/sense.h"

namespace jipsa {

// How closely the machine must be watched now.
enum class Pace {
  idle,      // nothing queued, nothing running
  calm,      // jobs run, none waits for memory
  pressing,  // a job waits for memory
  watching,  // a release is being watched
  keen       // a release was asked within the last seconds
};

class Looks {
 public:
  struct Hooks {
    std::function<Pace()> pace;
    std::function<std::map<JobId, Pid>()> shims;
    std::function<void(Observation)> seen;
    std::function<void(const DriverReading&)> driver_changed;
  };
  Looks(Loop& loop, RecordClock& clock, DriverSource& driver, Sampler& sampler, Pools& pools, TenantsWatch& tenants,
        const Config& config, Hooks hooks);
  ~Looks();
  Looks(const Looks&) = delete;
  Looks& operator=(const Looks&) = delete;

  void start();
  void soon();    // something happened that changes who holds what: look at everything, shortly
  void repace();  // the pace may have changed: if the next look is due earlier now, it comes earlier

  // Have the pools just been looked at? Before the first look there is nothing to wait for: then nothing is decided on memory
  // anyway.
  [[nodiscard]] bool fresh() const;
  // Runs `f` from the loop when they have: a look begins now if none is under way.
  void when_fresh(std::function<void()> f);

  [[nodiscard]] std::chrono::nanoseconds max_age() const;
  [[nodiscard]] const std::vector<Process>& processes() const { return processes_; }

 private:
  struct Periods {
    double pools, processes, lists, tenants;
  };
  [[nodiscard]] Periods periods() const;
  void begin();
  void read_driver(bool lists);
  void scan(bool processes);
  void look_at_tenants();
  void arrived();
  void compose();
  void schedule_next();
  [[nodiscard]] double seconds_since(std::int64_t ns) const;
  void announce_driver();

  Loop& loop_;
  RecordClock& clock_;
  DriverSource& driver_;
  Sampler& sampler_;
  Pools& pools_;
  TenantsWatch& tenants_;
  const Config& config_;
  Hooks hooks_;

  // What this round still waits for.
  bool driver_out_ = false, scan_out_ = false, tenants_out_ = false;
  bool in_round_ = false, overdue_ = false, first_ = true, forced_ = false;
  Loop::TimerId barrier_ = 0, next_ = 0;
  std::int64_t round_ns_ = 0;                                      // when the newest round began
  std::vector<std::function<void()>> waiting_;                     // for the end of a round
  std::int64_t processes_ns_ = 0, lists_ns_ = 0, tenants_ns_ = 0;  // when last asked for; 0: never
  double reading_period_ = 0;                                      // of the rounds when the driver last answered
  bool fresh_processes_ = false, fresh_tenants_ = false;
  std::vector<Process> processes_;
  std::optional<DriverReading::State> announced_;
  std::string announced_trouble_;
};

}  // namespace jipsa
