// OTLP/JSON of traces and profiles.
#include <gtest/gtest.h>

#include "wire/otlp/profile_decoder.h"
#include "wire/otlp/trace_decoder.h"

namespace hotspan::wire {
namespace {

constexpr std::string_view kTraces = R"({"resourceSpans":[{"resource":{"attributes":[
  {"key":"service.name","value":{"stringValue":"shop"}}]},"future":{"a":[1]},
  "scopeSpans":[{"scope":{"name":"lib"},"spans":[{
    "traceId":"5B8EFFF798038103D269B633813FC60C","spanId":"eee19b7ec3c1b174","parentSpanId":"",
    "name":"op","kind":2,"startTimeUnixNano":"1544712660000000000",
      "endTimeUnixNano":1544712661000000000,
    "attributes":[{"key":"i","value":{"intValue":"-7"}},{"key":"d","value":{"doubleValue":"NaN"}},
      {"key":"b","value":{"bytesValue":"AP8="}},
      {"key":"a","value":{"arrayValue":{"values":[{"boolValue":true},{},{"intValue":3}]}}},
      {"key":"m","value":{"kvlistValue":{"values":[{"key":"x","value":{"stringValue":"y"}}]}}}],
    "events":[{"timeUnixNano":"5","name":"e"}],
    "links":[{"traceId":"5b8efff798038103d269b633813fc60c","spanId":"eee19b7ec3c1b175","flags":1}],
    "status":{"code":"STATUS_CODE_ERROR","message":"bad"},"flags":257}]}]}]})";

TEST(TraceJson, ReadsEveryField) {
  const auto decoded = DecodeTraces(kTraces, Encoding::kJson);
  ASSERT_TRUE(decoded) << decoded.error().message();
  ASSERT_EQ(decoded->batch.spans.size(), 1u);
  const SpanBatch& batch = decoded->batch;
  const SpanRow& span = batch.spans[0];
  EXPECT_EQ(batch.ServiceOf(span), "shop");
  EXPECT_EQ(span.trace_id.ToHex(), "5b8efff798038103d269b633813fc60c");
  EXPECT_TRUE(span.parent_span_id.IsZero());
  EXPECT_EQ(span.start.ns, 1544712660000000000);
  EXPECT_EQ(span.duration().ns, 1000000000);
  EXPECT_EQ(span.kind, SpanKind::kServer);
  EXPECT_EQ(span.status, SpanStatus::kError);
  EXPECT_EQ(span.flags, 257u);
  const AttributeList list = batch.Attributes(span.attributes);
  EXPECT_EQ(list.Find("i")->AsInt(), -7);
  EXPECT_NE(list.Find("d")->AsDouble(), list.Find("d")->AsDouble());
  EXPECT_EQ(list.Find("b")->text(), std::string_view("\0\xff", 2));
  EXPECT_EQ(list.Find("a")->ToText(), "[true,null,3]");
  EXPECT_EQ(list.Find("m")->ToText(), R"({"x":"y"})");
  EXPECT_EQ(ReadEvents(batch.Text(span.events)).size(), 1u);
  EXPECT_EQ(ReadLinks(batch.Text(span.links)).at(0).flags, 1u);
}

TEST(TraceJson, TakesSnakeCaseAndEnumNames) {
  const auto decoded = DecodeTraces(
      R"({"resource_spans":[{"scope_spans":[{"spans":[{"trace_id":"5b8efff798038103d269b633813fc60c",
      "span_id":"eee19b7ec3c1b174","start_time_unix_nano":1,"end_time_unix_nano":"2",
      "kind":"client",
      "status":{"code":1}}]}]}]})",
      Encoding::kJson);
  ASSERT_TRUE(decoded) << decoded.error().message();
  ASSERT_EQ(decoded->batch.spans.size(), 1u);
  EXPECT_EQ(decoded->batch.spans[0].kind, SpanKind::kClient);
  EXPECT_EQ(decoded->batch.spans[0].status, SpanStatus::kOk);
}

TEST(TraceJson, RejectsOnlyTheSpanWithABadId) {
  const auto decoded = DecodeTraces(
      R"({"resourceSpans":[{"scopeSpans":[{"spans":[
      {"traceId":"zz","spanId":"eee19b7ec3c1b174","name":"a"},
      {"traceId":"5b8efff798038103d269b633813fc60c","spanId":"eee19b7ec3c1b174","name":"b"}]}]}]})",
      Encoding::kJson);
  ASSERT_TRUE(decoded) << decoded.error().message();
  EXPECT_EQ(decoded->rejected, 1u);
  EXPECT_EQ(decoded->batch.spans.size(), 1u);
}

