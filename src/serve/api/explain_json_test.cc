#include "serve/api/explain_json.h"

#include <gtest/gtest.h>

namespace hotspan::serve {
namespace {

correlate::SpanExplanation MakeExplanation() {
  correlate::SpanExplanation e;
  e.span.trace_id = *TraceId::FromHex("0102");
  e.span.span_id = *SpanId::FromHex("03");
  e.span.service = "order";
  e.span.name = "calculate";
  e.span.kind = SpanKind::kInternal;
  e.span.start = {1'700'000'000'000'000'000};
  e.span.duration = {800};
  AttributeWriter(e.span.attributes).Add("items", Value::Int(3));
  e.baseline = {400, 700, 150, {{10}, {20}}, 2.0};
  e.ledger.duration_ns = 800;
  e.ledger.cpu_ns = 600;
  e.ledger.classes = {{correlate::LedgerClass::kOnCpu, 600, 500, 700, "span", 56, ""},
                      {correlate::LedgerClass::kUnobserved, 200, 100, 300, "none", 0, "look"}};
  correlate::ProfilePart part;
  part.type = "cpu";
  part.samples = 56;
  part.window = {{1}, {2}};
  part.agents = {"libhotspan/0.1.0"};
  part.flame.names = {"total"};
  part.flame.levels = {{0, 600, 0, 0}};
  part.flame.total = 600;
  correlate::TopEntry top;
  top.row.function = "f";
  top.row.file = "f.cc";
  top.row.line = 12;
  top.row.total = 300;
  top.share = 0.5;
  top.share_low = 0.25;
  top.share_high = 0.75;
  part.top.push_back(top);
  e.profiles.push_back(part);
  e.pooled = correlate::Pooled{150, 4100, "/q"};
  correlate::Missing missing;
  missing.type = "wall";
  missing.reason = "outside_window";
  missing.before = TimeNs{5};
  e.missing.push_back(missing);
  correlate::Finding finding;
  finding.kind = "hot_function";
  finding.severity = correlate::Severity::kHigh;
  finding.location = {"f", "f.cc", 12, "order"};
  finding.evidence = {{"text", 0.5, "/api"}};
  e.findings.push_back(finding);
  return e;
}

TEST(ExplanationJson, HasTheDocumentedShape) {
  const std::string json = ExplanationJson(MakeExplanation());
  for (const char* part : {
           R"("span":{"trace_id":"00000000000000000000000000000102","span_id":"0000000000000003",)"
           R"("parent_span_id":"","service":"order","name":"calculate","kind":"internal",)"
           R"("status":"unset","start_ns":"1700000000000000000","duration_ns":800,)"
           R"("attributes":{"items":3}})",
           R"("baseline":{"p50_ns":400,"p95_ns":700,"n":150,)"
           R"("window":{"start_ns":"10","end_ns":"20"},"ratio":2)",
           R"("ledger":{"duration_ns":800,"cpu_ns":600,"parallel_ns":0,"classes":[)"
           R"({"class":"on_cpu","ns":600,"low_ns":500,"high_ns":700,"source":"span","samples":56},)"
           R"({"class":"unobserved","ns":200,"low_ns":100,"high_ns":300,"source":"none",)"
           R"("samples":0,"hint":"look"}]})",
           R"("agents":["libhotspan/0.1.0"],"note":"","flame":{"names":["total"],)"
           R"("levels":[[0,600,0,0]],"total":600,"max_self":0})",
           R"("top":[{"function":"f","file":"f.cc","line":12,)",
           R"("share":0.5,"share_low":0.25,"share_high":0.75)",
           R"("pooled":{"spans":150,"samples":4100,"query":"/q"})",
           R"("reason":"outside_window","detail":"","nearest":{"before_ns":"5"},"fix":"")",
           R"("kind":"hot_function","title":"","severity":"high","saves_ns":0)",
           R"("location":{"function":"f","file":"f.cc","line":12,"service":"order"})",
           R"("evidence":[{"text":"text","value":0.5,"query":"/api"}])",
       }) {
    EXPECT_NE(json.find(part), std::string::npos) << part << "\nin\n" << json;
  }
}

TEST(FindingsJson, HasTheDocumentedShape) {
  correlate::OperationFindings findings{"s", "n", 3, 40, {}};
  EXPECT_EQ(FindingsJson(findings),
            R"({"service":"s","name":"n","spans":3,"samples":40,"findings":[]})");
}

}  // namespace
}  // namespace hotspan::serve
