// The handlers over the reference engine: what is sent comes back, and bad requests are named.
#include <gtest/gtest.h>

#include <future>

#include "base/clock.h"
#include "serve/api/api.h"
#include "storage/reference/reference_engine.h"

namespace hotspan::serve {
namespace {

constexpr std::string_view kTrace = R"({"resourceSpans":[{"resource":{"attributes":[
  {"key":"service.name","value":{"stringValue":"shop"}}]},"scopeSpans":[{"scope":{"name":"lib"},
  "spans":[
   {"traceId":"0102030405060708090a0b0c0d0e0f10","spanId":"0102030405060708","name":"GET /",
    "kind":2,"startTimeUnixNano":"1700000000000000000","endTimeUnixNano":"1700000000500000000",
    "attributes":[{"key":"http.status","value":{"intValue":"200"}}]},
   {"traceId":"0102030405060708090a0b0c0d0e0f10","spanId":"1102030405060708",
    "parentSpanId":"0102030405060708","name":"query","kind":3,
    "startTimeUnixNano":"1700000000100000000","endTimeUnixNano":"1700000000400000000"}]}]}]})";

class ApiTest : public testing::Test {
 protected:
  Response Send(const std::string& method, const std::string& target, std::string_view body = {},
                TextPairs headers = {}) {
    Request request;
    request.method = method;
    EXPECT_TRUE(SetTarget(request, target));
    request.headers = std::move(headers);
    request.body = std::string(body);
    return front_.HandleNow(std::move(request));
  }
  Response Get(const std::string& target, TextPairs headers = {}) {
    return Send("GET", target, {}, std::move(headers));
  }
  void SendTrace() {
    const Response response =
        Send("POST", "/v1/traces", kTrace, {{"content-type", "application/json"}});
    ASSERT_EQ(response.status, 200) << response.body;
    EXPECT_EQ(response.body, "{}");
  }
  static bool Has(const Response& response, std::string_view text) {
    return response.body.find(text) != std::string::npos;
  }

  ManualClock clock_{1'700'000'001'000'000'000};
  std::unique_ptr<storage::Engine> engine_ = storage::MakeReferenceEngine(clock_);
  query::FrameReader frames_{*engine_, nullptr};
  ingest::Pipeline pipeline_{*engine_, clock_};
  correlate::Explainer explainer_{*engine_, frames_, clock_};
  Api api_{*engine_, frames_, pipeline_, explainer_, clock_, {}, 0, nullptr, nullptr};
  Front front_{MakeRouter(api_), {.allowed_hosts = {}, .readers = 0, .writers = 0}};
};

TEST_F(ApiTest, ShowsATraceAsAWaterfall) {
  SendTrace();
  const Response trace = Get("/api/hotspan/v1/traces/0102030405060708090a0b0c0d0e0f10");
  ASSERT_EQ(trace.status, 200) << trace.body;
  EXPECT_TRUE(Has(trace, R"("root_span_id":"0102030405060708")"));
  EXPECT_TRUE(Has(trace, R"("duration_ns":500000000)"));
  EXPECT_TRUE(Has(trace, R"("self_ns":200000000,"critical_ns":200000000,"depth":0,"children":1)"));
  EXPECT_TRUE(Has(trace, R"("attributes":{"http.status":200})"));
  EXPECT_TRUE(Has(trace, R"("suggested_span_id":"1102030405060708")")) << trace.body;
}

TEST_F(ApiTest, FindsTracesServicesAndOperations) {
  SendTrace();
  const Response traces = Get("/api/hotspan/v1/traces?service=shop&min_duration=400ms&filter=" +
                              EncodePercent("{ name = \"query\" }"));
  ASSERT_EQ(traces.status, 200) << traces.body;
  EXPECT_TRUE(Has(traces, R"("root":{"service":"shop","name":"GET /"})")) << traces.body;
  EXPECT_TRUE(Has(traces, R"("slowest":{"span_id":"1102030405060708")"));
  EXPECT_TRUE(Has(traces, R"("matched":[{"span_id":"1102030405060708")"));
  EXPECT_TRUE(Has(Get("/api/hotspan/v1/services"), R"("service":"shop","spans":2)"));
  EXPECT_TRUE(Has(Get("/api/hotspan/v1/operations?service=shop"), R"("name":"query")"));
}

