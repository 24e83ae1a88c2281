#include "daemon/daemon.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "daemon/api.h"
#include "daemon/executor.h"
#include "daemon/log.h"
#include "daemon/state_lock.h"

namespace jipsa {
namespace {

std::string host_name() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? std::string(name.data()) : "";
}

// A saved state's times are of its clock, so that clock goes on: by the boot clock within one boot, by the wall clock over a
// restart of the machine.
Seconds clock_start(const std::optional<KeptState>& kept, const Clock& clock) {
  if (!kept) return 0;
  const double passed = kept->same_boot ? static_cast<double>(clock.steady_ns() - kept->steady_ns) / 1e9
                                        : static_cast<double>(clock.wall_ms() - kept->wall_ms) / 1e3;
  return kept->engine.t + std::max(0.0, passed);
}

const char* name_of(DriverReading::State state) {
  switch (state) {
    case DriverReading::State::ok:
      return "ok";
    case DriverReading::State::none:
      return "none";
    case DriverReading::State::failed:
      return "failed";
    case DriverReading::State::silent:
      return "silent";
  }
  return "silent";
}

}  // namespace

struct Daemon::Impl {
  DaemonSetup setup;
  std::string boot_id = read_boot_id();
  SystemClock system_clock;
  std::unique_ptr<Loop> loop;
  std::unique_ptr<Store> store;
  std::optional<KeptState> kept;
  std::string cards;  // as they were last remembered

  std::optional<RecordClock> clock;
  std::optional<Recorder> recorder;
  std::optional<Turn> turn;
  std::optional<StateKeeper> keeper;
  std::optional<JobTable> table;
  std::optional<Events> events;
  std::optional<ReleaseLog> releases;
  Pools pools;
  std::unique_ptr<HttpClient> http;
  std::unique_ptr<TenantsWatch> tenants;
  std::optional<Restarter> restarter;
  std::optional<Desk> desk;
  std::optional<Runner> runner;
  std::optional<DriverSource> driver;
  std::optional<Sampler> sampler;
  std::optional<Looks> looks;
  std::optional<Executor> executor;
  std::optional<Api> api;
  std::unique_ptr<HttpServer> server;
  int signals = -1;

  explicit Impl(DaemonSetup s) : setup(std::move(s)) {}

  ~Impl() {
    server.reset();  // it calls into the rest
    if (signals >= 0) close(signals);
  }

  [[nodiscard]] std::string dir(const char* name) const { return setup.places.state_dir + "/" + name; }

  Result<void> make_parts() {
    auto made_loop = Loop::make();
    if (!made_loop) return tl::unexpected(made_loop.error());
    loop = std::move(*made_loop);
    auto opened = Store::open(setup.places.state_dir);
    if (!opened) return tl::unexpected(opened.error());
    store = std::move(*opened);
    for (const char* name : {"jobs", "tenants", "recordings"}) {
      std::error_code ec;
      std::filesystem::create_directories(dir(name), ec);  // one that can't be made is named when it is written to
    }
    kept = StateKeeper::load(*store, boot_id);
    clock.emplace(system_clock, clock_start(kept, system_clock));
    recorder.emplace(*loop, dir("recordings"), setup.config.recording_bytes);
    turn.emplace(setup.config.policy, *clock, *recorder, host_name());
    keeper.emplace(*store, *clock, boot_id, [this] { return turn->engine().state(); });
    table.emplace(*store);
    events.emplace(*clock);
    releases.emplace(*store, *clock);
    http = std::make_unique<HttpClient>(*loop);
    auto watch = TenantsWatch::make(setup.config, *http);
    if (!watch) return tl::unexpected(watch.error());
    tenants = std::move(*watch);
    restarter.emplace(*loop, *clock, *tenants, dir("tenants"));
    desk.emplace(*loop, *clock, setup.config, *table, pools, *events, *turn,
                 DeskPlaces{setup.places.state_dir, dir("jobs"), setup.places.socket, boot_id});
    runner.emplace(*loop, setup.places.state_dir, setup.shim,
                   Runner::Events{[this](JobId id, const JobPids& pids) { desk->started(id, pids); },
                                  [this](JobId id, const JobEnd& end) { desk->ended(id, end); }});
    driver.emplace(*loop, setup.nvml_helper, setup.config.nvml);
    sampler.emplace(*loop);
    looks.emplace(*loop, *clock, *driver, *sampler, pools, *tenants, setup.config,
                  Looks::Hooks{[this] { return pace(); }, [this] { return desk->shims(); },
                               [this](Observation seen) { take_look(std::move(seen)); },
                               [this](const DriverReading& reading) { driver_changed(reading); }});
    executor.emplace(Executor::Parts{*loop, *turn, *desk, *table, *events, *releases, *tenants, *restarter, *looks, *keeper,
                                     setup.config.policy});
    api.emplace(
        Api::Parts{*loop, *clock, *turn, *desk, *table, *store, pools, *tenants, *looks, *events, *recorder, setup.config},
        ApiInfo{setup.version, setup.places.state_dir, clock->wall_ms()});
    tie();
    return {};
  }

