#include <algorithm>
#include <unordered_map>

#include "query/eval.h"

namespace hotspan::query {
namespace {

constexpr std::uint32_t kNone = UINT32_MAX;

// Under one id there may be a client's and a server's span (Zipkin); a child belongs to the server.
bool IsBetterParent(const SpanRow& candidate, const SpanRow& current) {
  return candidate.kind == SpanKind::kServer && current.kind != SpanKind::kServer;
}

std::vector<std::uint32_t> FindParents(const SpanBatch& trace) {
  std::unordered_map<SpanId, std::uint32_t, SpanIdHasher> by_id;
  by_id.reserve(trace.spans.size());
  for (std::uint32_t i = 0; i < trace.spans.size(); ++i) {
    const auto [entry, is_new] = by_id.try_emplace(trace.spans[i].span_id, i);
    if (!is_new && IsBetterParent(trace.spans[i], trace.spans[entry->second])) entry->second = i;
  }
  std::vector<std::uint32_t> parents(trace.spans.size(), kNone);
  for (std::uint32_t i = 0; i < trace.spans.size(); ++i) {
    if (trace.spans[i].parent_span_id.IsZero()) continue;
    const auto found = by_id.find(trace.spans[i].parent_span_id);
    if (found != by_id.end() && found->second != i) parents[i] = found->second;
  }
  return parents;
}

}  // namespace

TraceView::TraceView(const SpanBatch& trace)
    : trace_(trace),
      child_counts_(trace.spans.size()),
      left_(trace.spans.size()),
      right_(trace.spans.size()),
      parent_(trace.spans.size()) {
  if (trace.spans.empty()) return;
  start_ = trace.spans[0].start;
  end_ = trace.spans[0].end;
  const std::vector<std::uint32_t> parents = FindParents(trace);
  std::vector<std::vector<std::uint32_t>> children(trace.spans.size());
  std::vector<std::uint32_t> roots;
  for (std::uint32_t i = 0; i < trace.spans.size(); ++i) {
    const SpanRow& span = trace.spans[i];
    start_ = std::min(start_, span.start);
    end_ = std::max(end_, span.end);
    if (parents[i] != kNone) {
      children[parents[i]].push_back(i);
      ++child_counts_[parents[i]];
    }
    if (!span.parent_span_id.IsZero()) continue;
    roots.push_back(i);
    if (root_ == nullptr || span.start < root_->start) root_ = &span;
  }
  Number(children, roots);
}

void TraceView::Number(const std::vector<std::vector<std::uint32_t>>& children,
                       const std::vector<std::uint32_t>& roots) {
  struct Step {
    std::uint32_t span;
    std::size_t next_child;
  };
  std::int64_t counter = 1;
  std::vector<Step> path;
  for (const std::uint32_t root : roots) {
    parent_[root] = -1;
    left_[root] = counter++;
    path.push_back({root, 0});
    while (!path.empty()) {
      Step& step = path.back();
      if (step.next_child == children[step.span].size()) {
        right_[step.span] = counter++;
        path.pop_back();
        continue;
      }
      const std::uint32_t child = children[step.span][step.next_child++];
      parent_[child] = left_[step.span];
      left_[child] = counter++;
      path.push_back({child, 0});
    }
  }
}

}  // namespace hotspan::query
