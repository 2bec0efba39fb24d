// One trace as a tree: parents resolved, order of the waterfall, self times and the critical path.
//
// The critical path of a span walks backwards from its end: at each moment the time belongs to the
// last-finishing child that was running then (clipped to its parent), and to the span itself where
// no child ran. An asynchronous child - a consumer, or a span of the same process that outlives its
// parent - is not on its parent's path, since nothing shows that the parent waited for it. Critical
// times of a tree therefore add up to the duration of its root exactly.
//
// Threads: values; const access from any thread.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/ids.h"
#include "model/span.h"
#include "model/time.h"

namespace hotspan::query {

inline constexpr std::uint32_t kNoNode = UINT32_MAX;

struct TimeInterval {
  TimeNs begin;
  TimeNs end;
  auto operator<=>(const TimeInterval&) const = default;
  DurationNs duration() const { return end - begin; }
};

struct TraceNode {
  std::uint32_t row = 0;           // index into SpanBatch::spans
  std::uint32_t parent = kNoNode;  // index into TraceTree::nodes
  std::uint32_t depth = 0;
  std::uint32_t children = 0;
  std::uint32_t subtree_end = 0;  // descendants are the nodes after this one and before that index
  std::uint32_t first_interval = 0;  // range in TraceTree::intervals: its part of the critical path
  std::uint32_t interval_count = 0;
  bool orphan = false;        // names a parent that is not in the trace, or was cut out of a cycle
  bool asynchronous = false;  // its parent did not wait for it
  DurationNs self;            // duration minus the union of its children
  DurationNs critical;        // its own part of the critical path
};

struct TraceTree {
  std::vector<TraceNode> nodes;         // depth first, children by start
  std::vector<TimeInterval> intervals;  // of critical paths, by node, ascending in time
  std::uint32_t root = kNoNode;         // the longest span without parent, else the longest orphan
  TimeNs start;                         // of the earliest span
  TimeNs end;                           // of the latest span

  // The node of a span id; of several kinds under one id the server's. kNoNode: not in the trace.
  std::uint32_t Find(const SpanBatch& batch, const SpanId& id) const;
  std::span<const TimeInterval> CriticalOf(std::uint32_t node) const {
    return std::span(intervals).subspan(nodes[node].first_interval, nodes[node].interval_count);
  }
  // Calls visit(child index) for each child, by start.
  template <typename Visitor>
  void ForEachChild(std::uint32_t node, Visitor&& visit) const {
    for (std::uint32_t child = node + 1; child < nodes[node].subtree_end;
         child = nodes[child].subtree_end) {
      visit(child);
    }
  }
};

// Builds the tree of one trace's spans. Of spans with equal (span id, kind) the first counts;
// orphans and one span of each cycle become roots. Every tree has a critical path of its own.
TraceTree BuildTraceTree(const SpanBatch& batch);

// A part of the critical path inside one span: [begin, end] is spent in `node`.
struct PathPart {
  std::uint32_t node = 0;
  TimeInterval interval;
};

// The top level of the critical path inside of `node`: its own parts and its children's, ascending
// in time and without gaps, so that the durations add up to the span's.
std::vector<PathPart> PathWithin(const SpanBatch& batch, const TraceTree& tree, std::uint32_t node);

}  // namespace hotspan::query