  void tie() {
    desk->set_runner(*runner);
    desk->set_ended([this](JobId id) { api->job_ended(id); });
    desk->set_changed([this] { looks->soon(); });
    turn->set_hooks({[this](const Output& output, const Event& cause) { executor->carry_out(output, cause); },
                     [this] {
                       desk->settle();
                       looks->repace();
                     },
                     [this] { return desk->as_inputs(); }});
  }

  // ---- the machine ----

  Pace pace() {
    if (const auto age = executor->youngest_watch(clock->now()))
      return *age < setup.config.policy.release_window ? Pace::keen : Pace::watching;
    if (table->any_waits_for_memory() && !turn->engine().paused()) return Pace::pressing;
    return table->live().empty() ? Pace::idle : Pace::calm;
  }

  void take_look(Observation seen) {
    turn->feed(std::move(seen));
    keeper->save_if_older_than(table->live().empty() ? 300 : 10);
    std::string now = pools.remembered();
    if (now == cards || pools.driver().state != DriverReading::State::ok) return;
    if (store->put("cards", now)) cards = std::move(now);
  }

  void driver_changed(const DriverReading& reading) {
    log_line("driver", {{"state", name_of(reading.state)},
                        {"version", reading.driver_version},
                        {"trouble", reading.trouble},
                        {"cards", std::to_string(reading.gpus.size())}});
    events->publish("driver", [&](JsonText& json) {
      json.key("state").text(name_of(reading.state)).key("trouble").text_or_null(reading.trouble);
    });
  }

  // ---- beginning and end ----

  Result<void> begin() {
    if (auto loaded = table->load(); !loaded) return loaded;
    if (auto loaded = releases->load(); !loaded) return loaded;
    if (const auto saved = store->get("cards"); saved && *saved) {
      pools.remember(**saved);
      cards = **saved;
    }
    desk->recover();
    EngineState state = kept ? kept->engine : EngineState{};
    const auto paused = store->get("paused");
    state.paused = paused && *paused == "1";
    turn->begin(state);
    say_what_was_cut_short(state);
    return {};
  }

  // Requests whose answers the daemon before us waited for: those will not come any more.
  void say_what_was_cut_short(const EngineState& state) {
    for (const TenantMemory& tenant : state.tenants) {
      if (tenant.watch) executor->expect_watches(clock->now());
      if (tenant.watch && !tenant.watch->answered) {
        turn->feed(Released{tenant.id, false, std::nullopt, "the daemon was restarted"});
      }
      if (tenant.restarting) turn->feed(Restarted{tenant.id, false});
    }
  }

  Result<void> listen() {
    auto fd = listen_at(setup.places.socket);
    if (!fd) return tl::unexpected(fd.error());
    auto made = HttpServer::make(*loop, *fd,
                                 {[this](const HttpAsk& ask, HttpServer::ExchangeId id) { return api->handle(ask, id); },
                                  [this](HttpServer::ExchangeId id) { api->gone(id); }});
    if (!made) return tl::unexpected(made.error());
    server = std::move(*made);
    api->set_server(*server);
    return {};
  }

  // The signals were blocked before the first thread began.
  Result<void> watch_signals() {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    if (signals < 0) return fail(Code::io, "signalfd fails");
    return loop->watch(signals, EPOLLIN, [this](std::uint32_t) {
      signalfd_siginfo info{};
      [[maybe_unused]] const auto n = read(signals, &info, sizeof info);
      log_line("stopping", {{"signal", std::to_string(info.ssi_signo)}});
      loop->stop();
    });
  }

  void stop() {
    server.reset();
    unlink(setup.places.socket.c_str());
    keeper->save();
    if (auto saved = table->save(); !saved) log_line("store.failed", {{"what", saved.error().what}});
    recorder->flush();
  }
};

Daemon::Daemon(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Daemon::~Daemon() = default;

Result<std::unique_ptr<Daemon>> Daemon::make(DaemonSetup setup) {
  auto impl = std::make_unique<Impl>(std::move(setup));
  if (auto made = impl->make_parts(); !made) return tl::unexpected(made.error());
  if (auto watched = impl->watch_signals(); !watched) return tl::unexpected(watched.error());
  if (auto begun = impl->begin(); !begun) return tl::unexpected(begun.error());
  if (auto listening = impl->listen(); !listening) return tl::unexpected(listening.error());
  return std::unique_ptr<Daemon>(new Daemon(std::move(impl)));
}

void Daemon::run() {
  log_line("started", {{"version", impl_->setup.version},
                       {"pid", std::to_string(getpid())},
                       {"state", impl_->setup.places.state_dir},
                       {"socket", impl_->setup.places.socket}});
  impl_->looks->start();
  impl_->loop->run();
  impl_->stop();
}

}  // namespace jipsa
