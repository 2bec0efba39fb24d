// What there is: services, operations with percentiles, names and values of tags.
//
// Threads: functions; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/ids.h"
#include "model/span.h"
#include "model/time.h"
#include "storage/engine.h"

namespace hotspan::query {

struct ServiceSummary {
  std::string service;
  std::uint64_t spans = 0;
  std::uint64_t errors = 0;
  double rate = 0;  // spans a second over the range
  TimeNs first;     // of spans and samples
  TimeNs last;
  std::vector<std::string> profile_types;  // sorted
  std::uint64_t samples = 0;
  std::uint64_t span_linked = 0;  // samples with a span or a local root
};

struct OperationSummary {
  std::string service;
  std::string name;
  SpanKind kind = SpanKind::kUnspecified;
  std::uint64_t spans = 0;
  std::uint64_t errors = 0;
  DurationNs p50;
  DurationNs p95;
  DurationNs p99;
  DurationNs max;
  std::uint64_t sampled = 0;  // spans the percentiles are of
};

// Sorted by service.
Result<std::vector<ServiceSummary>> ListServices(storage::Engine& engine, TenantId tenant,
                                                 TimeRange range);

// Of one service, or of all if `service` is empty; sorted by service, name, kind. Percentiles are
// exact (nearest rank) over the newest spans, `sampled` of them.
Result<std::vector<OperationSummary>> ListOperations(storage::Engine& engine, TenantId tenant,
                                                     TimeRange range, const std::string& service);

// Nearest-rank percentile of sorted durations, 0 < fraction <= 1; zero if there are none.
DurationNs PercentileOf(const std::vector<std::int64_t>& sorted_ns, double fraction);

struct TagNames {
  std::vector<std::string> resource;
  std::vector<std::string> span;
  std::vector<std::string> intrinsic;
};
Result<TagNames> ListTagNames(storage::Engine& engine, TenantId tenant, TimeRange range,
                              std::size_t limit);

struct TagValue {
  std::string type;  // string, int, float, bool, duration, keyword
  std::string value;
};
// `tag` is a TraceQL identifier (resource.service.name, span."a b", .x, name, status), or a bare
// attribute name.
Result<std::vector<TagValue>> ListTagValues(storage::Engine& engine, TenantId tenant,
                                            TimeRange range, const std::string& tag,
                                            std::size_t limit);

}  // namespace hotspan::query
