// The material of findings: code samples of one span or of all spans of an operation, with frames.
//
// Threads: CodeView is a value; readers are called from one thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "correlate/frame_traits.h"
#include "correlate/statistics.h"
#include "model/stack.h"
#include "query/frames.h"
#include "query/trace_tree.h"
#include "storage/engine.h"

namespace hotspan::correlate {

struct CodeSample {
  std::uint32_t span = 0;  // index into CodeView::own_ns
  StackNumber stack{};
  double value = 0;  // nanoseconds
};

// Samples of spans of one operation, as rules look at them.
struct CodeView {
  std::shared_ptr<const FrameTable> frames;
  std::vector<FrameTraits> traits;  // of frames->frames
  std::vector<std::string> names;   // qualified, of frames->frames
  std::vector<CodeSample> cpu;
  std::vector<CodeSample> waits;
  std::vector<double> own_ns;  // by span: its own time, at least what its samples hold
  std::uint64_t samples = 0;   // on CPU
  std::int64_t period = 0;     // of the CPU samples
  double looks = 0;            // independent looks at own time over all spans
  std::string service;
  std::string type;        // of the CPU samples
  double scale_ns = 0;     // own time (on the critical path) that a share of 1 stands for
  double duration_ns = 0;  // of the span that the shares are told for
  bool pooled = false;
  std::string query;  // URL of the flame graph of these samples

  // Frame indices, leaf first; empty for a stack that is not known.
  std::span<const std::uint32_t> StackOf(StackNumber stack) const;
  // The share of own time that `part` (nanoseconds by span) is.
  ShareInterval ShareOf(std::span<const double> part) const;
};

// Takes the CPU and off-CPU samples (spans' indices must be below own_ns.size()) and reads frames.
Result<CodeView> MakeCodeView(query::FrameReader& frames, const storage::SpanSamples& samples,
                              std::vector<double> own_ns);

// Spans of one operation, newest first, with a part of their traces.
inline constexpr std::size_t kCohortSpansMax = 500;
inline constexpr std::size_t kCohortTracesMax = 48;
inline constexpr std::size_t kCohortTraceSpansMax = 50'000;  // of all these traces

struct CohortTrace {
  SpanBatch spans;
  query::TraceTree tree;
  std::uint32_t node = 0;  // the span of the operation
};

struct Cohort {
  TimeRange range;
  SpanBatch spans;
  std::vector<CohortTrace> traces;  // of the newest ones
  double own_fraction = 1;          // own time / duration, over `traces`
  storage::SpanSamples samples;     // of the active span; empty where nothing labels
};

struct Operation {
  TenantId tenant = TenantId::kDefault;
  std::string service;
  std::string name;
};

Result<Cohort> ReadCohort(storage::Engine& engine, const Operation& operation, TimeRange range,
                          const storage::Budget& budget);

// A cohort's view; shares are told for a span with that own time and duration, 0: the mean one.
Result<CodeView> ViewOfCohort(query::FrameReader& frames, const Operation& operation,
                              const Cohort& cohort, double scale_ns, double duration_ns);

}  // namespace hotspan::correlate
