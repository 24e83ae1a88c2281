#include "daemon/looks.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace jipsa {
namespace {

constexpr std::chrono::milliseconds kDriverDeadline{2000};
constexpr double kForcedSpacing = 0.1;  // jobs that end in a row share their looks
constexpr double kFreshEnough = 0.25;   // seconds: what a job is admitted by is not older, however calm the daemon was
constexpr double kEarly = 0.8;          // a part is asked for in the round nearest to when it is due, not in the one after

std::chrono::nanoseconds nanos(double seconds) { return std::chrono::nanoseconds(std::llround(seconds * 1e9)); }

}  // namespace

Looks::Looks(Loop& loop, RecordClock& clock, DriverSource& driver, Sampler& sampler, Pools& pools, TenantsWatch& tenants,
             const Config& config, Hooks hooks)
    : loop_(loop),
      clock_(clock),
      driver_(driver),
      sampler_(sampler),
      pools_(pools),
      tenants_(tenants),
      config_(config),
      hooks_(std::move(hooks)) {}

Looks::~Looks() {
  loop_.cancel(barrier_);
  loop_.cancel(next_);
}

void Looks::start() { begin(); }

Looks::Periods Looks::periods() const {
  const double quick = config_.sample_every;
  const double slow = config_.idle_every;
  switch (hooks_.pace()) {
    case Pace::keen:
      return {std::min(0.1, quick), std::min(0.1, quick), 0.3, 0.3};
    case Pace::watching:
      return {quick, quick, 2, std::max(0.5, quick)};  // a verdict needs pools and processes of one moment
    case Pace::pressing:
      return {quick, std::max(1.0, quick), 3, std::max(0.5, quick)};
    case Pace::calm:
      return {slow, 2.5 * slow, 2.5 * slow, slow};
    case Pace::idle:
      break;
  }
  return {slow, 5 * slow, 5 * slow, 2 * slow};
}

double Looks::seconds_since(std::int64_t ns) const { return static_cast<double>(clock_.steady_ns() - ns) / 1e9; }

std::chrono::nanoseconds Looks::max_age() const { return nanos(3 * std::max(reading_period_, config_.sample_every)); }

void Looks::begin() {
  loop_.cancel(next_);
  next_ = 0;
  const Periods p = periods();
  const auto due = [&](std::int64_t last, double period) {
    return forced_ || last == 0 || seconds_since(last) >= period * kEarly;
  };
  const bool want_processes = due(processes_ns_, p.processes);
  const bool want_lists = due(lists_ns_, p.lists);
  const bool want_tenants = due(tenants_ns_, p.tenants);
  forced_ = false;
  in_round_ = true;
  overdue_ = false;
  round_ns_ = clock_.steady_ns();
  // The first look waits for everybody: decisions on half a picture would have to be taken back.
  barrier_ = loop_.after(first_ ? std::chrono::milliseconds(3000) : std::chrono::milliseconds(100), [this] {
    barrier_ = 0;
    overdue_ = true;
    compose();
  });
  // What can't be asked for now, because an answer is still out, is due in the next round.
  if (!driver_out_) {
    read_driver(want_lists);
  } else if (want_lists) {
    lists_ns_ = 0;
  }
  if (!scan_out_) {
    scan(want_processes);
  } else if (want_processes) {
    processes_ns_ = 0;
  }
  if (want_tenants && !tenants_out_) look_at_tenants();
  arrived();
}

void Looks::read_driver(bool lists) {
  driver_out_ = true;
  if (lists) lists_ns_ = clock_.steady_ns();
  driver_.read(lists, kDriverDeadline, [this, lists](DriverReading reading) {
    pools_.take(reading);
    reading_period_ = periods().pools;
    announce_driver();
    if (!lists && pools_.lists_outdated()) {
      // The totals have moved: whose memory that is, the lists and the processes of before can't say.
      read_driver(true);
      if (!scan_out_) scan(true);
      return;
    }
    driver_out_ = false;
    arrived();
  });
}

void Looks::scan(bool processes) {
  scan_out_ = true;
  ScanAsk ask;
  ask.processes = processes;
  if (processes) {
    processes_ns_ = clock_.steady_ns();
    ask.servers = tenants_.scan_asks();
    ask.shims = hooks_.shims();
    ask.listed = pools_.listed_pids();
  }
  sampler_.scan(std::move(ask), [this](Scan scan) {
    scan_out_ = false;
    pools_.take(scan.memory, clock_.steady_ns());
    tenants_.take(scan);
    if (scan.processes) {
      processes_ = std::move(*scan.processes);
      fresh_processes_ = true;
    }
    arrived();
  });
}

void Looks::look_at_tenants() {
  tenants_out_ = true;
  tenants_ns_ = clock_.steady_ns();
  tenants_.look([this] {
    tenants_out_ = false;
    fresh_tenants_ = true;
    arrived();
  });
}

void Looks::arrived() {
  const bool all = !driver_out_ && !scan_out_ && !tenants_out_;
  if (in_round_ ? (all || overdue_) : true) compose();
}

void Looks::compose() {
  const bool ends_round = in_round_;
  if (in_round_) {
    in_round_ = false;
    first_ = false;
    loop_.cancel(barrier_);
    barrier_ = 0;
  }
  Observation seen;
  seen.pools = pools_.at(clock_.steady_ns(), max_age());
  if (fresh_processes_) {
    fresh_processes_ = false;
    tenants_.add_arenas(processes_);
    seen.processes = processes_;
  }
  if (fresh_tenants_) {
    fresh_tenants_ = false;
    seen.tenants = tenants_.looks(pools_, clock_);
  }
  hooks_.seen(std::move(seen));
  if (ends_round) {
    for (const auto& f : std::exchange(waiting_, {})) f();
  }
  if (!in_round_) schedule_next();
}

bool Looks::fresh() const { return first_ || (!in_round_ && seconds_since(round_ns_) <= kFreshEnough); }

void Looks::when_fresh(std::function<void()> f) {
  waiting_.push_back(std::move(f));
  if (!in_round_) begin();
}

void Looks::schedule_next() {
  const double period = forced_ ? kForcedSpacing : periods().pools;
  const double wait = std::max(0.001, period - seconds_since(round_ns_));
  loop_.cancel(next_);
  next_ = loop_.after(nanos(wait), [this] {
    next_ = 0;
    begin();
  });
}

void Looks::soon() {
  forced_ = true;
  if (!in_round_) schedule_next();
}

void Looks::repace() {
  if (!in_round_) schedule_next();
}

void Looks::announce_driver() {
  const DriverReading& reading = pools_.driver();
  if (announced_ == reading.state && announced_trouble_ == reading.trouble) return;
  announced_ = reading.state;
  announced_trouble_ = reading.trouble;
  hooks_.driver_changed(reading);
}

}  // namespace jipsa
