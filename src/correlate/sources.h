// Which profiles there are for a span's service, what they can tell, and why there may be none.
//
// The tier of a profile type is decided by what its source labels around the span, not by what was
// found for this span: no sample of a labelling source is a measurement.
//
// Threads: functions; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "correlate/explanation.h"
#include "query/trace_tree.h"
#include "storage/engine.h"

namespace hotspan::correlate {

// Profiles further from a span than this are not of it.
inline constexpr DurationNs kServiceWindowMax{5 * kMinute.ns};

// The span with a margin on both sides; times at the ends of the scale stay there.
TimeRange Around(query::TimeInterval span, DurationNs margin);

// One profile type of a service, around a span.
struct Source {
  std::string type;
  Tier tier = Tier::kService;  // what it can tell: kSpan, kLocalRoot or kService
  bool in_window = false;      // has samples within kServiceWindowMax of the span
  std::int64_t period = 0;
  std::vector<std::string> agents;
  std::optional<TimeNs> before;  // nearest samples, where none are in the window
  std::optional<TimeNs> after;
};

struct Sources {
  std::vector<Source> types;  // sorted by type
  std::vector<std::string>
      near_names;  // services with profiles whose names differ in case, -, _, .

  const Source* Find(std::string_view type) const;
};

struct SourcesRequest {
  TenantId tenant = TenantId::kDefault;
  std::string service;
  std::string instance;  // service.instance.id, else host.name; empty: not known
  query::TimeInterval span;
};

Result<Sources> ReadSources(storage::Engine& engine, const SourcesRequest& request);

// What is known about an answer without samples of a type.
struct MissingFacts {
  std::string type;
  std::string service;
  query::TimeInterval span;
  Tier tier = Tier::kSpan;    // that was looked at
  std::uint64_t samples = 0;  // found by it
  std::int64_t own_ns = 0;
  const Ledger* ledger = nullptr;
  std::optional<storage::RetentionPolicy> retention;
  TimeNs now;
  bool drops = false;  // the agent says that it lost samples in the window
};

// Every reason that applies, the decisive one first; none if there is nothing missing.
std::vector<Missing> WhyMissing(const Sources& sources, const MissingFacts& facts);

// The series attribute in which agents count samples that they lost.
inline constexpr std::string_view kDroppedSamplesKey = "hotspan.dropped_samples";

}  // namespace hotspan::correlate
