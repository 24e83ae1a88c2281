// Recordings: looks a second, read and written. One GPU, host memory, one server; every section on every line.
#include "wire/recording.h"

#include <benchmark/benchmark.h>

#include "synthetic.h"

namespace jipsa {
namespace {

std::string recording(int looks) {
  std::string text;
  RecordingWriter writer;
  writer.header({}, text);
  for (int i = 0; i < looks; ++i) {
    RecordingWriter whole;  // remembers nothing: writes every section
    whole.input({i * 0.25, bench::small_look(bench::wobble(i))}, text);
  }
  return text;
}

void ReadLooks(benchmark::State& state) {
  const std::string text = recording(10000);
  std::int64_t looks = 0;
  for (auto _ : state) {
    auto reader = RecordingReader::from_text("bench", text);
    RecordingLine line;
    for (;;) {
      const auto more = reader->next(line);
      if (!more || !*more) break;
      ++looks;
    }
  }
  state.SetItemsProcessed(looks);
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(text.size()));
}
BENCHMARK(ReadLooks)->Unit(benchmark::kMillisecond);

void WriteLooks(benchmark::State& state) {
  RecordingWriter writer;
  std::string text;
  Seconds t = 0;
  for (auto _ : state) {
    t += 0.25;
    writer.input({t, bench::small_look(bench::wobble(t))}, text);
    if (text.size() > (1 << 20)) text.clear();
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(WriteLooks);

}  // namespace
}  // namespace jipsa
