// Words, numbers and links of findings, the same in all of them.
//
// Threads: pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "correlate/explanation.h"
#include "correlate/statistics.h"

namespace hotspan::correlate {

std::string FormatDuration(double ns);                // "1.25 s", "90.4 ms", "12 us", "0 ms"
std::string FormatPercent(double share);              // "15.2 %"
std::string FormatShare(const ShareInterval& share);  // "15.2 %, 95 % interval 9.1 to 24.0 %"
std::string FormatTime(TimeNs time);                  // "2026-11-21 12:55:01 UTC"

std::string UrlEncode(std::string_view text);
std::string TraceUrl(const TraceId& trace);
std::string ExplainUrl(const TraceId& trace, const SpanId& span);
std::string SpanFlameUrl(const TraceId& trace, const SpanId& span, std::string_view type,
                         Mode mode = Mode::kSelf);
// All spans of an operation in a range, as one flame graph.
std::string PooledFlameUrl(std::string_view service, std::string_view name, TimeRange range,
                           std::string_view type);

// What the time at stake says about urgency. A rule with a known cure is urgent sooner than the
// mere fact that some function is where the time goes; below 10 ms, or 5 % of the span, nothing is.
Severity SeverityOf(double saves_ns, double duration_ns, bool known_cure);

// By saves, descending; ties by kind, function and title, so that the order is always the same.
void RankFindings(std::vector<Finding>& findings);

}  // namespace hotspan::correlate
