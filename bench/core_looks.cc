// Looks a second: one GPU, host memory, one server; nothing waits, one job waits, and a release is being watched.
#include <benchmark/benchmark.h>

#include "synthetic.h"

namespace jipsa {
namespace {

void LooksIdle(benchmark::State& state) {
  Engine engine{Policy{}};
  std::vector<Output> out;
  Seconds t = 0;
  for (auto _ : state) {
    engine.step(Input{t += 0.25, bench::small_look(bench::wobble(t))}, out);
    out.clear();
    benchmark::DoNotOptimize(engine.books().data());
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(LooksIdle);

void LooksWithAWaitingJob(benchmark::State& state) {
  Policy policy;
  policy.tenants["comfyui"].keep = true;
  Engine engine{policy};
  std::vector<Output> out;
  engine.step(Input{0, bench::small_look({})}, out);
  engine.step(Input{0, Submit{bench::job(1, gib(20))}}, out);
  Seconds t = 0;
  for (auto _ : state) {
    engine.step(Input{t += 0.25, bench::small_look(bench::wobble(t))}, out);
    out.clear();
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(LooksWithAWaitingJob);

}  // namespace
}  // namespace jipsa
