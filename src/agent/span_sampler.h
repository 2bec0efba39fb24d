// Decides at a span's start whether it is recorded: the samplers of OTEL_TRACES_SAMPLER.
//
// Threads: immutable after construction.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "agent/span_context.h"

namespace hotspan::agent {

class SpanSampler {
 public:
  // Always on for roots, the parent's decision below: OpenTelemetry's default.
  SpanSampler() = default;

  // `name` as in OTEL_TRACES_SAMPLER and `argument` as in OTEL_TRACES_SAMPLER_ARG; nothing where
  // one is not known. A ratio without argument is 1.
  static std::optional<SpanSampler> Make(std::string_view name, std::string_view argument);

  // `parent` is null for a root.
  bool Sample(const SpanContext* parent, const TraceIdBytes& trace_id) const;

  // As it was named, with the ratio: "parentbased_traceidratio 0.1".
  const std::string& description() const { return description_; }

 private:
  bool parent_based_ = true;
  // A trace is taken if the last eight bytes of its id, as a number of 63 bits, are below: the rule
  // that OpenTelemetry's Go SDK has, so that services agree about a trace.
  std::uint64_t bound_ = std::uint64_t{1} << 63;
  std::string description_ = "parentbased_always_on";
};

}  // namespace hotspan::agent