TEST_F(ApiTest, ExplainsASpanWithoutSamples) {
  SendTrace();
  const Response response =
      Get("/api/hotspan/v1/explain?trace_id=0102030405060708090a0b0c0d0e0f10");
  ASSERT_EQ(response.status, 200) << response.body;
  EXPECT_TRUE(Has(response, R"("ledger":{"duration_ns":)"));
  EXPECT_TRUE(Has(response, R"("missing":[{)"));
}

TEST_F(ApiTest, MergesFoldedStacksIntoEveryFormat) {
  const Response sent =
      Send("POST", "/ingest?name=shop&from=1700000000&until=1700000001&format=folded",
           "main;work;hot 30\nmain;idle 10\n", {{"content-type", "text/plain"}});
  ASSERT_EQ(sent.status, 200) << sent.body;
  const Response services = Get("/api/hotspan/v1/services");
  const std::size_t at = services.body.find("\"profile_types\":[\"");
  ASSERT_NE(at, std::string::npos) << services.body;
  const std::size_t begin = at + 18;
  const std::string type = services.body.substr(begin, services.body.find('"', begin) - begin);
  const std::string base = "/api/hotspan/v1/flame?service=shop&type=" + EncodePercent(type);
  EXPECT_TRUE(Has(Get(base), R"("function":"hot")")) << Get(base).body;
  EXPECT_TRUE(Has(Get(base + "&format=folded"), "main;work;hot "));
  EXPECT_TRUE(Has(Get(base + "&format=svg"), "<svg"));
  EXPECT_TRUE(Has(Get(base + "&format=speedscope"), "speedscope"));
  EXPECT_TRUE(Has(Get(base + "&format=flamebearer"), R"("flamebearer":{"names":["total")"));
  EXPECT_EQ(Get(base + "&format=pprof").body.substr(0, 2), "\x1f\x8b");
  EXPECT_FALSE(Get(base + "&format=columns").body.empty());
}

TEST_F(ApiTest, NamesTheFieldAtFault) {
  EXPECT_TRUE(Has(Get("/api/hotspan/v1/explain"), R"("field":"trace_id")"));
  EXPECT_TRUE(Has(Get("/api/hotspan/v1/explain?trace_id=1&tier=best"), R"("field":"tier")"));
  EXPECT_TRUE(Has(Get("/api/hotspan/v1/flame?service=a&format=gif"), "svg"));
  EXPECT_EQ(Get("/api/hotspan/v1/flame").status, 400);
  EXPECT_EQ(Get("/api/hotspan/v1/traces/zz").status, 400);
  EXPECT_EQ(Get("/api/hotspan/v1/traces/1").status, 404);
  EXPECT_EQ(Get("/api/hotspan/v1/explain?trace_id=1").status, 404);
  EXPECT_EQ(Get("/api/hotspan/v1/traces?limit=501").status, 400);
}

