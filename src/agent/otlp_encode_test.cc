#include "agent/otlp_encode.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "agent/test_otlp_reader.h"

namespace hotspan::agent {
namespace {

std::unique_ptr<SpanRecord> FullSpan() {
  auto span = std::make_unique<SpanRecord>();
  span->trace_id.fill(0x11);
  span->span_id.fill(0x22);
  span->parent_span_id.fill(0x33);
  span->flags = 0x301;
  span->kind = 2;
  span->start_ns = 1'700'000'000'000'000'000;
  span->end_ns = span->start_ns + 5;
  span->name = "GET /";
  span->trace_state = "a=1";
  span->Set("k", std::string_view("v"));
  span->AddEvent("cache miss", span->start_ns + 1);
  span->dropped_attributes = 4;
  span->dropped_events = 5;
  span->error = true;
  span->status_message = "broken";
  return span;
}

TEST(EncodeSpans, WritesEveryFieldOfASpan) {
  std::vector<std::unique_ptr<SpanRecord>> spans;
  spans.push_back(FullSpan());
  const std::string resource = EncodeResource({{"service.name", "shop", std::nullopt}});
  const std::string request = EncodeSpans(resource, spans);
  EXPECT_EQ(ReadResource(request).at("service.name"), "shop");
  const std::vector<ReadSpan> read = ReadSpans(request);
  ASSERT_EQ(read.size(), 1u);
  const ReadSpan& span = read[0];
  EXPECT_EQ(span.trace_id, std::string(32, '1'));
  EXPECT_EQ(span.span_id, std::string(16, '2'));
  EXPECT_EQ(span.parent_id, std::string(16, '3'));
  EXPECT_EQ(span.flags, 0x301u);
  EXPECT_EQ(span.kind, 2);
  EXPECT_EQ(span.start, 1'700'000'000'000'000'000u);
  EXPECT_EQ(span.end, span.start + 5);
  EXPECT_EQ(span.name, "GET /");
  EXPECT_EQ(span.trace_state, "a=1");
  EXPECT_EQ(span.attributes, (std::map<std::string, std::string>{{"k", "v"}}));
  EXPECT_EQ(span.events, std::vector<std::string>{"cache miss"});
  EXPECT_EQ(span.dropped_attributes, 4);
  EXPECT_EQ(span.dropped_events, 5);
  EXPECT_EQ(span.status, 2);
  EXPECT_EQ(span.status_message, "broken");
}

TEST(EncodeSpans, LeavesOutWhatASpanDoesNotHave) {
  std::vector<std::unique_ptr<SpanRecord>> spans;
  spans.push_back(std::make_unique<SpanRecord>());
  spans.push_back(std::make_unique<SpanRecord>());
  const std::string request = EncodeSpans({}, spans);
  ASSERT_EQ(ReadSpans(request).size(), 2u);
  const Pbf span = Pbf(request).Message(1).Message(2).Messages(2)[0];
  for (const unsigned absent : {3u, 4u, 9u, 10u, 11u, 12u, 13u, 14u, 15u}) {
    EXPECT_FALSE(span.Has(absent)) << absent;
  }
}

TEST(EncodeSpans, NamesTheLibraryAsScope) {
  const Pbf scope = Pbf(EncodeSpans({}, {})).Message(1).Message(2).Message(1);
  EXPECT_EQ(scope.Text(1), "libhotspan");
  EXPECT_FALSE(scope.Text(2).empty());
}

TEST(EncodeResource, WritesTextsAndNumbers) {
  const Pbf resource(EncodeResource({{"a", "x\xff", std::nullopt}, {"process.pid", {}, 42}}));
  EXPECT_EQ(Attributes(resource, 1),
            (std::map<std::string, std::string>{{"a", "x\xef\xbf\xbd"}, {"process.pid", "42"}}));
}

TEST(DecodePartialSuccess, ReadsCountAndMessage) {
  const PartialSuccess partial = DecodePartialSuccess(std::string("\x0a\x06\x08\x03\x12\x02no", 8));
  EXPECT_EQ(partial.rejected, 3u);
  EXPECT_EQ(partial.message, "no");
}

TEST(DecodePartialSuccess, TakesEverythingElseForSuccess) {
  for (const std::string& body : {std::string(), std::string("{}"), std::string("\x0a\x7f"),
                                  std::string("\x0a\x02\x08"), std::string("\xff\xff\xff")}) {
    EXPECT_EQ(DecodePartialSuccess(body).rejected, 0u);
  }
}

TEST(ThreadNameFromProc, KnowsThisThreadAndNoOther) {
  EXPECT_FALSE(ThreadNameFromProc(static_cast<std::uint32_t>(::gettid())).empty());
  EXPECT_EQ(ThreadNameFromProc(0), "");
}

}  // namespace
}  // namespace hotspan::agent
