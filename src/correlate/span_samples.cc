#include "correlate/span_samples.h"

#include <algorithm>
#include <unordered_set>

namespace hotspan::correlate {
namespace {

// Spans that may be the suggested one; beyond these none has much of the critical path.
constexpr std::size_t kSuggestedMax = 64;

bool SameProcess(const SpanBatch& batch, const SpanRow& a, const SpanRow& b) {
  return a.resource == b.resource || batch.Text(batch.resources[a.resource].attributes) ==
                                         batch.Text(batch.resources[b.resource].attributes);
}

Result<std::uint32_t> Suggest(storage::Engine& engine, TenantId tenant, const SpanBatch& spans,
                              const query::TraceTree& tree, const storage::Budget& budget) {
  std::vector<std::uint32_t> nodes(tree.nodes.size());
  for (std::uint32_t i = 0; i < nodes.size(); ++i) nodes[i] = i;
  std::sort(nodes.begin(), nodes.end(), [&](std::uint32_t a, std::uint32_t b) {
    const DurationNs left = tree.nodes[a].critical;
    const DurationNs right = tree.nodes[b].critical;
    return left != right ? left > right : a < b;
  });
  if (nodes.size() > kSuggestedMax) nodes.resize(kSuggestedMax);
  storage::SamplesBySpans request;
  request.tenant = tenant;
  request.budget = budget;
  for (const std::uint32_t node : nodes) {
    const SpanRow& span = spans.spans[tree.nodes[node].row];
    request.spans.push_back({span.trace_id, span.span_id});
  }
  TRY_ASSIGN(const storage::SpanSamples samples, engine.ReadSamples(request));
  std::uint32_t best = UINT32_MAX;
  for (const storage::SpanSample& sample : samples.samples) best = std::min(best, sample.span);
  return best == UINT32_MAX || best >= nodes.size() ? nodes.front() : nodes[best];
}

std::vector<query::TimeInterval> ChildTime(const SpanInTrace& span) {
  std::vector<query::TimeInterval> children;
  for (const query::PathPart& part : PathWithin(span.spans, span.tree, span.node)) {
    if (part.node == span.node) continue;
    if (!children.empty() && children.back().end == part.interval.begin) {
      children.back().end = part.interval.end;
    } else {
      children.push_back(part.interval);
    }
  }
  return children;
}

std::uint64_t ThreadOf(const SpanInTrace& span) {
  const std::optional<Value> thread =
      span.spans.Attributes(span.row().attributes).Find("thread.id");
  if (!thread || thread->kind() != ValueKind::kInt || thread->AsInt() <= 0) return 0;
  return static_cast<std::uint64_t>(thread->AsInt());
}

// A local root's samples by time and thread: those of the span itself can't be told otherwise.
void NarrowToSpan(const SpanInTrace& span, LabelledSamples& samples) {
  const query::TimeInterval interval = span.interval();
  const bool timed = std::any_of(
      samples.local_root.begin(), samples.local_root.end(), [&](const storage::SpanSample& sample) {
        const SpanRow& root = span.spans.spans[span.tree.nodes[span.local_root].row];
        return root.start < sample.time && sample.time <= root.end;
      });
  if (!timed) {
    // Profiles without times for their samples: they are the whole local root's.
    samples.untimed = true;
    if (span.local_root != span.node) samples.local_root.clear();
    return;
  }
  const std::uint64_t thread = ThreadOf(span);
  std::erase_if(samples.local_root, [&](const storage::SpanSample& sample) {
    if (sample.time < interval.begin || interval.end < sample.time) return true;
    return thread != 0 && sample.thread != 0 && sample.thread != thread;
  });
}

}  // namespace

Result<SpanInTrace> ReadSpanInTrace(storage::Engine& engine, TenantId tenant, const TraceId& trace,
                                    const std::optional<SpanId>& span,
                                    const storage::Budget& budget) {
  TRY_ASSIGN(storage::SpanScanResult read, engine.ReadTrace(tenant, trace, budget));
  if (read.spans.spans.empty()) {
    return Fail(Error(Code::kNotFound, "no trace " + trace.ToHex()).Field("trace_id"));
  }
  SpanInTrace result;
  result.spans = std::move(read.spans);
  result.tree = query::BuildTraceTree(result.spans);
  if (span) {
    result.node = result.tree.Find(result.spans, *span);
    if (result.node == query::kNoNode) {
      return Fail(Error(Code::kNotFound, "no span " + span->ToHex() + " in trace " + trace.ToHex())
                      .Field("span_id"));
    }
  } else {
    TRY_ASSIGN(result.node, Suggest(engine, tenant, result.spans, result.tree, budget));
  }
  result.local_root = result.node;
  for (std::uint32_t at = result.node; at != query::kNoNode; at = result.tree.nodes[at].parent) {
    if (!SameProcess(result.spans, result.spans.spans[result.tree.nodes[at].row], result.row())) {
      break;
    }
    result.local_root = at;
  }
  result.children = ChildTime(result);
  return result;
}

std::uint32_t LabelledSamples::TypeIndex(std::string_view type) const {
  return static_cast<std::uint32_t>(std::find(types.begin(), types.end(), type) - types.begin());
}

Result<LabelledSamples> ReadLabelled(storage::Engine& engine, TenantId tenant,
                                     const SpanInTrace& span, const storage::Budget& budget) {
  storage::SamplesBySpans request;
  request.tenant = tenant;
  request.budget = budget;
  const auto key_of = [&](std::uint32_t node) {
    const SpanRow& row = span.spans.spans[span.tree.nodes[node].row];
    return storage::SpanKey{row.trace_id, row.span_id};
  };
  // The span first, its descendants, then the local root where it is another span. Copies of one id
  // (client and server sharing it) are asked for once.
  std::unordered_set<SpanId, SpanIdHasher> asked;
  for (std::uint32_t node = span.node; node < span.tree.nodes[span.node].subtree_end; ++node) {
    const storage::SpanKey key = key_of(node);
    if (asked.insert(key.span_id).second) request.spans.push_back(key);
  }
  const std::size_t descendants_end = request.spans.size();
  const bool own_root = key_of(span.local_root).span_id == key_of(span.node).span_id;
  if (!own_root) request.spans.push_back(key_of(span.local_root));
  TRY_ASSIGN(storage::SpanSamples read, engine.ReadSamples(request));

  LabelledSamples samples;
  samples.types = std::move(read.types);
  for (const storage::SpanSample& sample : read.samples) {
    const bool is_root = own_root ? sample.span == 0 : sample.span >= descendants_end;
    if (sample.link == LinkKind::kLocalRoot) {
      if (is_root) samples.local_root.push_back(sample);
    } else if (sample.span == 0) {
      samples.own.push_back(sample);
    } else if (sample.span < descendants_end) {
      samples.descendants.push_back(sample);
    }
  }
  NarrowToSpan(span, samples);
  return samples;
}

std::vector<storage::SpanSample> Choose(const LabelledSamples& samples, const SpanInTrace& span,
                                        std::string_view type, Tier tier, Mode mode) {
  std::vector<storage::SpanSample> chosen;
  const std::uint32_t index = samples.TypeIndex(type);
  const auto take = [&](const std::vector<storage::SpanSample>& from, bool outside_children) {
    for (const storage::SpanSample& sample : from) {
      if (sample.type != index) continue;
      if (outside_children && !samples.untimed) {
        const auto child = std::upper_bound(
            span.children.begin(), span.children.end(), sample.time,
            [](TimeNs time, const query::TimeInterval& interval) { return time < interval.end; });
        if (child != span.children.end() && child->begin <= sample.time) continue;
      }
      chosen.push_back(sample);
    }
  };
  if (tier == Tier::kSpan) {
    take(samples.own, false);
    if (mode == Mode::kWithChildren) take(samples.descendants, false);
  } else if (tier == Tier::kLocalRoot) {
    take(samples.local_root, mode == Mode::kSelf);
  }
  return chosen;
}

}  // namespace hotspan::correlate
