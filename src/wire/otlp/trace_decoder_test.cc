#include "wire/otlp/trace_decoder.h"

#include <gtest/gtest.h>

#include "base/limits.h"
#include "wire/test_protobuf.h"

namespace hotspan::wire {
namespace {

const std::string kTrace("\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f\x10", 16);
const std::string kSpan("\x11\x12\x13\x14\x15\x16\x17\x18", 8);
const std::string kParent("\x21\x22\x23\x24\x25\x26\x27\x28", 8);

Pb MinimalSpan(std::string_view name = "op") {
  return Pb().Text(1, kTrace).Text(2, kSpan).Text(5, name).Fixed64(7, 100).Fixed64(8, 250);
}

std::string Request(const Pb& span,
                    const Pb& resource = Pb().Sub(1, KeyValue("service.name", AnyText("shop")))) {
  return Pb().Sub(1, Pb().Sub(1, resource).Sub(2, Pb().Sub(2, span))).text();
}

TraceDecode Decode(std::string_view body) {
  auto decoded = DecodeTraces(body, Encoding::kProtobuf);
  EXPECT_TRUE(decoded) << (decoded ? "" : decoded.error().message());
  if (!decoded) return {};
  EXPECT_EQ(FindDamage(decoded->batch), "");
  return std::move(*decoded);
}

TEST(TraceDecoder, TakesAnEmptyRequest) {
  EXPECT_TRUE(Decode("").batch.spans.empty());
  EXPECT_TRUE(Decode(Pb().Sub(1, Pb()).Sub(1, Pb().Sub(2, Pb())).text()).batch.resources.empty());
}

TEST(TraceDecoder, ReadsEveryFieldOfASpan) {
  const Pb event =
      Pb().Fixed64(1, 120).Text(2, "retry").Sub(3, KeyValue("n", AnyInt(-3))).Int(4, 2);
  const Pb link = Pb().Text(1, kTrace)
                      .Text(2, kParent)
                      .Text(3, "a=b")
                      .Sub(4, KeyValue("k", AnyText("v")))
                      .Int(5, 1)
                      .Fixed32(6, 0x301);
  const Pb span = MinimalSpan("GET /cart")
                      .Text(3, "vendor=1")
                      .Text(4, kParent)
                      .Int(6, 2)
                      .Sub(9, KeyValue("http.route", AnyText("/cart")))
                      .Int(10, 3)
                      .Sub(11, event)
                      .Int(12, 4)
                      .Sub(13, link)
                      .Int(14, 5)
                      .Sub(15, Pb().Text(2, "boom").Int(3, 2))
                      .Fixed32(16, 0x101);
  const Pb scope = Pb().Text(1, "lib").Text(2, "1.2").Sub(3, KeyValue("s", AnyText("t"))).Int(4, 6);
  const Pb resource = Pb().Sub(1, KeyValue("service.name", AnyText("shop"))).Int(2, 7);
  const TraceDecode decoded =
      Decode(Pb().Sub(1, Pb().Sub(2, Pb().Sub(2, span).Sub(1, scope).Text(3, "scope-url"))
                             .Sub(1, resource)
                             .Text(3, "res-url"))
                 .text());
  ASSERT_EQ(decoded.batch.spans.size(), 1u);
  const SpanBatch& batch = decoded.batch;
  const SpanRow& row = batch.spans[0];
  EXPECT_EQ(row.trace_id.AsBytes(), kTrace);
  EXPECT_EQ(row.span_id.AsBytes(), kSpan);
  EXPECT_EQ(row.parent_span_id.AsBytes(), kParent);
  EXPECT_EQ(row.start.ns, 100);
  EXPECT_EQ(row.end.ns, 250);
  EXPECT_EQ(batch.Text(row.name), "GET /cart");
  EXPECT_EQ(batch.Text(row.trace_state), "vendor=1");
  EXPECT_EQ(row.kind, SpanKind::kServer);
  EXPECT_EQ(row.status, SpanStatus::kError);
  EXPECT_EQ(batch.Text(row.status_message), "boom");
  EXPECT_EQ(row.flags, 0x101u);
  EXPECT_EQ(row.dropped_attributes, 3u);
  EXPECT_EQ(row.dropped_events, 4u);
  EXPECT_EQ(row.dropped_links, 5u);
  EXPECT_EQ(batch.Attributes(row.attributes).FindText("http.route"), "/cart");
  const auto events = ReadEvents(batch.Text(row.events));
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].time.ns, 120);
  EXPECT_EQ(events[0].name, "retry");
  EXPECT_EQ(events[0].attributes.Find("n")->AsInt(), -3);
  EXPECT_EQ(events[0].dropped_attributes, 2u);
  const auto links = ReadLinks(batch.Text(row.links));
  ASSERT_EQ(links.size(), 1u);
  EXPECT_EQ(links[0].span_id.AsBytes(), kParent);
  EXPECT_EQ(links[0].trace_state, "a=b");
  EXPECT_EQ(links[0].attributes.FindText("k"), "v");
  EXPECT_EQ(links[0].flags, 0x301u);
  const ScopeRow& scope_row = batch.scopes[row.scope];
  EXPECT_EQ(batch.Text(scope_row.name), "lib");
  EXPECT_EQ(batch.Text(scope_row.version), "1.2");
  EXPECT_EQ(batch.Text(scope_row.schema_url), "scope-url");
  EXPECT_EQ(scope_row.dropped_attributes, 6u);
  EXPECT_EQ(batch.Attributes(scope_row.attributes).FindText("s"), "t");
  EXPECT_EQ(batch.ServiceOf(row), "shop");
  EXPECT_EQ(batch.Text(batch.resources[0].schema_url), "res-url");
  EXPECT_EQ(batch.resources[0].dropped_attributes, 7u);
}