TEST_F(ApiTest, AnswersAsTempo) {
  SendTrace();
  const std::string id = "0102030405060708090a0b0c0d0e0f10";
  EXPECT_EQ(Get("/api/echo").body, "echo");
  EXPECT_TRUE(Has(Get("/api/traces/" + id), R"({"batches":[)"));
  EXPECT_TRUE(Has(Get("/api/v2/traces/" + id), R"({"trace":{"resourceSpans":[)"));
  const Response proto = Get("/api/v2/traces/" + id, {{"accept", "application/protobuf"}});
  EXPECT_EQ(proto.content_type, "application/protobuf");
  EXPECT_EQ(proto.body[0], '\x0a');
  EXPECT_EQ(Get("/api/traces/99").status, 404);
  EXPECT_EQ(Get("/api/v2/traces/99").status, 200);
  EXPECT_EQ(Get("/api/traces/nothex").status, 400);
  const Response search = Get("/api/search?q=" + EncodePercent("{ duration > 400ms }"));
  EXPECT_TRUE(Has(search, R"("traceID":"102030405060708090a0b0c0d0e0f10")")) << search.body;
  EXPECT_TRUE(Has(search, R"("durationMs":500)"));
  EXPECT_TRUE(Has(search, R"("matched":1)"));
  EXPECT_EQ(Get("/api/search?q=%7B%7D&tags=a%3Db").status, 400);
  EXPECT_TRUE(
      Has(Get("/api/v2/search/tags"), R"({"scopes":[{"name":"resource","tags":["service.name"]})"));
  EXPECT_TRUE(Has(Get("/api/v2/search/tag/resource.service.name/values"),
                  R"({"type":"string","value":"shop"})"));
}

TEST_F(ApiTest, RefusesBadWritesInTheSendersEncoding) {
  const Response json =
      Send("POST", "/v1/traces", "{broken", {{"content-type", "application/json"}});
  EXPECT_EQ(json.status, 400);
  EXPECT_TRUE(Has(json, R"({"code":3,"message":)")) << json.body;
  const Response proto =
      Send("POST", "/v1/traces", "\xff\xff", {{"content-type", "application/x-protobuf"}});
  EXPECT_EQ(proto.status, 400);
  EXPECT_EQ(proto.content_type, "application/x-protobuf");
  EXPECT_EQ(proto.body.substr(0, 2), "\x08\x03");
  EXPECT_EQ(Send("POST", "/v1/traces", "x", {{"content-type", "text/css"}}).status, 415);
  EXPECT_EQ(Send("POST", "/v1/traces", "", {{"content-type", "application/x-protobuf"}}).status,
            200);
  EXPECT_EQ(Send("POST", "/v1experimental/profiles", "x").status, 404);
}

TEST_F(ApiTest, ShowsMetrics) {
  SendTrace();
  const Response metrics = Get("/metrics");
  EXPECT_TRUE(Has(metrics, "hotspan_ingest_accepted_total{signal=\"traces\"} 2\n")) << metrics.body;
  EXPECT_TRUE(Has(metrics, "hotspan_storage_spans_written_total 2\n"));
  EXPECT_TRUE(Has(metrics, "process_cpu_seconds_total "));
}

TEST_F(ApiTest, ServesThePageOnItsAddresses) {
  for (const char* path : {"/", "/services", "/services/shop", "/traces", "/trace/abc"}) {
    const Response response = Get(path);
    EXPECT_EQ(response.status, 200) << path;
    EXPECT_EQ(response.content_type, "text/html; charset=utf-8") << path;
  }
  EXPECT_EQ(Get("/assets/none.js").status, 404);
}

TEST_F(ApiTest, AnswersGrpcExports) {
  WorkerPool workers(1, 16);
  const GrpcHandler handler = MakeGrpcHandler(api_, workers);
  const auto call = [&](const std::string& method, const std::string& message) {
    std::promise<GrpcAnswer> answer;
    handler({method, message, ""}, [&](GrpcAnswer a) { answer.set_value(std::move(a)); });
    return answer.get_future().get();
  };
  EXPECT_EQ(call("/opentelemetry.proto.collector.trace.v1.TraceService/Export", "").code, 0);
  EXPECT_EQ(call("/opentelemetry.proto.collector.trace.v1.TraceService/Export", "\xff").code, 3);
  EXPECT_EQ(call("/a.B/C", "").code, 12);
  const GrpcAnswer refused =
      call("/opentelemetry.proto.collector.profiles.v1experimental.ProfilesService/Export", "");
  EXPECT_EQ(refused.code, 12);
  EXPECT_NE(refused.error.find("v1development"), std::string::npos);
}

}  // namespace
}  // namespace hotspan::serve
