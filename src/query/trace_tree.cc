#include "query/trace_tree.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>

namespace hotspan::query {
namespace {

// Tracers round times, so a child may seem to end this much after its parent.
constexpr DurationNs kRounding{1'000'000};

// Parents of the rows that stay in the tree; children are lists linked through `next`.
struct Links {
  std::vector<std::uint32_t> rows;     // the distinct spans, as rows of the batch
  std::vector<std::uint32_t> parents;  // index into rows, or kNoNode
  std::vector<bool> orphans;
};

struct SpanIdentity {
  SpanId id;
  SpanKind kind;
  bool operator==(const SpanIdentity&) const = default;
};

struct SpanIdentityHasher {
  std::size_t operator()(const SpanIdentity& key) const {
    return SpanIdHasher{}(key.id) + static_cast<std::size_t>(key.kind);
  }
};

// Rows of distinct (span id, kind), by start, longer ones first, so that order never depends on
// the order of arrival.
std::vector<std::uint32_t> DistinctRows(const SpanBatch& batch) {
  std::unordered_map<SpanIdentity, std::uint32_t, SpanIdentityHasher> seen;
  seen.reserve(batch.spans.size());
  std::vector<std::uint32_t> rows;
  rows.reserve(batch.spans.size());
  for (std::uint32_t row = 0; row < batch.spans.size(); ++row) {
    const SpanRow& span = batch.spans[row];
    if (seen.emplace(SpanIdentity{span.span_id, span.kind}, row).second) rows.push_back(row);
  }
  std::sort(rows.begin(), rows.end(), [&](std::uint32_t left, std::uint32_t right) {
    const SpanRow& a = batch.spans[left];
    const SpanRow& b = batch.spans[right];
    if (a.start != b.start) return a.start < b.start;
    if (a.end != b.end) return a.end > b.end;
    if (a.span_id != b.span_id) return a.span_id < b.span_id;
    return a.kind < b.kind;
  });
  return rows;
}

// Where one id stands for two spans (client and server share it, as in Zipkin), the server's copy
// is the parent of further spans and a child of the other copy.
void ResolveParents(const SpanBatch& batch, Links& links) {
  struct Copies {
    std::uint32_t first = kNoNode;
    std::uint32_t server = kNoNode;
  };
  std::unordered_map<SpanId, Copies, SpanIdHasher> by_id;
  by_id.reserve(links.rows.size());
  for (std::uint32_t index = 0; index < links.rows.size(); ++index) {
    const SpanRow& span = batch.spans[links.rows[index]];
    Copies& copies = by_id[span.span_id];
    if (span.kind == SpanKind::kServer) {
      copies.server = index;
    } else if (copies.first == kNoNode) {
      copies.first = index;
    }
  }
  links.parents.assign(links.rows.size(), kNoNode);
  links.orphans.assign(links.rows.size(), false);
  for (std::uint32_t index = 0; index < links.rows.size(); ++index) {
    const SpanRow& span = batch.spans[links.rows[index]];
    const Copies& own = by_id[span.span_id];
    if (own.server == index && own.first != kNoNode) {
      links.parents[index] = own.first;
      continue;
    }
    if (span.parent_span_id.IsZero()) continue;
    const auto found = by_id.find(span.parent_span_id);
    if (found == by_id.end()) {
      links.orphans[index] = true;
      continue;
    }
    const Copies& parent = found->second;
    links.parents[index] = parent.server != kNoNode ? parent.server : parent.first;
  }
}

// Makes the earliest span of each cycle a root.
void CutCycles(Links& links) {
  enum : std::uint8_t { kUnseen, kOnPath, kDone };
  std::vector<std::uint8_t> state(links.rows.size(), kUnseen);
  std::vector<std::uint32_t> path;
  for (std::uint32_t start = 0; start < links.rows.size(); ++start) {
    path.clear();
    std::uint32_t at = start;
    while (at != kNoNode && state[at] == kUnseen) {
      state[at] = kOnPath;
      path.push_back(at);
      at = links.parents[at];
    }
    if (at != kNoNode && state[at] == kOnPath) {
      // Rows are sorted by start, so the smallest index is the earliest span.
      std::uint32_t earliest = at;
      for (std::uint32_t next = links.parents[at]; next != at; next = links.parents[next]) {
        earliest = std::min(earliest, next);
      }
      links.parents[earliest] = kNoNode;
      links.orphans[earliest] = true;
    }
    for (const std::uint32_t visited : path) state[visited] = kDone;
  }
}

bool IsAsynchronous(const SpanBatch& batch, const SpanRow& parent, const SpanRow& child) {
  if (child.kind == SpanKind::kConsumer || parent.kind == SpanKind::kProducer) return true;
  // Clocks of two machines differ, so only a span of the same process can be said to outlive.
  const bool same_process = child.resource == parent.resource ||
                            batch.Text(batch.resources[child.resource].attributes) ==
                                batch.Text(batch.resources[parent.resource].attributes);
  return same_process && child.end > parent.end + kRounding && child.kind != SpanKind::kServer;
}

// Lays the nodes out depth first with children in order of `rows`, which is by start.
void LayOut(const SpanBatch& batch, const Links& links, TraceTree& tree) {
  const auto count = static_cast<std::uint32_t>(links.rows.size());
  std::vector<std::uint32_t> first(count, kNoNode);
  std::vector<std::uint32_t> next(count, kNoNode);
  std::uint32_t first_root = kNoNode;
  for (std::uint32_t index = count; index-- > 0;) {
    const std::uint32_t parent = links.parents[index];
    std::uint32_t& head = parent == kNoNode ? first_root : first[parent];
    next[index] = head;
    head = index;
  }
  tree.nodes.reserve(count);
  struct Open {
    std::uint32_t node;
    std::uint32_t next_child;
  };
  std::vector<Open> open;
  const auto enter = [&](std::uint32_t index) {
    const std::uint32_t parent = open.empty() ? kNoNode : open.back().node;
    TraceNode node;
    node.row = links.rows[index];
    node.parent = parent;
    node.depth = static_cast<std::uint32_t>(open.size());
    node.orphan = links.orphans[index];
    if (parent != kNoNode) {
      ++tree.nodes[parent].children;
      node.asynchronous =
          IsAsynchronous(batch, batch.spans[tree.nodes[parent].row], batch.spans[node.row]);
    }
    tree.nodes.push_back(node);
    open.push_back({static_cast<std::uint32_t>(tree.nodes.size() - 1), first[index]});
  };
  for (std::uint32_t root = first_root; root != kNoNode; root = next[root]) {
    enter(root);
    while (!open.empty()) {
      const std::uint32_t child = open.back().next_child;
      if (child != kNoNode) {
        open.back().next_child = next[child];
        enter(child);
      } else {
        tree.nodes[open.back().node].subtree_end = static_cast<std::uint32_t>(tree.nodes.size());
        open.pop_back();
      }
    }
  }
}

void ComputeSelf(const SpanBatch& batch, TraceTree& tree) {
  for (std::uint32_t index = 0; index < tree.nodes.size(); ++index) {
    const SpanRow& span = batch.spans[tree.nodes[index].row];
    std::int64_t covered = 0;
    std::int64_t reached = span.start.ns;
    tree.ForEachChild(index, [&](std::uint32_t child) {
      const SpanRow& inner = batch.spans[tree.nodes[child].row];
      const std::int64_t begin = std::max(inner.start.ns, reached);
      const std::int64_t end = std::min(inner.end.ns, span.end.ns);
      if (end <= begin) return;
      covered += end - begin;
      reached = end;
    });
    tree.nodes[index].self = DurationNs{span.duration().ns - covered};
  }
}

// Splits `window` of a node between itself and its children, from the end backwards. Emits parts in
// descending order of time.
template <typename Emit>
void WalkBack(const SpanBatch& batch, const TraceTree& tree, std::uint32_t node,
              TimeInterval window, std::vector<std::uint32_t>& scratch, Emit&& emit) {
  scratch.clear();
  tree.ForEachChild(node, [&](std::uint32_t child) {
    if (!tree.nodes[child].asynchronous) scratch.push_back(child);
  });
  const auto row_of = [&](std::uint32_t child) -> const SpanRow& {
    return batch.spans[tree.nodes[child].row];
  };
  std::sort(scratch.begin(), scratch.end(), [&](std::uint32_t left, std::uint32_t right) {
    const SpanRow& a = row_of(left);
    const SpanRow& b = row_of(right);
    if (a.end != b.end) return a.end > b.end;
    return left < right;
  });
  TimeNs at = window.end;
  for (const std::uint32_t child : scratch) {
    const TimeNs begin = std::max(row_of(child).start, window.begin);
    const TimeNs end = std::min(row_of(child).end, at);
    if (end <= begin) continue;
    if (end < at) emit(node, TimeInterval{end, at});
    emit(child, TimeInterval{begin, end});
    at = begin;
  }
  if (window.begin < at) emit(node, TimeInterval{window.begin, at});
}

void ComputeCriticalPath(const SpanBatch& batch, TraceTree& tree) {
  struct Visit {
    std::uint32_t node;
    TimeInterval window;
  };
  std::vector<Visit> pending;
  std::vector<std::uint32_t> scratch;
  for (std::uint32_t root = 0; root < tree.nodes.size(); root = tree.nodes[root].subtree_end) {
    const SpanRow& span = batch.spans[tree.nodes[root].row];
    pending.push_back({root, {span.start, span.end}});
    while (!pending.empty()) {
      const Visit visit = pending.back();
      pending.pop_back();
      TraceNode& node = tree.nodes[visit.node];
      node.first_interval = static_cast<std::uint32_t>(tree.intervals.size());
      WalkBack(batch, tree, visit.node, visit.window, scratch,
               [&](std::uint32_t part, TimeInterval interval) {
                 if (part != visit.node) {
                   pending.push_back({part, interval});
                   return;
                 }
                 tree.intervals.push_back(interval);
                 node.critical = node.critical + interval.duration();
               });
      node.interval_count = static_cast<std::uint32_t>(tree.intervals.size()) - node.first_interval;
      std::reverse(tree.intervals.begin() + node.first_interval, tree.intervals.end());
    }
  }
}

std::uint32_t ChooseRoot(const SpanBatch& batch, const TraceTree& tree) {
  std::uint32_t best = kNoNode;
  for (std::uint32_t root = 0; root < tree.nodes.size(); root = tree.nodes[root].subtree_end) {
    if (best == kNoNode) {
      best = root;
      continue;
    }
    const TraceNode& a = tree.nodes[root];
    const TraceNode& b = tree.nodes[best];
    if (a.orphan != b.orphan) {
      if (!a.orphan) best = root;
    } else if (batch.spans[a.row].duration() > batch.spans[b.row].duration()) {
      best = root;
    }
  }
  return best;
}

}  // namespace

TraceTree BuildTraceTree(const SpanBatch& batch) {
  TraceTree tree;
  if (batch.spans.empty()) return tree;
  Links links;
  links.rows = DistinctRows(batch);
  ResolveParents(batch, links);
  CutCycles(links);
  LayOut(batch, links, tree);
  ComputeSelf(batch, tree);
  ComputeCriticalPath(batch, tree);
  tree.root = ChooseRoot(batch, tree);
  tree.start = batch.spans[links.rows.front()].start;
  tree.end = tree.start;
  for (const std::uint32_t row : links.rows) tree.end = std::max(tree.end, batch.spans[row].end);
  return tree;
}

std::uint32_t TraceTree::Find(const SpanBatch& batch, const SpanId& id) const {
  std::uint32_t found = kNoNode;
  for (std::uint32_t index = 0; index < nodes.size(); ++index) {
    const SpanRow& span = batch.spans[nodes[index].row];
    if (span.span_id != id) continue;
    if (found == kNoNode || span.kind == SpanKind::kServer) found = index;
  }
  return found;
}

std::vector<PathPart> PathWithin(const SpanBatch& batch, const TraceTree& tree,
                                 std::uint32_t node) {
  std::vector<PathPart> parts;
  std::vector<std::uint32_t> scratch;
  const SpanRow& span = batch.spans[tree.nodes[node].row];
  WalkBack(batch, tree, node, {span.start, span.end}, scratch,
           [&](std::uint32_t part, TimeInterval interval) { parts.push_back({part, interval}); });
  std::reverse(parts.begin(), parts.end());
  return parts;
}

}  // namespace hotspan::query
