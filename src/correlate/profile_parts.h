// The profiles of an explanation: samples of one tier as flame graph and table with intervals.
//
// Threads: functions; any thread.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "correlate/explanation.h"
#include "correlate/sources.h"
#include "query/frames.h"
#include "storage/engine.h"

namespace hotspan::correlate {

inline constexpr std::size_t kTopRowsMax = 200;

// Samples of given spans, chosen already, of one type.
Result<ProfilePart> PartOfSamples(query::FrameReader& frames,
                                  const std::vector<storage::SpanSample>& samples,
                                  const std::string& type);

struct ServicePartRequest {
  TenantId tenant = TenantId::kDefault;
  std::string service;
  std::string version;    // service.version; tried first
  std::string span_name;  // its last part, as a function, becomes the focus
  std::string type;
  query::TimeInterval span;
  storage::Budget budget;
};

// All samples of the service around a span, by time only: 30 s on each side, widened to 5 minutes
// until there are kServiceSamplesMin. They contain other requests, and the note says so.
inline constexpr std::uint64_t kServiceSamplesMin = 200;
Result<ProfilePart> PartOfService(storage::Engine& engine, query::FrameReader& frames,
                                  const ServicePartRequest& request);

}  // namespace hotspan::correlate