TEST(TraceDecoder, PacksEveryKindOfValue) {
  const Pb array = Pb().Sub(1, AnyText("x")).Sub(1, Pb()).Sub(1, AnyInt(5));
  const Pb map = Pb().Sub(1, KeyValue("in", Pb().Sub(5, array)));
  Pb span = MinimalSpan();
  span.Sub(9, KeyValue("text", AnyText("")))
      .Sub(9, KeyValue("yes", Pb().Int(2, 1)))
      .Sub(9, KeyValue("int", AnyInt(-9)))
      .Sub(9, KeyValue("double", Pb().Double(4, 2.5)))
      .Sub(9, KeyValue("bytes", Pb().Text(7, std::string_view("\0\xff", 2))))
      .Sub(9, KeyValue("map", Pb().Sub(6, map)))
      .Sub(9, KeyValue("empty", Pb()))
      .Sub(9, Pb().Text(1, "none"))
      .Sub(9, Pb().Sub(2, AnyText("v")).Text(1, "late key"))
      .Sub(9, Pb().Sub(2, AnyText("no key")));
  const TraceDecode decoded = Decode(Request(span));
  const AttributeList list = decoded.batch.Attributes(decoded.batch.spans[0].attributes);
  EXPECT_EQ(list.Find("text")->kind(), ValueKind::kString);
  EXPECT_TRUE(list.Find("yes")->AsBool());
  EXPECT_EQ(list.Find("int")->AsInt(), -9);
  EXPECT_EQ(list.Find("double")->AsDouble(), 2.5);
  EXPECT_EQ(list.Find("bytes")->text(), std::string_view("\0\xff", 2));
  EXPECT_EQ(list.Find("map")->ToText(), R"({"in":["x",null,5]})");
  EXPECT_EQ(list.Find("empty")->kind(), ValueKind::kEmpty);
  EXPECT_EQ(list.Find("none")->kind(), ValueKind::kEmpty);
  EXPECT_EQ(list.FindText("late key"), "v");
  EXPECT_EQ(decoded.counts.dropped, 1u);
}

TEST(TraceDecoder, RejectsBadSpansAndKeepsTheRest) {
  const Pb cases[] = {
      Pb().Text(1, "short").Text(2, kSpan).Text(5, "a"),
      Pb().Text(1, std::string(16, '\0')).Text(2, kSpan).Text(5, "b"),
      Pb().Text(1, kTrace).Text(5, "c"),
      Pb().Text(1, kTrace).Text(2, std::string(8, '\0')).Text(5, "d"),
      MinimalSpan("e").Fixed64(8, 99),
      MinimalSpan("f").Fixed64(8, UINT64_MAX),
      MinimalSpan("g").Text(4, "xyz"),
  };
  const std::string_view reasons[] = {"5 bytes, not 16",     "all zeros",         "0 bytes, not 8",
                                      "all zeros",           "1 ns before start", "after the year",
                                      "parent span id has 3"};
  for (std::size_t i = 0; i < std::size(cases); ++i) {
    const TraceDecode decoded =
        Decode(Pb().Sub(1, Pb().Sub(2, Pb().Sub(2, cases[i]).Sub(2, MinimalSpan("good")))).text());
    EXPECT_EQ(decoded.rejected, 1u) << i;
    EXPECT_EQ(decoded.batch.spans.size(), 1u) << i;
    EXPECT_NE(decoded.message.find(reasons[i]), std::string::npos) << decoded.message;
    EXPECT_NE(decoded.message.find(std::string("\"") + static_cast<char>('a' + i)),
              std::string::npos);
  }
}

TEST(TraceDecoder, NamesUnknownServices) {
  EXPECT_EQ(Decode(Request(MinimalSpan(), Pb()))
                .batch.ServiceOf(Decode(Request(MinimalSpan(), Pb())).batch.spans[0]),
            "unknown_service");
  const TraceDecode number =
      Decode(Request(MinimalSpan(), Pb().Sub(1, KeyValue("service.name", AnyInt(3)))));
  EXPECT_EQ(number.batch.ServiceOf(number.batch.spans[0]), "unknown_service");
}

