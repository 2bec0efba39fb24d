// One span in its trace, with the samples that may be said to be its own.
//
// Threads: values and functions; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "correlate/explanation.h"
#include "correlate/ledger.h"
#include "correlate/sources.h"
#include "query/trace_tree.h"
#include "storage/engine.h"

namespace hotspan::correlate {

// A span in its tree.
struct SpanInTrace {
  SpanBatch spans;
  query::TraceTree tree;
  std::uint32_t node = 0;
  std::uint32_t local_root = 0;  // the outermost ancestor of the same process without a gap between
  std::vector<query::TimeInterval> children;  // disjoint: the children's part of its critical path

  const SpanRow& row() const { return spans.spans[tree.nodes[node].row]; }
  query::TimeInterval interval() const { return {row().start, row().end}; }
  std::string service() const { return std::string(spans.ServiceOf(row())); }
  std::string name() const { return std::string(spans.Text(row().name)); }
  AttributeList resource() const {
    return spans.Attributes(spans.resources[row().resource].attributes);
  }
};

// Reads the trace and chooses the span, or the one the trace suggests: of the spans with samples
// the one with the greatest part of the critical path, else of all.
Result<SpanInTrace> ReadSpanInTrace(storage::Engine& engine, TenantId tenant, const TraceId& trace,
                                    const std::optional<SpanId>& span,
                                    const storage::Budget& budget);

// Samples by their labels: of the span, of its descendants, of its local root.
struct LabelledSamples {
  std::vector<std::string> types;
  std::vector<storage::SpanSample> own;          // of the active span: this one
  std::vector<storage::SpanSample> descendants;  // of spans below it
  std::vector<storage::SpanSample> local_root;   // of its local root, within its time and thread
  bool untimed = false;  // the local root's samples have no times, so all of them were kept

  std::uint32_t TypeIndex(std::string_view type) const;  // types.size() if there is none
};

Result<LabelledSamples> ReadLabelled(storage::Engine& engine, TenantId tenant,
                                     const SpanInTrace& span, const storage::Budget& budget);

// Samples of one type by one tier (span or local_root) and mode.
std::vector<storage::SpanSample> Choose(const LabelledSamples& samples, const SpanInTrace& span,
                                        std::string_view type, Tier tier, Mode mode);

}  // namespace hotspan::correlate
