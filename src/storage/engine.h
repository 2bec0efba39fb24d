// The storage interface: semantic operations that every engine offers and nothing more.
//
// An engine filters, restricts in time and returns rows or (stack, sum) lists; trees, statistics,
// TraceQL's remaining conditions and rendering are shared code above it. Results of several engines
// add up. Contract, the same for all engines:
//
// - Write returns when the batch is durable: it survives kill -9 and loss of power. A batch whose
// id
//   was written within the last 15 minutes is acknowledged and not written twice.
// - Spans are identified by (trace id, span id, kind): reads give each once. Where copies differ,
// it
//   is not defined which one they give.
// - What was written is visible to every read that begins after Write returned.
// - Every read takes the hints the caller has and a budget, and says what it inspected.
//
// Threads: all methods may be called from any thread at once.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/hash.h"
#include "base/limits.h"
#include "base/result.h"
#include "model/ids.h"
#include "model/sample.h"
#include "model/span.h"
#include "model/stack.h"
#include "model/time.h"

namespace hotspan::storage {

struct WriteBatch {
  TenantId tenant = TenantId::kDefault;
  // Identity of the request for retries; zero: never a retry.
  Hash128 batch_id{};
  TimeNs received{};
  // Either may be null.
  std::shared_ptr<const SpanBatch> spans;
  std::shared_ptr<const SampleBatch> samples;
};

struct WriteOutcome {
  bool duplicate = false;  // the batch id was known: acknowledged, not written again
};

// What a read may cost. A read that reaches a limit returns what it has, marked `truncated`.
struct Budget {
  std::size_t rows_max = limits::kScanRowsMax;
  std::int64_t deadline_monotonic_ns = INT64_MAX;
};

struct Inspected {
  std::uint64_t blocks = 0;
  std::uint64_t rows = 0;
  std::uint64_t bytes = 0;
  bool truncated = false;
};

// ---- spans

enum class Compare : std::uint8_t { kEqual, kNotEqual, kLess, kLessEqual, kGreater, kGreaterEqual };

enum class SpanField : std::uint8_t {
  kService,
  kName,
  kDuration,
  kKind,
  kStatus,
  kTraceId,
  kSpanId,
  kSpanAttribute,      // `key` names it
  kResourceAttribute,  // `key` names it
  kAnyAttribute,       // span's first, then the resource's
};

// One condition; a scan's conditions are ANDed. Numbers compare as numbers (int with double too),
// strings bytewise; a missing attribute satisfies no comparison. Durations are ints in nanoseconds,
// kinds and statuses ints with OTLP's numbers.
struct Condition {
  SpanField field = SpanField::kName;
  std::string key{};
  Compare compare = Compare::kEqual;
  std::variant<std::string, std::int64_t, double, bool> value{};
};

enum class SpanOrder : std::uint8_t { kNewestFirst, kLongestFirst };

struct SpanScan {
  TenantId tenant = TenantId::kDefault;
  TimeRange range{};  // a span belongs to it by its start
  std::vector<Condition> conditions{};
  SpanOrder order = SpanOrder::kNewestFirst;
  // Whether attributes, events, links, trace state and status message are wanted; ids, times, kind,
  // status, name and service always come.
  bool wide = true;
  std::size_t limit = 1000;
  Budget budget{};
};

struct SpanScanResult {
  SpanBatch spans;  // in the order asked for
  Inspected inspected{};
};

// ---- samples

struct SpanKey {
  TraceId trace_id{};  // zero matches any
  SpanId span_id{};
  auto operator<=>(const SpanKey&) const = default;
};

struct SamplesBySpans {
  TenantId tenant = TenantId::kDefault;
  std::vector<SpanKey> spans{};
  std::string type{};  // empty: every type
  Budget budget{};
};

struct SpanSample {
  std::uint32_t span = 0;  // index into SamplesBySpans::spans
  std::uint32_t type = 0;  // index into SpanSamples::types
  StackNumber stack{};
  LinkKind link = LinkKind::kSpan;
  std::int64_t value = 0;
  TimeNs time{};
  std::int64_t period = 0;
  std::uint64_t thread = 0;  // thread.id label, 0: not known
};

struct SpanSamples {
  std::vector<std::string> types{};
  std::vector<SpanSample> samples;  // sorted by (span, type, time)
  Inspected inspected{};
};

// Matches resource attributes or labels of a series by their text.
struct LabelMatcher {
  std::string name{};
  std::string value{};
  bool negated = false;
};

struct SampleMerge {
  TenantId tenant = TenantId::kDefault;
  std::string type{};
  std::string service{};  // empty: all services
  std::vector<LabelMatcher> matchers{};
  TimeRange range{};  // a sample belongs to it by its time
  Budget budget{};
};

struct StackSum {
  StackNumber stack{};
  std::int64_t sum = 0;
  std::uint64_t count = 0;
};

struct MergedSamples {
  std::vector<StackSum> stacks{};  // one entry a stack, in no order
  std::uint64_t samples = 0;
  std::int64_t period = 0;  // of the series seen; 0 if they differ or don't say
  Inspected inspected{};
};

// ---- catalog: what there is, from maintained statistics

// A profile source of one service in one slice of time.
struct ProfileStats {
  std::string service{};
  std::string type{};
  std::string version{};   // service.version, or empty
  std::string instance{};  // service.instance.id, else host.name, or empty
  std::string agent{};     // telemetry.sdk / distro name and version, or empty
  TimeNs first{};          // of the samples
  TimeNs last{};
  std::uint64_t samples = 0;
  std::uint64_t span_linked = 0;        // with the id of the active span
  std::uint64_t local_root_linked = 0;  // with the id of the local root span
  std::int64_t period = 0;
};

struct OperationStats {
  std::string service{};
  std::string name{};
  SpanKind kind = SpanKind::kUnspecified;
  TimeNs first{};  // starts of the spans
  TimeNs last{};
  std::uint64_t spans = 0;
  std::uint64_t errors = 0;
};

struct CatalogRequest {
  TenantId tenant = TenantId::kDefault;
  TimeRange range{};
  std::string service{};  // empty: all
};

struct Catalog {
  std::vector<OperationStats> operations;  // one entry for each (service, name, kind) and slice
  std::vector<ProfileStats> profiles{};    // one entry for each source and slice
};

// Names of attributes, or the values of one, seen on spans and resources.
struct TagsRequest {
  TenantId tenant = TenantId::kDefault;
  TimeRange range{};
  std::string key{};     // empty: names; else values of that key
  bool resource = true;  // look at resource attributes
  bool span = true;      // look at span attributes
  std::size_t limit = 1000;
};

struct TagsResult {
  std::vector<std::string> resource{};  // sorted, each once
  std::vector<std::string> span{};
  bool truncated = false;
};

// ---- operating

struct RetentionPolicy {
  DurationNs traces{7 * 24 * kHour.ns};
  DurationNs profiles{30 * 24 * kHour.ns};
};

struct EngineStats {
  std::uint64_t spans_written = 0;
  std::uint64_t samples_written = 0;
  std::uint64_t batches_written = 0;
  std::uint64_t duplicate_batches = 0;
  std::uint64_t head_bytes = 0;
  std::uint64_t log_bytes = 0;
  std::uint64_t disk_bytes = 0;
  std::uint64_t stacks = 0;
  std::uint64_t syncs = 0;
  std::uint64_t cuts = 0;
  std::uint64_t damaged_blocks = 0;
  std::uint64_t write_errors = 0;
};

class Engine {
 public:
  virtual ~Engine() = default;

