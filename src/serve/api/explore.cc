// Services, operations, the search for traces.
#include <algorithm>

#include "base/json_writer.h"
#include "query/catalog.h"
#include "query/search.h"
#include "query/trace_tree.h"
#include "serve/api/routes.h"
#include "serve/api/trace_json.h"
#include "serve/http/params.h"

namespace hotspan::serve {
namespace {

Response Services(Api& api, const Request& request) {
  Params params(request, api.Now());
  const TimeRange range = params.Range();
  if (!params.status()) return ErrorResponse(params.status().error());
  const auto services = query::ListServices(api.engine, TenantId::kDefault, range);
  if (!services) return ErrorResponse(services.error());
  JsonWriter json;
  json.BeginObject().Key("services").BeginArray();
  for (const query::ServiceSummary& service : *services) {
    json.BeginObject().Key("service").String(service.service);
    json.Key("spans").Number(service.spans).Key("errors").Number(service.errors);
    json.Key("rate").Number(service.rate);
    json.Key("first_ns").DecimalString(service.first.ns);
    json.Key("last_ns").DecimalString(service.last.ns);
    json.Key("profile_types").BeginArray();
    for (const std::string& type : service.profile_types) json.String(type);
    json.EndArray();
    json.Key("samples").Number(service.samples);
    json.Key("span_linked").Number(service.span_linked).EndObject();
  }
  json.EndArray().EndObject();
  return JsonResponse(json.Take());
}

Response Operations(Api& api, const Request& request) {
  Params params(request, api.Now());
  const TimeRange range = params.Range();
  if (!params.status()) return ErrorResponse(params.status().error());
  const auto operations = query::ListOperations(api.engine, TenantId::kDefault, range,
                                                std::string(params.Text("service")));
  if (!operations) return ErrorResponse(operations.error());
  JsonWriter json;
  json.BeginObject().Key("operations").BeginArray();
  for (const query::OperationSummary& operation : *operations) {
    json.BeginObject().Key("service").String(operation.service);
    json.Key("name").String(operation.name);
    json.Key("kind").String(SpanKindName(operation.kind));
    json.Key("spans").Number(operation.spans).Key("errors").Number(operation.errors);
    json.Key("p50_ns").Number(operation.p50.ns).Key("p95_ns").Number(operation.p95.ns);
    json.Key("p99_ns").Number(operation.p99.ns).Key("max_ns").Number(operation.max.ns);
    json.Key("sampled").Number(operation.sampled).EndObject();
  }
  json.EndArray().EndObject();
  return JsonResponse(json.Take());
}

// The span with the greatest part of the critical path of its own.
void WriteSlowest(JsonWriter& json, const SpanBatch& batch) {
  const query::TraceTree tree = query::BuildTraceTree(batch);
  const auto slowest =
      std::max_element(tree.nodes.begin(), tree.nodes.end(),
                       [](const auto& a, const auto& b) { return a.critical < b.critical; });
  if (slowest == tree.nodes.end()) {
    json.Null();
    return;
  }
  const SpanRow& span = batch.spans[slowest->row];
  json.BeginObject().Key("span_id").String(span.span_id.ToHex());
  json.Key("service").String(batch.ServiceOf(span));
  json.Key("name").String(batch.Text(span.name));
  json.Key("duration_ns").Number(span.duration().ns);
  json.Key("self_ns").Number(slowest->critical.ns).EndObject();
}

void WriteHit(JsonWriter& json, const query::TraceHit& hit) {
  json.BeginObject().Key("trace_id").String(hit.trace_id.ToHex());
  json.Key("root").BeginObject().Key("service").String(hit.root_service);
  json.Key("name").String(hit.root_name).EndObject();
  json.Key("start_ns").DecimalString(hit.start.ns);
  json.Key("duration_ns").Number(hit.duration.ns);
  json.Key("spans").Number(hit.spans).Key("errors").Number(hit.errors);
  json.Key("services").BeginArray();
  for (const query::ServiceCount& service : hit.services) json.String(service.service);
  json.EndArray();
  json.Key("slowest");
  if (hit.trace != nullptr) {
    WriteSlowest(json, *hit.trace);
  } else {
    json.Null();
  }
  json.Key("matched").BeginArray();
  for (const query::MatchedSpan& span : hit.matched) {
    json.BeginObject().Key("span_id").String(span.span_id.ToHex());
    json.Key("service").String(span.service).Key("name").String(span.name);
    json.Key("duration_ns").Number(span.duration.ns).EndObject();
  }
  json.EndArray().EndObject();
}

Response Traces(Api& api, const Request& request) {
  Params params(request, api.Now());
  query::SearchRequest search;
  search.range = params.Range();
  search.query = std::string(params.Text("filter"));
  search.service = std::string(params.Text("service"));
  search.name = std::string(params.Text("name"));
  search.min_duration = params.Duration("min_duration");
  search.max_duration = params.Duration("max_duration");
  search.limit = static_cast<std::size_t>(params.Int("limit", 20, 1, 500));
  search.order = params.Word("order", {"longest", "newest"}) == "newest"
                     ? query::SearchOrder::kNewest
                     : query::SearchOrder::kLongest;
  search.keep_spans = true;
  if (!params.status()) return ErrorResponse(params.status().error());
  const auto result = query::SearchTraces(api.engine, search);
  if (!result) {
    Error error = result.error();
    // What can be wrong by now is the query.
    const bool unnamed = error.code() == Code::kInvalidArgument && error.field().empty();
    return ErrorResponse(unnamed ? std::move(error).Field("filter") : std::move(error));
  }
  JsonWriter json;
  json.BeginObject().Key("traces").BeginArray();
  for (const query::TraceHit& hit : result->traces) WriteHit(json, hit);
  json.EndArray();
  json.Key("inspected").BeginObject().Key("rows").Number(result->inspected.rows);
  json.Key("truncated").Bool(result->inspected.truncated).EndObject().EndObject();
  return JsonResponse(json.Take());
}

Response Trace(Api& api, const Request& request) {
  const auto id = TraceId::FromHex(request.arguments[0]);
  if (!id || id->IsZero()) {
    return ErrorResponse(Error(Code::kInvalidArgument, "\"" + request.arguments[0] +
                                                           "\" is not a trace id (1 to 32 hex "
                                                           "digits, not all zero)")
                             .Field("trace_id"));
  }
  const auto trace = api.engine.ReadTrace(TenantId::kDefault, *id, {});
  if (!trace) return ErrorResponse(trace.error());
  if (trace->spans.spans.empty()) {
    return ErrorResponse(Error(Code::kNotFound, "no trace " + id->ToHex()).Field("trace_id"));
  }
  storage::SamplesBySpans wanted;
  for (const SpanRow& span : trace->spans.spans) {
    wanted.spans.push_back({span.trace_id, span.span_id});
  }
  const auto samples = api.engine.ReadSamples(wanted);
  if (!samples) return ErrorResponse(samples.error());
  return JsonResponse(TraceJson(*id, *trace, *samples));
}

}  // namespace

void AddExploreRoutes(Router& router, Api& api) {
  const auto add = [&](const char* path, Response (*handler)(Api&, const Request&)) {
    router.Add("GET", std::string("/api/hotspan/v1") + path,
               [&api, handler](const Request& request) { return handler(api, request); });
  };
  add("/services", &Services);
  add("/operations", &Operations);
  add("/traces", &Traces);
  add("/traces/{trace_id}", &Trace);
}

}  // namespace hotspan::serve
