// One merged flame graph: of a span, a trace, all spans of a query, or a service; in many formats.
#include <algorithm>
#include <utility>
#include <vector>

#include "base/json_writer.h"
#include "correlate/statistics.h"
#include "query/flame/formats.h"
#include "query/flame/top.h"
#include "query/profile/selector.h"
#include "query/profiles.h"
#include "query/trace_tree.h"
#include "serve/api/routes.h"
#include "serve/http/params.h"
#include "wire/pprof/pprof_encoder.h"

namespace hotspan::serve {
namespace {

constexpr std::string_view kDefaultType = "process_cpu:cpu:nanoseconds:cpu:nanoseconds";
constexpr std::size_t kTopRows = 100;

// A profile with what is known of where it comes from.
struct Merged {
  query::MergedProfile profile;
  std::string tier;
  std::string title;
  std::uint64_t spans = 0;
  TimeRange range;  // empty: not known
};

Error NoTrace(const TraceId& id) {
  return Error(Code::kNotFound, "no trace " + id.ToHex()).Field("trace_id");
}

// The spans meant: one, one with all below it, or the whole trace.
Result<std::vector<storage::SpanKey>> KeysOf(const SpanBatch& batch,
                                             const std::optional<SpanId>& span,
                                             bool with_children) {
  std::vector<storage::SpanKey> keys;
  const auto add = [&](const SpanRow& row) { keys.push_back({row.trace_id, row.span_id}); };
  if (!span) {
    for (const SpanRow& row : batch.spans) add(row);
    return keys;
  }
  const query::TraceTree tree = query::BuildTraceTree(batch);
  const std::uint32_t node = tree.Find(batch, *span);
  if (node == query::kNoNode) {
    return Fail(
        Error(Code::kNotFound, "no span " + span->ToHex() + " in the trace").Field("span_id"));
  }
  const std::uint32_t end = with_children ? tree.nodes[node].subtree_end : node + 1;
  for (std::uint32_t at = node; at < end; ++at) add(batch.spans[tree.nodes[at].row]);
  return keys;
}

Result<Merged> OfTrace(Api& api, Params& params, const TraceId& id, const std::string& type) {
  const auto span = params.Span("span_id");
  const bool with_children = params.Word("mode", {"self", "with_children"}) == "with_children";
  TRY(params.status());
  TRY_ASSIGN(auto trace, api.engine.ReadTrace(TenantId::kDefault, id, {}));
  if (trace.spans.spans.empty()) return Fail(NoTrace(id));
  TRY_ASSIGN(auto keys, KeysOf(trace.spans, span, with_children));
  // A span id may stand for two spans (client and server); its samples count once.
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  Merged merged;
  merged.spans = keys.size();
  merged.title = span ? "span " + span->ToHex() : "trace " + id.ToHex();
  for (const auto& [link, tier] :
       {std::pair{LinkKind::kSpan, "span"}, std::pair{LinkKind::kLocalRoot, "local_root"}}) {
    TRY_ASSIGN(auto profile, query::ReadSpanProfile(api.engine, api.frames, TenantId::kDefault,
                                                    keys, type, link));
    if (profile.types.empty()) continue;
    merged.profile = std::move(profile.types.front());
    merged.tier = tier;
    return merged;
  }
  merged.profile.type = type;
  merged.profile.frames = std::make_shared<FrameTable>();
  merged.tier = "span";
  return merged;
}

Result<Merged> OfSpans(Api& api, Params& params, const std::string& filter,
                       const std::string& type) {
  Merged merged;
  merged.range = params.Range();
  TRY(params.status());
  TRY_ASSIGN(auto pooled, query::ReadPooledProfile(api.engine, api.frames, TenantId::kDefault,
                                                   merged.range, filter, type));
  merged.profile = std::move(pooled.profile);
  merged.spans = pooled.spans;
  merged.tier = "span";
  merged.title = filter;
  return merged;
}

Result<Merged> OfSelector(Api& api, Params& params, const query::profile::Selector& selector) {
  Merged merged;
  merged.range = params.Range();
  TRY(params.status());
  TRY_ASSIGN(merged.profile, query::ReadProfile(api.engine, api.frames, TenantId::kDefault,
                                                selector, merged.range));
  merged.tier = "service";
  merged.title = selector.service.empty() ? selector.type : selector.service;
  return merged;
}

Result<Merged> ReadMerged(Api& api, Params& params) {
  const std::string type(params.Has("type") ? params.Text("type") : kDefaultType);
  if (const auto id = params.Trace("trace_id")) return OfTrace(api, params, *id, type);
  TRY(params.status());
  if (params.Has("spans")) return OfSpans(api, params, std::string(params.Text("spans")), type);
  if (params.Has("query")) {
    auto selector = query::profile::ParseSelector(params.Text("query"), type);
    if (!selector) return Fail(std::move(selector).error().Field("query"));
    return OfSelector(api, params, *selector);
  }
  if (params.Has("service")) {
    return OfSelector(api, params, {type, std::string(params.Text("service")), {}});
  }
  return Fail(
      Error(Code::kInvalidArgument, "say whose flame graph: trace_id, spans, query or service")
          .Field("trace_id"));
}

void WriteTopRow(JsonWriter& json, const query::flame::TopRow& row, const Merged& merged) {
  const auto hits = static_cast<double>(row.total_samples);
  const auto share = correlate::WilsonInterval(hits, static_cast<double>(merged.profile.samples));
  const auto total = static_cast<double>(merged.profile.total);
  json.BeginObject();
  query::flame::WriteTopMembers(json, row);
  json.Key("share").Number(total > 0 ? static_cast<double>(row.total) / total : 0.0);
  json.Key("share_low").Number(share.low).Key("share_high").Number(share.high);
  json.EndObject();
}

std::string MergedJson(const Merged& merged, std::size_t max_nodes) {
  const query::MergedProfile& profile = merged.profile;
  JsonWriter json;
  json.BeginObject().Key("type").String(profile.type).Key("tier").String(merged.tier);
  json.Key("samples").Number(profile.samples).Key("spans").Number(merged.spans);
  json.Key("total").Number(profile.total).Key("period_ns").Number(profile.period);
  json.Key("truncated").Bool(profile.inspected.truncated).Key("flame");
  query::flame::WriteFlame(json,
                           query::flame::BuildFlame(*profile.frames, profile.stacks, max_nodes));
  json.Key("top").BeginArray();
  for (const query::flame::TopRow& row :
       query::flame::TopTable(*profile.frames, profile.stacks, kTopRows)) {
    WriteTopRow(json, row, merged);
  }
  json.EndArray().EndObject();
  return json.Take();
}

// The fields of "name:sample type:unit:period type:period unit".
std::vector<std::string> TypeFields(const std::string& type) {
  std::vector<std::string> fields(1);
  for (const char c : type) {
    if (c == ':') {
      fields.emplace_back();
    } else {
      fields.back().push_back(c);
    }
  }
  fields.resize(5);
  return fields;
}

std::string MergedPprof(const Merged& merged) {
  const query::MergedProfile& profile = merged.profile;
  const std::vector<std::string> fields = TypeFields(profile.type);
  const bool ranged = merged.range != TimeRange{};
  wire::PprofInput input{.type = fields[1],
                         .unit = fields[2],
                         .period_type = fields[3],
                         .period_unit = fields[4],
                         .period = profile.period,
                         .time = ranged ? merged.range.begin : TimeNs{},
                         .duration = ranged ? merged.range.end - merged.range.begin : DurationNs{},
                         .frames = *profile.frames,
                         .stacks = {}};
  for (const query::flame::WeightedStack& stack : profile.stacks) {
    const auto found = profile.frames->stacks.find(stack.stack);
    if (found != profile.frames->stacks.end()) {
      input.stacks.emplace_back(found->second, stack.value);
    }
  }
  return wire::EncodePprof(input);
}

Response Attachment(std::string content_type, std::string name, std::string body) {
  Response response{200, std::move(content_type), std::move(body), {}};
  response.headers.emplace_back("Content-Disposition", "attachment; filename=\"" + name + "\"");
  return response;
}

Response Render(const Merged& merged, std::string_view format, std::size_t max_nodes) {
  const query::MergedProfile& profile = merged.profile;
  const query::flame::RenderOptions options{merged.title,
                                            std::string(query::profile::UnitOfType(profile.type))};
  if (format == "json") return JsonResponse(MergedJson(merged, max_nodes));
  if (format == "pprof") {
    // Compressed inside already, as pprof's files are.
    return Attachment("application/vnd.google.protobuf+gzip", "profile.pb.gz", MergedPprof(merged));
  }
  if (format == "folded") {
    return TextResponse(200, query::flame::FoldedText(*profile.frames, profile.stacks));
  }
  if (format == "speedscope") {
    return JsonResponse(query::flame::SpeedscopeJson(*profile.frames, profile.stacks, options));
  }
  const auto graph = query::flame::BuildFlame(*profile.frames, profile.stacks, max_nodes);
  if (format == "svg") return {200, "image/svg+xml", query::flame::FlameSvg(graph, options), {}};
  if (format == "columns") {
    return {200, "application/octet-stream", query::flame::FlameColumns(graph), {}};
  }
  JsonWriter json;
  json.BeginObject().Key("flamebearer").BeginObject();
  json.Key("names").BeginArray();
  for (const std::string& name : graph.names) json.String(name);
  json.EndArray().Key("levels").BeginArray();
  for (const auto& level : graph.levels) {
    json.BeginArray();
    for (const std::int64_t number : level) json.Number(number);
    json.EndArray();
  }
  json.EndArray().Key("numTicks").Number(graph.total).Key("maxSelf").Number(graph.max_self);
  json.EndObject().Key("metadata").BeginObject().Key("format").String("single");
  json.Key("units").String(options.unit).Key("name").String(merged.title).EndObject();
  json.EndObject();
  return JsonResponse(json.Take());
}

Response Flame(Api& api, const Request& request) {
  Params params(request, api.Now());
  const std::string_view format = params.Word(
      "format", {"json", "columns", "flamebearer", "pprof", "folded", "speedscope", "svg"});
  const auto max_nodes = static_cast<std::size_t>(params.Int(
      "max_nodes", limits::kFlameNodesMax, 1, static_cast<std::int64_t>(limits::kFlameNodesMax)));
  if (!params.status()) return ErrorResponse(params.status().error());
  const auto merged = ReadMerged(api, params);
  if (!merged) return ErrorResponse(merged.error());
  return Render(*merged, format, max_nodes);
}

}  // namespace

void AddFlameRoutes(Router& router, Api& api) {
  router.Add("GET", "/api/hotspan/v1/flame",
             [&api](const Request& request) { return Flame(api, request); });
}

}  // namespace hotspan::serve
