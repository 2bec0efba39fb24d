#include "agent/span_record.h"

#include <gtest/gtest.h>

#include "agent/test_otlp_reader.h"
#include "base/limits.h"

namespace hotspan::agent {
namespace {

std::map<std::string, std::string> Read(const SpanRecord& span) {
  return Attributes(Pbf(span.attributes), 9);
}

TEST(SpanRecord, KeepsValuesOfAllTypes) {
  SpanRecord span;
  span.Set("text", std::string_view("x"));
  span.Set("int", std::int64_t{-7});
  span.Set("double", 0.5);
  span.Set("bool", true);
  EXPECT_EQ(Read(span),
            (std::map<std::string, std::string>{
                {"text", "x"}, {"int", "-7"}, {"double", "0.500000"}, {"bool", "true"}}));
  EXPECT_EQ(span.attribute_count, 4u);
}

TEST(SpanRecord, SettingAKeyAgainReplacesItsValue) {
  SpanRecord span;
  for (const char* key : {"a", "b", "c"}) span.Set(key, std::int64_t{1});
  span.Set("b", std::string_view("two"));
  EXPECT_EQ(Read(span), (std::map<std::string, std::string>{{"a", "1"}, {"b", "two"}, {"c", "1"}}));
  EXPECT_EQ(span.attribute_count, 3u);
}

TEST(SpanRecord, CountsAttributesAndEventsBeyondTheLimits) {
  SpanRecord span;
  for (std::size_t i = 0; i < limits::kAgentAttributesPerSpanMax + 3; ++i) {
    span.Set("key" + std::to_string(i), std::int64_t{1});
  }
  for (std::size_t i = 0; i < limits::kAgentEventsPerSpanMax + 2; ++i) span.AddEvent("e", 1);
  EXPECT_EQ(Read(span).size(), limits::kAgentAttributesPerSpanMax);
  EXPECT_EQ(span.dropped_attributes, 3u);
  EXPECT_EQ(span.dropped_events, 2u);
  span.Set("key0", std::int64_t{2});
  EXPECT_EQ(Read(span)["key0"], "2");
  EXPECT_EQ(span.dropped_attributes, 3u);
}

TEST(SpanRecord, LockWaitIsAnEventWithinTheSpan) {
  SpanRecord span;
  span.start_ns = 1'000'000;
  span.start_steady_ns = 500;
  LockWait wait;
  wait.begin_ns = 700;
  wait.wait_ns = 42;
  wait.kind = LockKind::kWriteLock;
  span.AddLockWait(wait);
  wait.holder_trace_id.fill(0xab);
  wait.holder_span_id.fill(0x01);
  span.AddLockWait(wait);
  const std::vector<Pbf> events = Pbf(span.events).Messages(11);
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0].Fixed64(1), 1'000'200u);
  EXPECT_EQ(events[0].Text(2), "lock.wait");
  std::map<std::string, std::string> expected{{"lock.wait_ns", "42"},
                                              {"lock.kind", "rwlock write"}};
  EXPECT_EQ(Attributes(events[0], 3), expected);
  expected["lock.holder.trace_id"] = "abababababababababababababababab";
  expected["lock.holder.span_id"] = "0101010101010101";
  EXPECT_EQ(Attributes(events[1], 3), expected);
  for (std::size_t i = 2; i < limits::kAgentEventsPerSpanMax + 3; ++i) span.AddLockWait(wait);
  EXPECT_EQ(span.dropped_events, 3u);
}

TEST(SpanRecord, IgnoresAnEmptyKey) {
  SpanRecord span;
  span.Set("", std::int64_t{1});
  EXPECT_TRUE(span.attributes.empty());
}

TEST(CleanText, MakesValidUtf8) {
  EXPECT_EQ(CleanText("a\xff"), "a\xef\xbf\xbd");
  EXPECT_EQ(CleanText("gr\xc3\xbc\xc3\x9f"), "gr\xc3\xbc\xc3\x9f");
}

TEST(CleanText, CutsLongTextsBetweenCharacters) {
  std::string text(limits::kAgentTextBytesMax - 1, 'a');
  const std::string clean = CleanText(text + "\xc3\xbc");
  EXPECT_EQ(clean, text);
}

}  // namespace
}  // namespace hotspan::agent
