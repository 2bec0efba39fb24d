#include <gtest/gtest.h>

#include "model/attributes.h"
#include "model/ids.h"
#include "model/sample.h"
#include "model/span.h"

namespace hotspan {
namespace {

TEST(TraceId, ReadsShortAndMixedCaseHexAndPadsInFront) {
  EXPECT_EQ(TraceId::FromHex("AbC")->ToHex(), "00000000000000000000000000000abc");
  EXPECT_EQ(TraceId::FromHex("4bf92f3577b34da6a3ce929d0e0e4736")->ToHex(),
            "4bf92f3577b34da6a3ce929d0e0e4736");
  EXPECT_FALSE(TraceId::FromHex(""));
  EXPECT_FALSE(TraceId::FromHex("xyz"));
  EXPECT_FALSE(TraceId::FromHex(std::string(33, 'a')));
}

TEST(Attributes, RoundTripEveryKind) {
  std::string elements;
  ValueWriter(elements).Add(Value::Int(1));
  ValueWriter(elements).Add(Value::String("two"));
  std::string inner;
  AttributeWriter(inner).Add("deep", Value::Bool(true));
  std::string packed;
  AttributeWriter(packed)
      .Add("s", Value::String("text"))
      .Add("b", Value::Bool(true))
      .Add("i", Value::Int(-5))
      .Add("d", Value::Double(0.25))
      .Add("x", Value::Bytes(std::string_view("\0\xff", 2)))
      .Add("a", Value::Array(elements))
      .Add("m", Value::Map(inner))
      .Add("n", Value());
  const AttributeList list(packed);
  EXPECT_EQ(list.FindText("s"), "text");
  EXPECT_TRUE(list.Find("b")->AsBool());
  EXPECT_EQ(list.Find("i")->AsInt(), -5);
  EXPECT_EQ(list.Find("d")->AsDouble(), 0.25);
  EXPECT_EQ(list.Find("x")->ToText(), "00ff");
  EXPECT_EQ(list.Find("a")->ToText(), "[1,\"two\"]");
  EXPECT_EQ(list.Find("m")->ToText(), "{\"deep\":true}");
  EXPECT_EQ(list.Find("n")->kind(), ValueKind::kEmpty);
  EXPECT_FALSE(list.Find("absent"));
}

TEST(Attributes, DamagedBytesEndTheIteration) {
  std::string packed;
  AttributeWriter(packed).Add("good", Value::Int(1)).Add("cut", Value::String("abcdef"));
  packed.resize(packed.size() - 3);
  int seen = 0;
  for (const auto& [key, value] : AttributeList(packed)) {
    EXPECT_EQ(key, "good");
    ++seen;
  }
  EXPECT_EQ(seen, 1);
}

TEST(SpanBatch, AppendFromKeepsEverythingAndSharesResources) {
  SpanBatch from;
  std::string attributes;
  AttributeWriter(attributes).Add("service.name", Value::String("cart"));
  from.resources.push_back({from.Add("cart"), from.Add(attributes), from.Add("url"), 2});
  from.scopes.push_back({from.Add("lib"), from.Add("1"), {}, {}, 0});
  for (int i = 0; i < 2; ++i) {
    SpanRow span;
    span.span_id = *SpanId::FromHex(i == 0 ? "a" : "b");
    span.start = {10};
    span.end = {20};
    span.name = from.Add("op");
    std::string events;
    AppendEvent(events, {{15}, "cached", AttributeList(attributes), 1});
    span.events = from.Add(events);
    std::string links;
    AppendLink(links,
               {*TraceId::FromHex("1"), *SpanId::FromHex("2"), "k=v", AttributeList(), 0, 1});
    span.links = from.Add(links);
    from.spans.push_back(span);
  }
  SpanBatch to;
  for (const auto& span : from.spans) to.AppendFrom(from, span);
  ASSERT_EQ(to.spans.size(), 2u);
  EXPECT_EQ(to.resources.size(), 1u);
  EXPECT_EQ(to.scopes.size(), 1u);
  EXPECT_EQ(to.ServiceOf(to.spans[1]), "cart");
  EXPECT_EQ(FindDamage(to), "");
  const auto events = ReadEvents(to.Text(to.spans[1].events));
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].name, "cached");
  EXPECT_EQ(events[0].attributes.FindText("service.name"), "cart");
  const auto links = ReadLinks(to.Text(to.spans[0].links));
  ASSERT_EQ(links.size(), 1u);
  EXPECT_EQ(links[0].trace_state, "k=v");
  EXPECT_EQ(links[0].flags, 1u);
}

TEST(SampleBatch, IdentitiesFollowContentAndNotNumbers) {
  const auto make = [](bool swapped) {
    SampleBatch batch;
    for (const char* name : {swapped ? "b" : "a", swapped ? "a" : "b"}) {
      batch.functions.push_back({batch.Add(name), {}, batch.Add("x.cc"), 1});
      batch.lines.push_back({static_cast<std::uint32_t>(batch.functions.size() - 1), 7});
      LocationRow location;
      location.first_line = static_cast<std::uint32_t>(batch.lines.size() - 1);
      location.line_count = 1;
      batch.locations.push_back(location);
    }
    batch.stack_locations =
        swapped ? std::vector<std::uint32_t>{1, 0} : std::vector<std::uint32_t>{0, 1};
    batch.stacks.push_back({0, 2});
    std::vector<Hash128> ids;
    for (const auto& location : batch.locations) ids.push_back(LocationIdentity(batch, location));
    std::vector<Hash128> scratch;
    return StackIdentity(ids, batch, batch.stacks[0], scratch);
  };
  EXPECT_EQ(make(false), make(true));
}

TEST(SampleBatch, FindDamageNamesTheTable) {
  SampleBatch batch;
  EXPECT_EQ(FindDamage(batch), "");
  batch.lines.push_back({5, 1});
  EXPECT_EQ(FindDamage(batch), "line");
}

}  // namespace
}  // namespace hotspan
