// The answer to "which code made this span slow?": a SpanExplanation, shape for shape the JSON of
// docs/http-api.md, which serve writes from it.
//
// Threads: values; no shared state.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/ids.h"
#include "model/span.h"
#include "model/time.h"
#include "query/flame/flame.h"
#include "query/flame/top.h"

namespace hotspan::correlate {

// How samples were found for a span; the same words in JSON and in requests.
enum class Tier : std::uint8_t { kAuto, kSpan, kLocalRoot, kService };
enum class Mode : std::uint8_t { kSelf, kWithChildren };

std::string_view TierName(Tier tier);  // "auto", "span", "local_root", "service"
std::optional<Tier> ParseTier(std::string_view name);
std::string_view ModeName(Mode mode);  // "self", "with_children"
std::optional<Mode> ParseMode(std::string_view name);

struct ExplainedSpan {
  TraceId trace_id;
  SpanId span_id;
  SpanId parent_span_id;
  std::string service;
  std::string name;
  SpanKind kind = SpanKind::kUnspecified;
  SpanStatus status = SpanStatus::kUnset;
  TimeNs start;
  DurationNs duration;
  std::string attributes;  // packed list
};

struct Baseline {
  std::int64_t p50_ns = 0;
  std::int64_t p95_ns = 0;
  std::uint64_t n = 0;  // spans looked at: 0 means that there is nothing to compare with
  TimeRange window;
  double ratio = 0;  // duration / p50
};

// Where wall time goes; in the order in which classes claim a span's own time.
enum class LedgerClass : std::uint8_t {
  kChild,
  kOnCpu,
  kGc,
  kRunnable,
  kLock,
  kIo,
  kNet,
  kWait,
  kSleep,
  kOffCpu,
  kUnobserved,
};
inline constexpr std::size_t kLedgerClasses = 11;
std::string_view LedgerClassName(LedgerClass cls);  // "child", "on_cpu", ...

struct LedgerEntry {
  LedgerClass cls = LedgerClass::kUnobserved;
  std::int64_t ns = 0;
  std::int64_t low_ns = 0;  // 95 %
  std::int64_t high_ns = 0;
  std::string source;  // "trace", a tier's name, or "none"
  std::uint64_t samples = 0;
  std::string hint;  // for unobserved: what would show it
};

// Entries of class child, on_cpu and unobserved are always there, others where they are not zero.
// Their ns add up to duration_ns exactly.
struct Ledger {
  std::int64_t duration_ns = 0;
  std::int64_t cpu_ns = 0;       // over all threads
  std::int64_t parallel_ns = 0;  // of the span's threads beyond its wall time
  std::vector<LedgerEntry> classes;
};

// A row of the function table with the interval of its share: total of the function / total of all.
struct TopEntry {
  query::flame::TopRow row;
  double share = 0;
  double share_low = 0;
  double share_high = 0;
};

struct ProfilePart {
  std::string type;
  Tier tier = Tier::kSpan;
  Mode mode = Mode::kSelf;
  std::uint64_t samples = 0;
  std::int64_t period_ns = 0;
  std::int64_t total = 0;
  TimeRange window;
  std::vector<std::string> agents;
  std::string note;
  query::flame::FlameGraph flame;
  std::vector<TopEntry> top;  // by self, then total, descending
};

struct Pooled {
  std::uint64_t spans = 0;
  std::uint64_t samples = 0;
  std::string query;  // a URL of the own API
};

struct Missing {
  std::string type;    // profile type
  std::string reason;  // "no_profiles_of_service", "outside_window", "not_labelled", ...
  std::string detail;
  std::optional<TimeNs> before;  // nearest profiles, for outside_window
  std::optional<TimeNs> after;
  std::string fix;
};

struct Evidence {
  std::string text;
  double value = 0;
  std::string query;  // a URL that recomputes it
};

struct CodeLocation {
  std::string function;
  std::string file;
  std::int32_t line = 0;
  std::string service;
};

enum class Severity : std::uint8_t { kInfo, kLow, kMedium, kHigh };
std::string_view SeverityName(Severity severity);

struct Finding {
  std::string kind;  // "hot_function", "n_plus_one", ...
  std::string title;
  Severity severity = Severity::kInfo;
  std::int64_t saves_ns = 0;  // of one span of the operation
  std::int64_t saves_low_ns = 0;
  std::int64_t saves_high_ns = 0;
  CodeLocation location;
  std::string fix;
  bool pooled = false;  // rests on all spans of the operation in the window
  std::vector<Evidence> evidence;
};

struct SpanExplanation {
  ExplainedSpan span;
  Baseline baseline;
  Ledger ledger;
  std::vector<ProfilePart> profiles;
  std::optional<Pooled> pooled;
  std::vector<Missing> missing;
  std::vector<Finding> findings;  // by what they save, descending
};

struct OperationFindings {
  std::string service;
  std::string name;
  std::uint64_t spans = 0;
  std::uint64_t samples = 0;
  std::vector<Finding> findings;
};

}  // namespace hotspan::correlate
