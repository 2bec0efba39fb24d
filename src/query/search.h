// Search for traces by TraceQL, tags, service, operation and duration.
//
// A search lowers to one span scan whose rows name candidate traces; each candidate is then read as
// a whole and the complete filter is evaluated on all its spans, so roots, durations and counts of
// matched spans are exact. Threads: functions; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"
#include "model/ids.h"
#include "model/span.h"
#include "model/time.h"
#include "storage/engine.h"

namespace hotspan::query {

enum class SearchOrder : std::uint8_t { kNewest, kLongest };

struct SearchRequest {
  TenantId tenant = TenantId::kDefault;
  TimeRange range = {};
  std::string query = {};    // TraceQL, one spanset filter; empty: all
  std::string tags = {};     // logfmt: key=value key2="two words"; values are substrings, any case
  std::string service = {};  // of a matched span
  std::string name = {};     // of a matched span
  std::optional<DurationNs> min_duration = {};  // of the trace
  std::optional<DurationNs> max_duration = {};
  std::size_t limit = 20;
  std::size_t spans_per_spanset = 3;  // matched spans that come along; 0: all
  SearchOrder order = SearchOrder::kNewest;
  bool keep_spans = false;  // whether TraceHit::spans is wanted
  storage::Budget budget = {};
};

using ResultValue = std::variant<std::string, std::int64_t, double, bool>;

struct MatchedSpan {
  SpanId span_id;
  std::string service;
  std::string name;
  TimeNs start;
  DurationNs duration;
  SpanKind kind = SpanKind::kUnspecified;
  SpanStatus status = SpanStatus::kUnset;
  // What the query names and the span has, by bare name; status and kind as words.
  std::vector<std::pair<std::string, ResultValue>> attributes;
};

struct ServiceCount {
  std::string service;
  std::uint64_t spans = 0;
  std::uint64_t errors = 0;
};

struct TraceHit {
  TraceId trace_id;
  bool has_root = false;  // false: no span without parent; then the first span stands for it
  SpanId root_span_id;
  std::string root_service;
  std::string root_name;
  TimeNs start;
  DurationNs duration;
  std::uint64_t spans = 0;
  std::uint64_t errors = 0;
  std::vector<ServiceCount> services;  // sorted by name
  std::vector<MatchedSpan> matched;    // by start (newest) or by duration (longest)
  std::uint64_t matched_total = 0;
  std::shared_ptr<const SpanBatch> trace;  // if keep_spans
};

struct SearchResult {
  std::vector<TraceHit> traces;  // newest: by start, last first; longest: by duration
  storage::Inspected inspected;
  std::uint64_t inspected_traces = 0;
};

Result<SearchResult> SearchTraces(storage::Engine& engine, const SearchRequest& request);

// The spans that match a filter, newest first, at most `limit`.
struct FoundSpan {
  TraceId trace_id;
  SpanId span_id;
  std::string service;
  std::string name;
  TimeNs start;
  DurationNs duration;
};
struct FoundSpans {
  std::vector<FoundSpan> spans;
  storage::Inspected inspected;
};
Result<FoundSpans> FindSpans(storage::Engine& engine, TenantId tenant, TimeRange range,
                             const std::string& query, std::size_t limit,
                             const storage::Budget& budget = {});

}  // namespace hotspan::query
