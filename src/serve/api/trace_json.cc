#include "serve/api/trace_json.h"

#include <map>
#include <vector>

#include "base/json_writer.h"
#include "query/trace_tree.h"
#include "serve/api/values_json.h"

namespace hotspan::serve {
namespace {

// Samples of one span: by type, those of the better tier.
struct SpanCounts {
  std::map<std::uint32_t, std::uint64_t> span;
  std::map<std::uint32_t, std::uint64_t> local_root;

  bool linked() const { return !span.empty(); }
  bool any() const { return !span.empty() || !local_root.empty(); }
};

std::vector<SpanCounts> CountSamples(const storage::SpanSamples& samples, std::size_t spans) {
  std::vector<SpanCounts> counts(spans);
  for (const storage::SpanSample& sample : samples.samples) {
    if (sample.span >= spans) continue;
    SpanCounts& of = counts[sample.span];
    ++(sample.link == LinkKind::kSpan ? of.span : of.local_root)[sample.type];
  }
  return counts;
}

// The greatest part of the critical path that has samples, else the greatest at all.
std::uint32_t SuggestedNode(const query::TraceTree& tree, const std::vector<SpanCounts>& counts) {
  std::uint32_t best = query::kNoNode;
  std::uint32_t best_sampled = query::kNoNode;
  const auto take = [&](std::uint32_t& current, std::uint32_t candidate) {
    if (current == query::kNoNode ||
        tree.nodes[candidate].critical > tree.nodes[current].critical) {
      current = candidate;
    }
  };
  for (std::uint32_t node = 0; node < tree.nodes.size(); ++node) {
    take(best, node);
    if (counts[tree.nodes[node].row].any()) take(best_sampled, node);
  }
  return best_sampled != query::kNoNode ? best_sampled : best;
}

void WriteEvents(JsonWriter& json, const SpanBatch& batch, const SpanRow& span) {
  json.Key("events").BeginArray();
  for (const SpanEvent& event : ReadEvents(batch.Text(span.events))) {
    json.BeginObject().Key("name").String(event.name);
    json.Key("offset_ns").Number(event.time.ns - span.start.ns);
    json.Key("attributes");
    WriteAttributes(json, event.attributes);
    json.EndObject();
  }
  json.EndArray();
  json.Key("links").BeginArray();
  for (const SpanLink& link : ReadLinks(batch.Text(span.links))) {
    json.BeginObject().Key("trace_id").String(link.trace_id.ToHex());
    json.Key("span_id").String(link.span_id.ToHex());
    json.Key("attributes");
    WriteAttributes(json, link.attributes);
    json.EndObject();
  }
  json.EndArray();
}

void WriteSamples(JsonWriter& json, const SpanCounts& counts, const storage::SpanSamples& samples) {
  json.Key("samples").BeginObject();
  for (const auto& [type, count] : counts.linked() ? counts.span : counts.local_root) {
    json.Key(samples.types[type]).Number(count);
  }
  json.EndObject();
  json.Key("tier");
  if (!counts.any()) {
    json.Null();
  } else {
    json.String(counts.linked() ? "span" : "local_root");
  }
}

void WriteSpan(JsonWriter& json, const SpanBatch& batch, const query::TraceTree& tree,
               const query::TraceNode& node, const SpanCounts& counts,
               const storage::SpanSamples& samples) {
  const SpanRow& span = batch.spans[node.row];
  const ResourceRow& resource = batch.resources[span.resource];
  const ScopeRow& scope = batch.scopes[span.scope];
  json.BeginObject().Key("span_id").String(span.span_id.ToHex());
  json.Key("parent_span_id");
  json.String(span.parent_span_id.IsZero() ? std::string() : span.parent_span_id.ToHex());
  json.Key("service").String(batch.ServiceOf(span)).Key("name").String(batch.Text(span.name));
  json.Key("kind").String(SpanKindName(span.kind));
  json.Key("status").String(SpanStatusName(span.status));
  json.Key("status_message").String(batch.Text(span.status_message));
  json.Key("start_ns").DecimalString(span.start.ns);
  json.Key("offset_ns").Number(span.start.ns - tree.start.ns);
  json.Key("duration_ns").Number(span.duration().ns);
  json.Key("self_ns").Number(node.self.ns).Key("critical_ns").Number(node.critical.ns);
  json.Key("depth").Number(node.depth).Key("children").Number(node.children);
  json.Key("orphan").Bool(node.orphan).Key("asynchronous").Bool(node.asynchronous);
  json.Key("attributes");
  WriteAttributes(json, batch.Attributes(span.attributes));
  json.Key("resource");
  WriteAttributes(json, batch.Attributes(resource.attributes));
  json.Key("scope").BeginObject().Key("name").String(batch.Text(scope.name));
  json.Key("version").String(batch.Text(scope.version)).EndObject();
  WriteEvents(json, batch, span);
  WriteSamples(json, counts, samples);
  json.EndObject();
}

void WriteServices(JsonWriter& json, const SpanBatch& batch, const query::TraceTree& tree) {
  struct Total {
    std::uint64_t spans = 0;
    std::int64_t self_ns = 0;
  };
  std::map<std::string_view, Total> services;
  for (const query::TraceNode& node : tree.nodes) {
    Total& total = services[batch.ServiceOf(batch.spans[node.row])];
    ++total.spans;
    total.self_ns += node.self.ns;
  }
  json.Key("services").BeginArray();
  for (const auto& [service, total] : services) {
    json.BeginObject().Key("service").String(service).Key("spans").Number(total.spans);
    json.Key("self_ns").Number(total.self_ns).EndObject();
  }
  json.EndArray();
}

}  // namespace

std::string TraceJson(const TraceId& id, const storage::SpanScanResult& trace,
                      const storage::SpanSamples& samples) {
  const SpanBatch& batch = trace.spans;
  const query::TraceTree tree = query::BuildTraceTree(batch);
  const std::vector<SpanCounts> counts = CountSamples(samples, batch.spans.size());
  const auto hex_of = [&](std::uint32_t node) {
    return node == query::kNoNode ? std::string()
                                  : batch.spans[tree.nodes[node].row].span_id.ToHex();
  };
  std::int64_t critical_ns = 0;
  if (tree.root != query::kNoNode) {
    critical_ns = batch.spans[tree.nodes[tree.root].row].duration().ns;
  }
  JsonWriter json;
  json.BeginObject().Key("trace_id").String(id.ToHex());
  json.Key("start_ns").DecimalString(tree.start.ns);
  json.Key("duration_ns").Number((tree.end - tree.start).ns);
  json.Key("root_span_id").String(hex_of(tree.root));
  json.Key("suggested_span_id").String(hex_of(SuggestedNode(tree, counts)));
  json.Key("critical_path_ns").Number(critical_ns);
  json.Key("truncated").Bool(trace.inspected.truncated || samples.inspected.truncated);
  WriteServices(json, batch, tree);
  json.Key("spans").BeginArray();
  for (const query::TraceNode& node : tree.nodes) {
    WriteSpan(json, batch, tree, node, counts[node.row], samples);
  }
  json.EndArray().EndObject();
  return json.Take();
}

}  // namespace hotspan::serve
