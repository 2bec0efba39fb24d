// Everything that brings data in: OTLP over HTTP and gRPC, and Pyroscope's /ingest.
#include <memory>
#include <optional>
#include <utility>

#include "serve/api/otlp_answer.h"
#include "serve/api/routes.h"
#include "serve/http/params.h"

namespace hotspan::serve {
namespace {

using ingest::Body;
using ingest::Receipt;

constexpr std::string_view kProtobuf = "application/x-protobuf";

// The query as it came, for those who parse it themselves.
std::string QueryText(const Request& request) {
  std::string text;
  for (const auto& [key, value] : request.query) {
    if (!text.empty()) text.push_back('&');
    text += EncodePercent(key) + "=" + EncodePercent(value);
  }
  return text;
}

Body BodyOf(const Request& request, const std::string& query) {
  Body body;
  body.path = request.path;
  body.query = query;
  body.content_type = request.Header("content-type");
  body.content_encoding = request.Header("content-encoding");
  body.bytes = request.body;
  return body;
}

void AddRetryAfter(Response& response, const Refusal& refusal) {
  if (refusal.retry_after_seconds > 0) {
    response.headers.emplace_back("Retry-After", std::to_string(refusal.retry_after_seconds));
  }
}

Response OtlpError(const Error& error, bool json) {
  const Refusal refusal = RefusalOf(error);
  Response response;
  if (refusal.http_status == 415) {
    // The sender's encoding is the question, so it can't be that of the answer.
    response = TextResponse(415, error.message() + "\n");
  } else if (json) {
    response = JsonResponse(RpcStatusJson(refusal.rpc_code, error.message()));
  } else {
    response.content_type = std::string(kProtobuf);
    response.body = RpcStatusProto(refusal.rpc_code, error.message());
  }
  response.status = refusal.http_status;
  AddRetryAfter(response, refusal);
  return response;
}

Response Otlp(Api& api, OtlpSignal signal, const Request& request) {
  const bool json = MediaType(request.Header("content-type")) == "application/json";
  const std::string query = QueryText(request);
  const Body body = BodyOf(request, query);
  const Result<Receipt> receipt =
      signal == OtlpSignal::kTraces ? api.pipeline.Traces(body) : api.pipeline.Profiles(body);
  if (!receipt) return OtlpError(receipt.error(), json);
  if (json) return JsonResponse(OtlpResponseJson(signal, *receipt));
  return {200, std::string(kProtobuf), OtlpResponseProto(signal, *receipt), {}};
}

Response Pyroscope(Api& api, const Request& request) {
  const std::string query = QueryText(request);
  const Result<Receipt> receipt = api.pipeline.Pyroscope(BodyOf(request, query));
  if (!receipt) {
    const Refusal refusal = RefusalOf(receipt.error());
    Response response = ErrorResponse(receipt.error());
    response.status = refusal.http_status;
    AddRetryAfter(response, refusal);
    return response;
  }
  Response response;
  if (receipt->rejected > 0) {
    response = TextResponse(200, receipt->message + "\n");
    response.headers.emplace_back("X-Hotspan-Rejected", std::to_string(receipt->rejected));
  }
  return response;
}

Response RefuseExperimental(const Request& request) {
  return OtlpError(Error(Code::kUnimplemented,
                         "the v1experimental profiles layout is not supported; send "
                         "v1development (OTLP 1.9 or later)"),
                   MediaType(request.Header("content-type")) == "application/json");
}

GrpcAnswer GrpcExport(Api& api, OtlpSignal signal, const GrpcCall& call) {
  Body body;
  body.path = call.method;
  body.content_type = kProtobuf;
  body.content_encoding = call.encoding;
  body.bytes = call.message;
  const Result<Receipt> receipt =
      signal == OtlpSignal::kTraces ? api.pipeline.Traces(body) : api.pipeline.Profiles(body);
  GrpcAnswer answer;
  if (receipt) {
    answer.message = OtlpResponseProto(signal, *receipt);
    return answer;
  }
  const Refusal refusal = RefusalOf(receipt.error());
  answer.code = refusal.rpc_code;
  answer.error = receipt.error().message();
  answer.retry_after_seconds = refusal.retry_after_seconds;
  return answer;
}

GrpcAnswer Unimplemented(std::string why) {
  GrpcAnswer answer;
  answer.code = static_cast<int>(Code::kUnimplemented);
  answer.error = std::move(why);
  return answer;
}

}  // namespace

void AddWriteRoutes(Router& router, Api& api) {
  const RouteOptions otlp{.writes = true, .otlp = true, .cross_origin = true};
  const RouteOptions writes{.writes = true, .otlp = false, .cross_origin = false};
  const auto add = [&](const char* path, OtlpSignal signal) {
    router.Add(
        "POST", path, [&api, signal](const Request& request) { return Otlp(api, signal, request); },
        otlp);
  };
  add("/v1/traces", OtlpSignal::kTraces);
  add("/v1development/profiles", OtlpSignal::kProfiles);
  add("/v1/profiles", OtlpSignal::kProfiles);
  router.Add("POST", "/v1experimental/profiles", &RefuseExperimental, otlp);
  for (const char* path : {"/ingest", "/pyroscope/ingest"}) {
    router.Add(
        "POST", path, [&api](const Request& request) { return Pyroscope(api, request); }, writes);
  }
}

GrpcHandler MakeGrpcHandler(Api& api, WorkerPool& workers) {
  return [&api, &workers](GrpcCall call, GrpcRespond respond) {
    constexpr std::string_view kPackage = "/opentelemetry.proto.collector.";
    std::optional<OtlpSignal> signal;
    const std::string_view method = call.method;
    if (method.starts_with(kPackage)) {
      const std::string_view rest = method.substr(kPackage.size());
      if (rest == "trace.v1.TraceService/Export") signal = OtlpSignal::kTraces;
      if (rest == "profiles.v1development.ProfilesService/Export") signal = OtlpSignal::kProfiles;
      if (rest == "profiles.v1experimental.ProfilesService/Export") {
        return respond(Unimplemented(
            "the v1experimental profiles layout is not supported; send v1development (OTLP 1.9 or "
            "later)"));
      }
    }
    if (!signal) return respond(Unimplemented("unknown method " + call.method));
    auto shared = std::make_shared<GrpcCall>(std::move(call));
    const bool taken = workers.Post(
        [&api, signal, shared, respond] { respond(GrpcExport(api, *signal, *shared)); });
    if (!taken) {
      GrpcAnswer busy;
      busy.code = static_cast<int>(Code::kUnavailable);
      busy.error = "too many requests are waiting, try again";
      busy.retry_after_seconds = 1;
      respond(std::move(busy));
    }
  };
}

}  // namespace hotspan::serve
