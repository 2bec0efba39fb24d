#include "correlate/baseline.h"

#include <algorithm>
#include <vector>

#include "query/catalog.h"

namespace hotspan::correlate {

TimeRange HourAround(TimeNs time) {
  return {TimeNs{std::max<std::int64_t>(0, time.ns - kHour.ns)},
          TimeNs{time.ns > INT64_MAX - kHour.ns ? INT64_MAX : time.ns + kHour.ns}};
}

Result<Baseline> ReadBaseline(storage::Engine& engine, const Operation& operation, TimeNs around,
                              DurationNs duration, const storage::Budget& budget) {
  Baseline baseline;
  baseline.window = HourAround(around);
  storage::SpanScan scan;
  scan.tenant = operation.tenant;
  scan.range = baseline.window;
  scan.conditions = {
      {storage::SpanField::kService, "", storage::Compare::kEqual, operation.service},
      {storage::SpanField::kName, "", storage::Compare::kEqual, operation.name}};
  scan.wide = false;
  scan.limit = kBaselineSpansMax;
  scan.budget = budget;
  TRY_ASSIGN(const storage::SpanScanResult found, engine.ScanSpans(scan));
  std::vector<std::int64_t> durations;
  for (const SpanRow& span : found.spans.spans) durations.push_back(span.duration().ns);
  std::sort(durations.begin(), durations.end());
  baseline.n = durations.size();
  if (durations.empty()) return baseline;
  baseline.p50_ns = query::PercentileOf(durations, 0.5).ns;
  baseline.p95_ns = query::PercentileOf(durations, 0.95).ns;
  if (baseline.p50_ns > 0) {
    baseline.ratio = static_cast<double>(duration.ns) / static_cast<double>(baseline.p50_ns);
  }
  return baseline;
}

}  // namespace hotspan::correlate
