#include "wire/otlp/trace_encoder.h"

#include <gtest/gtest.h>

#include "wire/otlp/trace_decoder.h"
#include "wire/test_protobuf.h"

namespace hotspan::wire {
namespace {

const std::string kTrace("\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f\x10", 16);
const std::string kSpan("\x11\x12\x13\x14\x15\x16\x17\x18", 8);

Pb FullSpan(std::string_view name) {
  const Pb array = Pb().Sub(1, AnyText("x")).Sub(1, Pb()).Sub(1, Pb().Sub(5, Pb()));
  return Pb()
      .Text(1, kTrace)
      .Text(2, kSpan)
      .Text(3, "v=1")
      .Text(4, kSpan)
      .Text(5, name)
      .Int(6, 2)
      .Fixed64(7, 100)
      .Fixed64(8, 250)
      .Sub(9, KeyValue("a", Pb().Sub(5, array)))
      .Sub(9, KeyValue("m", Pb().Sub(6, Pb().Sub(1, KeyValue("x", AnyInt(1))))))
      .Sub(9, KeyValue("d", Pb().Double(4, 0.5)))
      .Sub(9, KeyValue("b", Pb().Text(7, "\xff")))
      .Sub(9, KeyValue("e", Pb()))
      .Sub(9, KeyValue("t", Pb().Int(2, 1)))
      .Int(10, 1)
      .Sub(11, Pb().Fixed64(1, 120).Text(2, "ev").Sub(3, KeyValue("k", AnyInt(-1))))
      .Int(12, 2)
      .Sub(13, Pb().Text(1, kTrace).Text(2, kSpan).Fixed32(6, 3))
      .Int(14, 4)
      .Sub(15, Pb().Text(2, "oops").Int(3, 2))
      .Fixed32(16, 0x101);
}

SpanBatch Batch() {
  const Pb scope = Pb().Sub(1, Pb().Text(1, "lib").Text(2, "1"))
                       .Sub(2, FullSpan("one"))
                       .Sub(2, FullSpan("two"))
                       .Text(3, "su");
  const Pb resource = Pb().Sub(1, KeyValue("service.name", AnyText("shop"))).Int(2, 1);
  auto decoded = DecodeTraces(Pb().Sub(1, Pb().Sub(1, resource).Sub(2, scope).Text(3, "ru")).text(),
                              Encoding::kProtobuf);
  EXPECT_TRUE(decoded);
  return std::move(decoded->batch);
}

void ExpectEqual(const SpanBatch& a, const SpanBatch& b) {
  ASSERT_EQ(a.spans.size(), b.spans.size());
  ASSERT_EQ(a.resources.size(), b.resources.size());
  ASSERT_EQ(a.scopes.size(), b.scopes.size());
  for (std::size_t i = 0; i < a.spans.size(); ++i) {
    const SpanRow &x = a.spans[i], &y = b.spans[i];
    EXPECT_EQ(x.trace_id, y.trace_id);
    EXPECT_EQ(x.span_id, y.span_id);
    EXPECT_EQ(x.parent_span_id, y.parent_span_id);
    EXPECT_EQ(x.start, y.start);
    EXPECT_EQ(x.end, y.end);
    EXPECT_EQ(a.Text(x.name), b.Text(y.name));
    EXPECT_EQ(a.Text(x.attributes), b.Text(y.attributes));
    EXPECT_EQ(a.Text(x.events), b.Text(y.events));
    EXPECT_EQ(a.Text(x.links), b.Text(y.links));
    EXPECT_EQ(a.Text(x.trace_state), b.Text(y.trace_state));
    EXPECT_EQ(a.Text(x.status_message), b.Text(y.status_message));
    EXPECT_EQ(x.flags, y.flags);
    EXPECT_EQ(x.dropped_attributes, y.dropped_attributes);
    EXPECT_EQ(x.dropped_events, y.dropped_events);
    EXPECT_EQ(x.dropped_links, y.dropped_links);
    EXPECT_EQ(x.kind, y.kind);
    EXPECT_EQ(x.status, y.status);
  }
  EXPECT_EQ(a.Text(a.resources[0].attributes), b.Text(b.resources[0].attributes));
  EXPECT_EQ(a.Text(a.resources[0].schema_url), b.Text(b.resources[0].schema_url));
  EXPECT_EQ(a.Text(a.scopes[0].name), b.Text(b.scopes[0].name));
  EXPECT_EQ(a.Text(a.scopes[0].schema_url), b.Text(b.scopes[0].schema_url));
}

TEST(TraceEncoder, ProtobufReadsBackTheSame) {
  const SpanBatch batch = Batch();
  const auto back = DecodeTraces(EncodeTracesProto(batch), Encoding::kProtobuf);
  ASSERT_TRUE(back) << back.error().message();
  ExpectEqual(batch, back->batch);
}

TEST(TraceEncoder, OtlpJsonReadsBackTheSame) {
  const SpanBatch batch = Batch();
  JsonWriter json;
  WriteTracesJson(json, batch, JsonFlavour::kOtlp, "resourceSpans");
  const auto back = DecodeTraces(json.text(), Encoding::kJson);
  ASSERT_TRUE(back) << back.error().message() << json.text();
  ExpectEqual(batch, back->batch);
}

TEST(TraceEncoder, TempoJsonHasBase64IdsAndNames) {
  JsonWriter json;
  WriteTracesJson(json, Batch(), JsonFlavour::kTempo, "batches");
  const std::string& text = json.text();
  EXPECT_EQ(text.substr(0, 24), R"({"batches":[{"resource":)");
  EXPECT_NE(text.find(R"("traceId":"AQIDBAUGBwgJCgsMDQ4PEA==")"), std::string::npos) << text;
  EXPECT_NE(text.find(R"("spanId":"ERITFBUWFxg=")"), std::string::npos);
  EXPECT_NE(text.find(R"("kind":"SPAN_KIND_SERVER")"), std::string::npos);
  EXPECT_NE(text.find(R"("code":"STATUS_CODE_ERROR")"), std::string::npos);
  EXPECT_NE(text.find(R"("startTimeUnixNano":"100")"), std::string::npos);
  EXPECT_NE(text.find(R"("intValue":"-1")"), std::string::npos);
}

TEST(TraceEncoder, LeavesOutZeroFields) {
  SpanBatch batch;
  batch.resources.emplace_back();
  batch.scopes.emplace_back();
  SpanRow span;
  span.trace_id = TraceId::FromBytes(kTrace);
  span.span_id = SpanId::FromBytes(kSpan);
  batch.spans.push_back(span);
  JsonWriter json;
  WriteTracesJson(json, batch, JsonFlavour::kTempo, "batches");
  EXPECT_EQ(json.text(),
            R"({"batches":[{"resource":{},"scopeSpans":[{"scope":{},"spans":[{)"
            R"("traceId":"AQIDBAUGBwgJCgsMDQ4PEA==","spanId":"ERITFBUWFxg=","status":{}}]}]}]})");
}

TEST(TraceEncoder, GroupsSpansByResourceAndScope) {
  SpanBatch batch;
  batch.resources.resize(2);
  batch.scopes.resize(2);
  SpanRow span;
  span.trace_id = TraceId::FromBytes(kTrace);
  span.span_id = SpanId::FromBytes(kSpan);
  for (const std::uint32_t resource : {0u, 1u, 0u, 1u}) {
    span.resource = resource;
    span.scope = resource;
    batch.spans.push_back(span);
  }
  const auto back = DecodeTraces(EncodeTracesProto(batch), Encoding::kProtobuf);
  ASSERT_TRUE(back);
  EXPECT_EQ(back->batch.spans.size(), 4u);
  EXPECT_EQ(back->batch.resources.size(), 2u);
  EXPECT_EQ(back->batch.spans[1].resource, 0u);
}

TEST(TraceEncoder, WritesAnEmptyBatch) {
  EXPECT_EQ(EncodeTracesProto({}), "");
  JsonWriter json;
  WriteTracesJson(json, {}, JsonFlavour::kOtlp, "resourceSpans");
  EXPECT_EQ(json.text(), R"({"resourceSpans":[]})");
}

}  // namespace
}  // namespace hotspan::wire