TEST(TraceDecoder, CutsAndRepairsText) {
  const Pb span =
      MinimalSpan("bad\xffname")
          .Sub(9, KeyValue("long", AnyText(std::string(limits::kAttributeValueBytesMax + 1, 'x'))))
          .Sub(9, KeyValue(std::string(2000, 'k'), AnyText("v")));
  const TraceDecode decoded = Decode(Request(span));
  const SpanRow& row = decoded.batch.spans[0];
  EXPECT_EQ(decoded.batch.Text(row.name), "bad\xef\xbf\xbdname");
  const AttributeList list = decoded.batch.Attributes(row.attributes);
  EXPECT_EQ(list.FindText("long").size(), limits::kAttributeValueBytesMax);
  EXPECT_EQ(list.FindText(std::string(limits::kAttributeKeyBytesMax, 'k')), "v");
  EXPECT_EQ(decoded.counts.truncated, 2u);
  EXPECT_EQ(decoded.counts.invalid_utf8, 1u);
}

TEST(TraceDecoder, CountsAttributesEventsAndLinksBeyondTheirLimit) {
  Pb span = MinimalSpan();
  for (std::size_t i = 0; i < limits::kAttributesPerSpanMax + 5; ++i) {
    span.Sub(9, KeyValue("k" + std::to_string(i), AnyInt(1)));
  }
  for (std::size_t i = 0; i < limits::kEventsPerSpanMax + 2; ++i) span.Sub(11, Pb().Text(2, "e"));
  for (std::size_t i = 0; i < limits::kLinksPerSpanMax + 3; ++i) {
    span.Sub(13, Pb().Text(1, kTrace).Text(2, kSpan));
  }
  const TraceDecode decoded = Decode(Request(span));
  const SpanRow& row = decoded.batch.spans[0];
  EXPECT_EQ(row.dropped_attributes, 5u);
  EXPECT_EQ(row.dropped_events, 2u);
  EXPECT_EQ(row.dropped_links, 3u);
  EXPECT_EQ(ReadEvents(decoded.batch.Text(row.events)).size(), limits::kEventsPerSpanMax);
  EXPECT_EQ(ReadLinks(decoded.batch.Text(row.links)).size(), limits::kLinksPerSpanMax);
  EXPECT_EQ(decoded.counts.dropped, 10u);
}

TEST(TraceDecoder, CutsDeepNesting) {
  Pb value = AnyInt(1);
  for (int i = 0; i < 2000; ++i) value = Pb().Sub(5, Pb().Sub(1, value));
  const TraceDecode decoded = Decode(Request(MinimalSpan().Sub(9, KeyValue("deep", value))));
  EXPECT_EQ(decoded.counts.truncated, 1u);
  EXPECT_EQ(decoded.batch.Attributes(decoded.batch.spans[0].attributes).Find("deep")->kind(),
            ValueKind::kArray);
}

TEST(TraceDecoder, DropsLinksOfWrongSize) {
  const TraceDecode decoded =
      Decode(Request(MinimalSpan().Sub(13, Pb().Text(1, "x").Text(2, kSpan))));
  EXPECT_EQ(decoded.batch.spans[0].links.size, 0u);
  EXPECT_EQ(decoded.batch.spans[0].dropped_links, 1u);
}

TEST(TraceDecoder, RefusesEveryTruncation) {
  const std::string body = Request(MinimalSpan().Sub(11, Pb().Text(2, "e")));
  for (std::size_t size = 1; size < body.size(); ++size) {
    EXPECT_FALSE(DecodeTraces(body.substr(0, size), Encoding::kProtobuf)) << size;
  }
}

TEST(TraceDecoder, IgnoresUnknownFieldsAndKinds) {
  const Pb span = MinimalSpan().Int(6, 77).Sub(15, Pb().Int(3, 9)).Text(99, "new").Int(1, 4);
  const TraceDecode decoded = Decode(Request(span));
  EXPECT_EQ(decoded.batch.spans[0].kind, SpanKind::kUnspecified);
  EXPECT_EQ(decoded.batch.spans[0].status, SpanStatus::kUnset);
}

TEST(TraceDecoder, SharesResourceAndScope) {
  Pb scope_spans;
  for (int i = 0; i < 10; ++i) scope_spans.Sub(2, MinimalSpan());
  const TraceDecode decoded =
      Decode(Pb().Sub(1, Pb().Sub(2, scope_spans).Sub(2, scope_spans)).text());
  EXPECT_EQ(decoded.batch.spans.size(), 20u);
  EXPECT_EQ(decoded.batch.resources.size(), 1u);
  EXPECT_EQ(decoded.batch.scopes.size(), 2u);
}

}  // namespace
}  // namespace hotspan::wire
