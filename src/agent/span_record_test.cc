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
