// Explains a span, or all spans of an operation, by the profiles and the trace around it.
//
// Reads only; everything it says can be recomputed from the queries it names, and the same data
// give the same answer. Threads: all methods may be called from any thread at once.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "correlate/explanation.h"
#include "query/frames.h"
#include "storage/engine.h"

namespace hotspan::correlate {

struct ExplainRequest {
  TenantId tenant = TenantId::kDefault;
  TraceId trace_id = {};
  std::optional<SpanId> span_id = {};  // without: the span that the trace suggests
  std::string profile_type = {};       // empty: every type that has samples
  Mode mode = Mode::kSelf;
  Tier tier = Tier::kAuto;
  // What the store keeps, to tell data that expired from data that never came.
  std::optional<storage::RetentionPolicy> retention = {};
  storage::Budget budget = {};
};

struct FindingsRequest {
  TenantId tenant = TenantId::kDefault;
  std::string service;
  std::string name;
  TimeRange range;  // the default is the last hour
  storage::Budget budget = {};
};

class Explainer {
 public:
  Explainer(storage::Engine& engine, query::FrameReader& frames, const Clock& clock)
      : engine_(engine), frames_(frames), clock_(clock) {}

  // kNotFound where the trace or the span does not exist.
  [[nodiscard]] Result<SpanExplanation> Explain(const ExplainRequest& request);
  // Pooled over the operation's newest spans; kNotFound where it has none in the range.
  [[nodiscard]] Result<OperationFindings> Findings(const FindingsRequest& request);

 private:
  storage::Engine& engine_;
  query::FrameReader& frames_;
  const Clock& clock_;
};

}  // namespace hotspan::correlate
