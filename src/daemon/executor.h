// Carries out what the core decides: starts of jobs go to the desk, releases and restarts to the servers, all of it on record
// first.
#pragma once

#include <string>

#include "core/decision.h"
#include "core/model.h"
#include "daemon/desk.h"
#include "daemon/events.h"
#include "daemon/job_table.h"
#include "daemon/looks.h"
#include "daemon/release_log.h"
#include "daemon/restarter.h"
#include "daemon/state_keeper.h"
#include "daemon/tenants_watch.h"
#include "daemon/turn.h"

namespace jipsa {

class Executor {
 public:
  struct Parts {
    Loop& loop;
    Turn& turn;
    Desk& desk;
    JobTable& table;
    Events& events;
    ReleaseLog& log;
    TenantsWatch& tenants;
    Restarter& restarter;
    Looks& looks;
    StateKeeper& keeper;
    const Policy& policy;
  };
  explicit Executor(Parts parts) : p_(parts) {}

  void carry_out(const Output& output, const Event& cause);

  // How long ago the youngest release that is being watched was asked; none if none is.
  [[nodiscard]] std::optional<Seconds> youngest_watch(Seconds now) const;
  void expect_watches(Seconds now) { last_ask_ = now; }  // releases that an earlier daemon asked are being watched

 private:
  void act(const Admit& admit, Seconds t, const Event& cause);
  void act(const Wait& wait, Seconds t, const Event& cause);
  void act(const Release& release, Seconds t, const Event& cause);
  void act(const Restart& restart, Seconds t, const Event& cause);
  void act(const Verdict& verdict, Seconds t, const Event& cause);
  void answered(const std::string& tenant, const ReleaseAnswer& answer);
  void want_arena_later(const std::string& tenant);
  [[nodiscard]] bool watched(const std::string& tenant) const;

  Parts p_;
  std::optional<Seconds> last_ask_;
};

}  // namespace jipsa
