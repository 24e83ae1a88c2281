// A long queue: what one change costs. 10 000 waiting jobs, 8 GPUs, 10 servers that keep what they hold.
#include <benchmark/benchmark.h>

#include "synthetic.h"

namespace jipsa {
namespace {

constexpr int gpus = 8, servers = 10;  // a fixed number of iterations below: filling the queue takes longer than what is measured

Engine full_queue(std::int64_t jobs) {
  Policy policy;
  for (int i = 0; i < servers; ++i) policy.tenants["server" + std::to_string(i)].keep = true;
  Engine engine{policy};
  std::vector<Output> out;
  engine.step(Input{0, bench::large_look(gpus, servers, {})}, out);
  for (JobId id = 1; id <= jobs; ++id) {
    Job job = bench::job(id, gib(8 + id % 16));
    job.priority = id % 5;
    engine.step(Input{0, Submit{std::move(job)}}, out);
    out.clear();
  }
  return engine;
}

void QueueOneCardChanges(benchmark::State& state) {
  Engine engine = full_queue(state.range(0));
  std::vector<Output> out;
  Seconds t = 0;
  for (auto _ : state) {
    engine.step(Input{t += 0.25, bench::large_look(gpus, servers, bench::wobble(t))}, out);
    out.clear();
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(QueueOneCardChanges)->Arg(100)->Arg(10000)->Iterations(100)->Unit(benchmark::kMicrosecond);

void QueueNothingChanges(benchmark::State& state) {
  Engine engine = full_queue(state.range(0));
  std::vector<Output> out;
  Seconds t = 0;
  for (auto _ : state) {
    engine.step(Input{t += 0.25, Observation{}}, out);
    out.clear();
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(QueueNothingChanges)->Arg(100)->Arg(10000)->Iterations(100)->Unit(benchmark::kMicrosecond);

void QueueOneJobComesAndGoes(benchmark::State& state) {
  Engine engine = full_queue(state.range(0));
  std::vector<Output> out;
  JobId id = state.range(0);
  for (auto _ : state) {
    engine.step(Input{1, Submit{bench::job(++id, gib(20))}}, out);
    engine.step(Input{1, Cancel{id}}, out);
    out.clear();
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(QueueOneJobComesAndGoes)->Arg(100)->Arg(10000)->Iterations(100)->Unit(benchmark::kMicrosecond);

// A small job fits at once: the time from the event to the decision, with a long queue in front.
void QueueSmallJobIsAdmitted(benchmark::State& state) {
  Engine engine = full_queue(state.range(0));
  std::vector<Output> out;
  JobId id = state.range(0);
  for (auto _ : state) {
    Job job;
    job.id = ++id;
    job.priority = 9;
    job.needs = {{"ram", mib(1)}};
    engine.step(Input{1, Submit{std::move(job)}}, out);
    engine.step(Input{1, Exit{id, 0}}, out);
    benchmark::DoNotOptimize(out.data());
    out.clear();
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(QueueSmallJobIsAdmitted)->Arg(100)->Arg(10000)->Iterations(100)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace jipsa