TEST(TraceJson, RefusesWhatIsNoJsonOrOfTheWrongType) {
  for (const std::string_view body :
       {"", "{", "[]", "7", R"({"resourceSpans":{}})", R"({"resourceSpans":[5]})",
        R"({"resourceSpans":[{"scopeSpans":[{"spans":[{"name":5}]}]}]})",
        R"({"resourceSpans":[{"scopeSpans":[{"spans":[{"startTimeUnixNano":"x"}]}]}]})"}) {
    const auto decoded = DecodeTraces(body, Encoding::kJson);
    ASSERT_FALSE(decoded) << body;
    EXPECT_EQ(decoded.error().code(), Code::kInvalidArgument);
  }
  const auto named = DecodeTraces(R"({"resourceSpans":[{"scopeSpans":[{"spans":[{"name":5}]}]}]})",
                                  Encoding::kJson);
  EXPECT_EQ(named.error().field(), "name");
}

TEST(TraceJson, RepairsBadUtf8) {
  const auto decoded = DecodeTraces(
      "{\"resourceSpans\":[{\"scopeSpans\":[{\"spans\":[{\"traceId\":"
      "\"5b8efff798038103d269b633813fc60c\",\"spanId\":\"eee19b7ec3c1b174\",\"name\":\"a\xff\"}]}]}"
      "]}",
      Encoding::kJson);
  ASSERT_TRUE(decoded) << decoded.error().message();
  EXPECT_EQ(decoded->counts.invalid_utf8, 1u);
  EXPECT_EQ(decoded->batch.Text(decoded->batch.spans.at(0).name), "a\xef\xbf\xbd");
}

TEST(TraceJson, CutsDeepValues) {
  std::string value = R"({"intValue":1})";
  for (int i = 0; i < 150; ++i) value = R"({"arrayValue":{"values":[)" + value + "]}}";
  const auto decoded = DecodeTraces(
      R"({"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"5b8efff798038103d269b633813fc60c",)"
      R"("spanId":"eee19b7ec3c1b174","attributes":[{"key":"k","value":)" +
          value + "}]}]}]}]}",
      Encoding::kJson);
  ASSERT_TRUE(decoded) << decoded.error().message();
  EXPECT_EQ(decoded->counts.truncated, 1u);
}

constexpr std::string_view kProfiles = R"({"resourceProfiles":[{"resource":{"attributes":[
    {"key":"service.name","value":{"stringValue":"shop"}}]},"scopeProfiles":[{"profiles":[{
    "sampleType":{"typeStrindex":1,"unitStrindex":2},"timeUnixNano":"1000","durationNano":"500",
    "periodType":{"typeStrindex":3,"unitStrindex":4},"period":"10",
    "samples":[{"stackIndex":1,"linkIndex":1,"attributeIndices":[1],"timestampsUnixNano":["1001",
      "1002"]}]}]}]}],
  "dictionary":{"stringTable":["","samples","count","cpu","nanoseconds","main","thread.id"],
    "mappingTable":[{}],"locationTable":[{},{"lines":[{"functionIndex":1,"line":"7"}]}],
    "functionTable":[{},{"nameStrindex":5}],"linkTable":[{},
      {"traceId":"5b8efff798038103d269b633813fc60c",
    "spanId":"eee19b7ec3c1b174"}],"attributeTable":[{},{"keyStrindex":6,"value":{"intValue":"9"}}],
    "stackTable":[{},{"locationIndices":[1]}]}})";

TEST(ProfileJson, ReadsSamples) {
  const auto decoded = DecodeProfiles(kProfiles, Encoding::kJson);
  ASSERT_TRUE(decoded) << decoded.error().message();
  const SampleBatch& batch = decoded->batch;
  EXPECT_EQ(FindDamage(batch), "");
  EXPECT_EQ(decoded->message, "");
  ASSERT_EQ(batch.samples.size(), 2u);
  EXPECT_EQ(batch.samples[0].value, 10);
  EXPECT_EQ(batch.samples[1].time.ns, 1002);
  EXPECT_EQ(batch.links[batch.samples[0].link].span_id.ToHex(), "eee19b7ec3c1b174");
  EXPECT_EQ(batch.Attributes(batch.label_sets[batch.samples[0].labels]).Find("thread.id")->AsInt(),
            9);
  EXPECT_EQ(batch.Text(batch.series[0].type), "process_cpu:cpu:nanoseconds:cpu:nanoseconds");
}

TEST(ProfileJson, RefusesOldNames) {
  const auto decoded =
      DecodeProfiles(R"({"resourceProfiles":[{"scopeProfiles":[{"profiles":[{"sample":[]}]}]}]})",
                     Encoding::kJson);
  ASSERT_FALSE(decoded);
  EXPECT_NE(decoded.error().message().find("OTLP 1.9"), std::string::npos);
}

}  // namespace
}  // namespace hotspan::wire
