// Random machines and random days on them: what must hold whatever happens.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <set>

#include "machine.h"

namespace jipsa::test {
namespace {

struct Day {
  Machine m;
  Seconds t = 0;
  JobId next = 1;
  std::set<JobId> waiting, running;
  std::map<std::string, int> asked;  // releases that are being watched
};

void note(Day& day, const std::vector<Output>& out) {
  for (const Output& o : out) {
    RC_ASSERT(o.t == day.t);
    if (const auto* a = std::get_if<Admit>(&o.decision)) {
      RC_ASSERT(day.waiting.erase(a->job) == 1U);  // admitted once, and only while it waited
      day.running.insert(a->job);
    }
    if (const auto* w = std::get_if<Wait>(&o.decision)) RC_ASSERT(day.waiting.count(w->job) == 1U);
    if (const auto* r = std::get_if<Release>(&o.decision)) {
      for (const TenantLook& look : day.m.tenants) {
        if (look.id == r->tenant) RC_ASSERT(look.reachable && look.running == 0 && look.pending == 0);
      }
    }
    RC_ASSERT(std::get_if<Restart>(&o.decision) == nullptr);  // nobody gave leave
  }
}

void shake(Day& day) {
  for (Pool& gpu : day.m.gpus) {
    Bytes sum;
    for (DeviceProcess& row : *gpu.processes) {
      row.bytes = *rc::gen::weightedOneOf<std::optional<Bytes>>(
          {{3, rc::gen::map(rc::gen::inRange<std::int64_t>(0, 12), [](std::int64_t n) { return std::optional<Bytes>(gib(n)); })},
           {1, rc::gen::just(std::optional<Bytes>{})}});
      sum += row.bytes.value_or(gib(1));
    }
    gpu.used = *rc::gen::weightedOneOf<std::optional<Bytes>>(
        {{9, rc::gen::just(std::optional<Bytes>(std::min(*gpu.total, sum + gib(1))))},
         {1, rc::gen::just(std::optional<Bytes>{})}});
  }
  day.m.ram.available = gib(*rc::gen::inRange<std::int64_t>(0, 64));
  for (TenantLook& look : day.m.tenants) {
    look.reachable = *rc::gen::weightedElement<bool>({{8, true}, {1, false}});
    look.running = *rc::gen::inRange<std::int64_t>(0, 2);
    look.pending = *rc::gen::weightedElement<std::int64_t>({{5, 0}, {1, 1}});
    look.last_used.reset();
  }
}

void act(Day& day) {
  day.t += 0.5;
  switch (*rc::gen::inRange(0, 6)) {
    case 0:
    case 1: {
      const std::string pool = *rc::gen::element<std::string>("gpu", "gpu0", "gpu1", "ram");
      const JobId id = day.next++;
      day.waiting.insert(id);
      const std::string tenant = *rc::gen::element<std::string>("", "", "a");
      note(day, day.m.submit(day.t, id, {{pool, gib(*rc::gen::inRange<std::int64_t>(0, 30))}}, *rc::gen::inRange(-1, 2), tenant,
                             tenant.empty() ? "" : *rc::gen::element<std::string>("x", "y")));
      break;
    }
    case 2:
      if (!day.running.empty()) {
        const JobId id = *day.running.begin();
        day.running.erase(id);
        note(day, day.m.step(day.t, Exit{id, *rc::gen::inRange<std::int64_t>(0, 2)}));
      }
      break;
    case 3:
      note(day, day.m.step(day.t, Released{"a", *rc::gen::arbitrary<bool>(), std::nullopt, {}}));
      break;
    default:
      shake(day);
      note(day, day.m.look(day.t));
  }
}

RC_GTEST_PROP(Properties, BooksCloseAndNothingIsAdmittedTwiceOrOnTheUnknown, ()) {
  Day day;
  day.m.gpu(24, 1, {{1, gib(1)}, {9, gib(1)}});
  day.m.gpu(32, 1, {{1, gib(1)}, {2, gib(1)}});
  day.m.process(1, "python3", 2, 10);
  day.m.process(2, "xtts", 2);
  day.m.process(9, "game", 2);
  day.m.tenant("a", "comfyui", 1);
  day.m.tenant("b", "http", 2);
  const int steps = *rc::gen::inRange(5, 80);
  for (int i = 0; i < steps; ++i) act(day);
  // What is decided follows from the inputs alone: a second engine that was resumed from the state agrees on the books.
  const Engine again(Policy{}, day.m.engine.state());
  RC_ASSERT(again.state() == day.m.engine.state());
}

RC_GTEST_PROP(Properties, AdmittedNeedsNeverExceedAnEmptyCard, ()) {
  Machine m;
  m.gpu(24, 0.4);
  m.look(0);
  Bytes promised;
  const auto needs = *rc::gen::container<std::vector<std::int64_t>>(rc::gen::inRange<std::int64_t>(1, 20));
  JobId id = 0;
  for (const std::int64_t need : needs) {
    ++id;
    if (admitted(m.submit(1, id, {{"gpu", gib(need)}}), id)) promised += gib(need);
  }
  RC_ASSERT(promised + g(0.4) + Bytes{536870912} <= gib(24));
}

}  // namespace
}  // namespace jipsa::test
