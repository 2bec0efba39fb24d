// Grafana Tempo's query API: traces by id, search, tags. Errors are plain text, as Tempo's are.
#include <optional>
#include <variant>

#include "base/bytes.h"
#include "base/json_writer.h"
#include "query/catalog.h"
#include "query/search.h"
#include "serve/api/routes.h"
#include "serve/http/params.h"
#include "wire/otlp/trace_encoder.h"

namespace hotspan::serve {
namespace {

constexpr std::size_t kSearchLimitMax = 10'000;
constexpr std::size_t kTagsMax = 10'000;
constexpr std::string_view kProtobuf = "application/protobuf";

Response TempoError(const Error& error) {
  return TextResponse(HttpStatusOf(error.code()), error.message());
}

// As Tempo does it: a substring of Accept, whatever its q-values.
bool WantsProtobuf(const Request& request) {
  return request.Header("accept").find(kProtobuf) != std::string_view::npos;
}

Result<storage::SpanScanResult> ReadTrace(Api& api, const Request& request, Params& params) {
  const auto id = TraceId::FromHex(request.arguments[0]);
  if (!id)
    return Fail(Code::kInvalidArgument, "trace IDs can only contain hex characters, at most 32");
  static_cast<void>(params.RangeOrAll());
  TRY(params.status());
  return api.engine.ReadTrace(TenantId::kDefault, *id, {});
}

Response TraceV1(Api& api, const Request& request) {
  Params params(request, api.Now());
  const auto trace = ReadTrace(api, request, params);
  if (!trace) return TempoError(trace.error());
  if (trace->spans.spans.empty()) return TextResponse(404, "");
  if (WantsProtobuf(request)) {
    return {200, std::string(kProtobuf), wire::EncodeTracesProto(trace->spans), {}};
  }
  JsonWriter json;
  wire::WriteTracesJson(json, trace->spans, wire::JsonFlavour::kTempo, "batches");
  return JsonResponse(json.Take());
}

Response TraceV2(Api& api, const Request& request) {
  Params params(request, api.Now());
  const auto trace = ReadTrace(api, request, params);
  if (!trace) return TempoError(trace.error());
  const bool partial = trace->inspected.truncated;
  const std::string message =
      partial ? "the trace has more than " + std::to_string(limits::kTraceSpansMax) + " spans"
              : std::string();
  if (WantsProtobuf(request)) {
    std::string out;
    AppendVarint(out, 1 << 3 | 2);
    AppendSized(out, wire::EncodeTracesProto(trace->spans));
    AppendVarint(out, 2 << 3 | 2);
    AppendSized(out, "");
    if (partial) {
      AppendVarint(out, 3 << 3);
      AppendVarint(out, 1);
      AppendVarint(out, 4 << 3 | 2);
      AppendSized(out, message);
    }
    return {200, std::string(kProtobuf), std::move(out), {}};
  }
  JsonWriter json;
  json.BeginObject().Key("trace");
  wire::WriteTracesJson(json, trace->spans, wire::JsonFlavour::kTempo, "resourceSpans");
  json.Key("metrics").BeginObject().EndObject();
  if (partial) json.Key("status").String("PARTIAL").Key("message").String(message);
  json.EndObject();
  return JsonResponse(json.Take());
}

void WriteResultValue(JsonWriter& json, const query::ResultValue& value) {
  json.BeginObject();
  if (const auto* text = std::get_if<std::string>(&value)) json.Key("stringValue").String(*text);
  if (const auto* number = std::get_if<std::int64_t>(&value)) {
    json.Key("intValue").DecimalString(*number);
  }
  if (const auto* real = std::get_if<double>(&value)) json.Key("doubleValue").Number(*real);
  if (const auto* flag = std::get_if<bool>(&value)) json.Key("boolValue").Bool(*flag);
  json.EndObject();
}

void WriteSpanSet(JsonWriter& json, const query::TraceHit& hit) {
  json.BeginObject().Key("spans").BeginArray();
  for (const query::MatchedSpan& span : hit.matched) {
    json.BeginObject().Key("spanID").String(span.span_id.ToHex()).Key("name").String(span.name);
    json.Key("startTimeUnixNano").DecimalString(span.start.ns);
    json.Key("durationNanos").DecimalString(span.duration.ns);
    if (!span.attributes.empty()) {
      json.Key("attributes").BeginArray();
      for (const auto& [key, value] : span.attributes) {
        json.BeginObject().Key("key").String(key).Key("value");
        WriteResultValue(json, value);
        json.EndObject();
      }
      json.EndArray();
    }
    json.EndObject();
  }
  json.EndArray().Key("matched").Number(hit.matched_total).EndObject();
}

void WriteHit(JsonWriter& json, const query::TraceHit& hit) {
  // Tempo leaves out leading zeros; clients pad.
  const std::string hex = hit.trace_id.ToHex();
  const std::size_t first = hex.find_first_not_of('0');
  json.BeginObject().Key("traceID");
  json.String(first == std::string::npos ? std::string() : hex.substr(first));
  json.Key("rootServiceName");
  json.String(hit.has_root ? hit.root_service : "<root span not yet received>");
  if (hit.has_root) json.Key("rootTraceName").String(hit.root_name);
  json.Key("startTimeUnixNano").DecimalString(hit.start.ns);
  const std::int64_t milliseconds = hit.duration.ns / 1'000'000;
  if (milliseconds > 0) json.Key("durationMs").Number(milliseconds);
  json.Key("spanSet");
  WriteSpanSet(json, hit);
  json.Key("spanSets").BeginArray();
  WriteSpanSet(json, hit);
  json.EndArray().Key("serviceStats").BeginObject();
  for (const query::ServiceCount& service : hit.services) {
    json.Key(service.service).BeginObject().Key("spanCount").Number(service.spans);
    if (service.errors > 0) json.Key("errorCount").Number(service.errors);
    json.EndObject();
  }
  json.EndObject().EndObject();
}

Response Search(Api& api, const Request& request) {
  Params params(request, api.Now());
  query::SearchRequest search;
  search.range = params.Range();
  search.query = std::string(params.Text("q"));
  search.tags = std::string(params.Text("tags"));
  search.min_duration = params.Duration("minDuration");
  search.max_duration = params.Duration("maxDuration");
  search.limit = static_cast<std::size_t>(
      params.Int("limit", 20, 1, static_cast<std::int64_t>(kSearchLimitMax)));
  search.spans_per_spanset = static_cast<std::size_t>(params.Int("spss", 3, 0, 100));
  if (params.Has("q") && params.Has("tags")) {
    params.SetError("q", "invalid request: can't specify tags and q in the same query");
  }
  if (search.min_duration && search.max_duration && *search.max_duration < *search.min_duration) {
    params.SetError("maxDuration", "maxDuration must not be less than minDuration");
  }
  if (!params.status()) return TempoError(params.status().error());
  const auto result = query::SearchTraces(api.engine, search);
  if (!result) return TempoError(result.error());
  JsonWriter json;
  json.BeginObject().Key("traces").BeginArray();
  for (const query::TraceHit& hit : result->traces) WriteHit(json, hit);
  json.EndArray().Key("metrics").BeginObject();
  json.Key("inspectedTraces").Number(result->inspected_traces);
  json.Key("inspectedBytes").DecimalString(static_cast<std::int64_t>(result->inspected.bytes));
  json.Key("inspectedSpans").DecimalString(static_cast<std::int64_t>(result->inspected.rows));
  json.Key("totalBlocks").Number(result->inspected.blocks);
  json.Key("completedJobs").Number(1).Key("totalJobs").Number(1);
  json.EndObject().EndObject();
  return JsonResponse(json.Take());
}

std::size_t TagLimit(Params& params) {
  const auto limit = params.Int("limit", 0, 0, static_cast<std::int64_t>(kTagsMax));
  return limit == 0 ? 1000 : static_cast<std::size_t>(limit);
}

void WriteStrings(JsonWriter& json, const std::vector<std::string>& texts) {
  for (const std::string& text : texts) json.String(text);
}

Response Tags(Api& api, const Request& request, bool scoped) {
  Params params(request, api.Now());
  const TimeRange range = params.Range();
  const std::size_t limit = TagLimit(params);
  const std::string_view scope = params.Word(
      "scope", {"none", "resource", "span", "event", "link", "instrumentation", "intrinsic"});
  if (!params.status()) return TempoError(params.status().error());
  const auto names = query::ListTagNames(api.engine, TenantId::kDefault, range, limit);
  if (!names) return TempoError(names.error());
  JsonWriter json;
  json.BeginObject().Key(scoped ? "scopes" : "tagNames").BeginArray();
  // Without a scope the old form has attributes alone, as Tempo's.
  for (const auto& [name, tags] :
       {std::pair{"resource", &names->resource}, std::pair{"span", &names->span},
        std::pair{"intrinsic", &names->intrinsic}}) {
    const bool wanted = scope == name || (scope == "none" && (scoped || tags != &names->intrinsic));
    if (!wanted) continue;
    if (!scoped) {
      WriteStrings(json, *tags);
      continue;
    }
    json.BeginObject().Key("name").String(name).Key("tags").BeginArray();
    WriteStrings(json, *tags);
    json.EndArray().EndObject();
  }
  json.EndArray().Key("metrics").BeginObject().EndObject().EndObject();
  return JsonResponse(json.Take());
}

Response TagValues(Api& api, const Request& request, bool typed) {
  Params params(request, api.Now());
  const TimeRange range = params.Range();
  const std::size_t limit = TagLimit(params);
  if (!params.status()) return TempoError(params.status().error());
  const auto values =
      query::ListTagValues(api.engine, TenantId::kDefault, range, request.arguments[0], limit);
  if (!values) return TempoError(values.error());
  JsonWriter json;
  json.BeginObject().Key("tagValues").BeginArray();
  for (const query::TagValue& value : *values) {
    if (!typed) {
      json.String(value.value);
      continue;
    }
    json.BeginObject().Key("type").String(value.type).Key("value").String(value.value).EndObject();
  }
  json.EndArray().Key("metrics").BeginObject().EndObject().EndObject();
  return JsonResponse(json.Take());
}

Response BuildInfo() {
  JsonWriter json;
  // Clients choose features by Tempo's version; the answers are those of 2.6.
  json.BeginObject().Key("version").String("2.6.0").Key("revision").String(kVersion);
  json.Key("branch").String("hotspan").Key("buildDate").String("").Key("buildUser").String("");
  json.Key("goVersion").String("").EndObject();
  return JsonResponse(json.Take());
}

}  // namespace

void AddTempoRoutes(Router& router, Api& api) {
  const auto add = [&](const char* path, Handler handler) {
    router.Add("GET", path, std::move(handler));
  };
  add("/api/echo", [](const Request&) { return TextResponse(200, "echo"); });
  add("/api/status/buildinfo", [](const Request&) { return BuildInfo(); });
  add("/api/traces/{id}", [&api](const Request& r) { return TraceV1(api, r); });
  add("/api/v2/traces/{id}", [&api](const Request& r) { return TraceV2(api, r); });
  add("/api/search", [&api](const Request& r) { return Search(api, r); });
  add("/api/search/tags", [&api](const Request& r) { return Tags(api, r, false); });
  add("/api/v2/search/tags", [&api](const Request& r) { return Tags(api, r, true); });
  add("/api/search/tag/{tag}/values",
      [&api](const Request& r) { return TagValues(api, r, false); });
  add("/api/v2/search/tag/{tag}/values",
      [&api](const Request& r) { return TagValues(api, r, true); });
}

}  // namespace hotspan::serve
