// Random batches and requests for the conformance suite, and answers as text that can be compared.
//
// Everything follows from a seed. Names, times and ids are drawn from small sets, so that requests
// meet data, spans repeat and ranges cut through blocks.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "storage/engine.h"

namespace hotspan::conformance {

inline constexpr std::int64_t kNow = 1'800'000'000'000'000'000;

class Workload {
 public:
  explicit Workload(std::uint64_t seed) : random_(seed) {}

  std::shared_ptr<const SpanBatch> Spans(std::size_t count);
  std::shared_ptr<const SampleBatch> Samples(std::size_t count);
  storage::WriteBatch Batch();

  TraceId Trace();
  // Of a span made before.
  SpanId Span();
  std::string Service();
  std::string Operation();
  TimeNs Time();
  TimeRange Range();
  storage::SpanScan Scan();
  storage::SampleMerge Merge();
  storage::SamplesBySpans BySpans();

  std::uint64_t Below(std::uint64_t n) { return random_() % n; }
  bool Chance(double p) { return static_cast<double>(random_()) < p * 18446744073709551616.0; }

 private:
  storage::Condition AnyCondition();
  std::mt19937_64 random_;
  std::uint32_t spans_ = 1;  // made so far: a span id stands for one span
};

// One line a span, with everything it carries.
std::vector<std::string> Dump(const SpanBatch& batch);
// Sums and counts by the frames of the stack.
using SumsByFrames = std::map<std::string, std::pair<std::int64_t, std::uint64_t>>;
SumsByFrames Dump(storage::Engine& engine, const storage::MergedSamples& merged);
std::vector<std::string> Dump(storage::Engine& engine, const storage::SpanSamples& samples);
std::vector<std::string> Dump(const storage::Catalog& catalog);
std::vector<std::string> Dump(const storage::TagsResult& tags);

}  // namespace hotspan::conformance