  [[nodiscard]] virtual Result<WriteOutcome> Write(WriteBatch batch) = 0;
  // All spans of a trace, sorted by start, each (span id, kind) once; empty if there are none.
  [[nodiscard]] virtual Result<SpanScanResult> ReadTrace(TenantId tenant, const TraceId& id,
                                                         const Budget& budget) = 0;
  [[nodiscard]] virtual Result<SpanScanResult> ScanSpans(const SpanScan& scan) = 0;
  [[nodiscard]] virtual Result<SpanSamples> ReadSamples(const SamplesBySpans& request) = 0;
  [[nodiscard]] virtual Result<MergedSamples> MergeSamples(const SampleMerge& request) = 0;
  // Frames of stacks, native ones not resolved further. Numbers that are not known are left out.
  [[nodiscard]] virtual Result<FrameTable> ReadStacks(std::span<const StackNumber> stacks) = 0;
  [[nodiscard]] virtual Result<Catalog> ReadCatalog(const CatalogRequest& request) = 0;
  [[nodiscard]] virtual Result<TagsResult> ReadTags(const TagsRequest& request) = 0;
  // Drops what is older than the policy says, by whole slices; returns when it is done.
  [[nodiscard]] virtual Status ApplyRetention(const RetentionPolicy& policy, TimeNs now) = 0;
  // Moves acknowledged data out of memory into blocks; tests and shutdown call it.
  [[nodiscard]] virtual Status Flush() = 0;
  virtual EngineStats Stats() const = 0;
};

}  // namespace hotspan::storage
