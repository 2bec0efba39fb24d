// The hot loops alone: decoding, writing into the embedded engine, and one span to its flame graph.
// Times are CPU time of the whole process, compaction included; items are spans or samples.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <filesystem>

#include "base/check.h"
#include "base/clock.h"
#include "base/json_writer.h"
#include "cli/load_data.h"
#include "ingest/pipeline.h"
#include "query/flame/flame.h"
#include "query/flame/formats.h"
#include "query/frames.h"
#include "storage/embedded/embedded_engine.h"
#include "wire/otlp/profile_decoder.h"
#include "wire/otlp/trace_decoder.h"

namespace hotspan {
namespace {

constexpr std::uint64_t kSpans = 100'000;
constexpr std::uint64_t kSamples = 400'000;

std::vector<cli::LoadMessage> Messages(bool profiles) {
  const std::int64_t now = SystemClock().NowNs();
  cli::LoadData data(
      {profiles ? 1200 : kSpans, profiles ? kSamples : 0, 1, now - 24 * kHour.ns, now});
  std::vector<cli::LoadMessage> messages;
  cli::LoadMessage message;
  while (data.Next(message)) {
    if (message.profile == profiles) messages.push_back(std::move(message));
    message = {};
  }
  return messages;
}

class Folder {
 public:
  Folder() {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "hotspan-bench-XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  std::string path() const { return path_ + "/data"; }

 private:
  std::string path_;
};

void DecodeTraces(benchmark::State& state) {
  const auto messages = Messages(false);
  std::int64_t items = 0;
  for (auto _ : state) {
    for (const auto& message : messages) {
      const auto decoded = wire::DecodeTraces(message.bytes, wire::Encoding::kProtobuf);
      CHECK(decoded);
      items += static_cast<std::int64_t>(decoded->batch.spans.size());
    }
  }
  state.SetItemsProcessed(items);
}
BENCHMARK(DecodeTraces)->Unit(benchmark::kMillisecond);

void DecodeProfiles(benchmark::State& state) {
  const auto messages = Messages(true);
  std::int64_t items = 0;
  for (auto _ : state) {
    for (const auto& message : messages) {
      const auto decoded = wire::DecodeProfiles(message.bytes, wire::Encoding::kProtobuf);
      CHECK(decoded);
      items += static_cast<std::int64_t>(decoded->batch.samples.size());
    }
  }
  state.SetItemsProcessed(items);
}
BENCHMARK(DecodeProfiles)->Unit(benchmark::kMillisecond);

void Ingest(benchmark::State& state, bool profiles) {
  const auto messages = Messages(profiles);
  const SystemClock clock;
  std::int64_t items = 0;
  for (auto _ : state) {
    state.PauseTiming();
    const Folder folder;
    auto engine = storage::OpenEmbeddedEngine({.folder = folder.path(), .clock = &clock});
    CHECK(engine);
    state.ResumeTiming();
    {
      ingest::Pipeline pipeline(**engine, clock);
      for (const auto& message : messages) {
        ingest::Body body;
        body.path = profiles ? "/v1development/profiles" : "/v1/traces";
        body.content_type = "application/x-protobuf";
        body.bytes = message.bytes;
        const auto receipt = profiles ? pipeline.Profiles(body) : pipeline.Traces(body);
        CHECK(receipt && receipt->rejected == 0);
        items += static_cast<std::int64_t>(message.items);
      }
      CHECK((*engine)->Flush());
    }
    state.PauseTiming();
    engine->reset();
    state.ResumeTiming();
  }
  state.SetItemsProcessed(items);
}
BENCHMARK_CAPTURE(Ingest, spans, false)->Unit(benchmark::kMillisecond)->MeasureProcessCPUTime();
BENCHMARK_CAPTURE(Ingest, samples, true)->Unit(benchmark::kMillisecond)->MeasureProcessCPUTime();

void OneSpanToFlame(benchmark::State& state) {
  const SystemClock clock;
  const Folder folder;
  auto engine = storage::OpenEmbeddedEngine({.folder = folder.path(), .clock = &clock});
  CHECK(engine);
  ingest::Pipeline pipeline(**engine, clock);
  std::vector<storage::SpanKey> spans;
  for (const auto& message : Messages(true)) {
    ingest::Body body;
    body.path = "/v1development/profiles";
    body.content_type = "application/x-protobuf";
    body.bytes = message.bytes;
    CHECK(pipeline.Profiles(body));
    const auto decoded = wire::DecodeProfiles(message.bytes, wire::Encoding::kProtobuf);
    for (std::size_t i = 1; i < decoded->batch.links.size() && spans.size() < 2000; ++i) {
      spans.push_back({decoded->batch.links[i].trace_id, decoded->batch.links[i].span_id});
    }
  }
  CHECK((*engine)->Flush());
  query::FrameReader frames(**engine, nullptr);
  std::size_t next = 0;
  std::size_t bytes = 0;
  for (auto _ : state) {
    const auto samples = (*engine)->ReadSamples({.spans = {spans[next++ % spans.size()]}});
    CHECK(samples);
    std::vector<query::flame::WeightedStack> stacks;
    std::vector<StackNumber> numbers;
    for (const auto& sample : samples->samples) {
      stacks.push_back({sample.stack, sample.value, 1});
      numbers.push_back(sample.stack);
    }
    const auto table = frames.Read(numbers);
    CHECK(table);
    JsonWriter json;
    query::flame::WriteFlame(json, query::flame::BuildFlame(**table, stacks, 10'000));
    bytes += json.text().size();
  }
  state.counters["json_bytes"] =
      static_cast<double>(bytes) / static_cast<double>(state.iterations());
}
BENCHMARK(OneSpanToFlame)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace hotspan

BENCHMARK_MAIN();
