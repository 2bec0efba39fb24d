#include "query/flame/formats.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/bytes.h"

namespace hotspan::query::flame {
namespace {

using testing::HasSubstr;
using testing::Not;

// main -> parse (8), main -> <T&> (2).
struct Small {
  FrameTable table;
  std::vector<WeightedStack> stacks;

  Small() {
    table.frames.resize(3);
    table.frames[0].function = "main";
    table.frames[1].function = "parse";
    table.frames[1].file = "parse.cc";
    table.frames[1].line = 12;
    table.frames[2].function = "a<T&>;b";
    table.stacks[StackNumber{1}] = {1, 0};
    table.stacks[StackNumber{2}] = {2, 0};
    stacks = {{StackNumber{1}, 8, 1}, {StackNumber{2}, 2, 1}};
  }
};

TEST(FlameJson, IsTheFlamebearerShape) {
  const Small small;
  JsonWriter json;
  WriteFlame(json, BuildFlame(small.table, small.stacks, 100));
  EXPECT_EQ(json.text(),
            R"({"names":["total","main","parse","a<T&>;b"],)"
            R"("levels":[[0,10,0,0],[0,10,0,1],[0,8,8,2,0,2,2,3]],"total":10,"max_self":8})");
}

TEST(FlameJson, WritesTopMembers) {
  const Small small;
  JsonWriter json;
  json.BeginObject();
  WriteTopMembers(json, TopTable(small.table, small.stacks, 1).at(0));
  json.EndObject();
  EXPECT_EQ(json.text(),
            R"({"function":"parse","file":"parse.cc","line":12,"self":8,"total":8,"samples":1,)"
            R"("total_samples":1,"lines":[{"line":12,"self":8,"total":8,"samples":1}]})");
}

TEST(FoldedText, ReplacesSeparatorsAndSumsEqualStacks) {
  Small small;
  small.stacks.push_back({StackNumber{1}, 1, 1});
  EXPECT_EQ(FoldedText(small.table, small.stacks), "main;a<T&>:b 2\nmain;parse 9\n");
}

TEST(Speedscope, HasFramesAndRootFirstSamples) {
  const Small small;
  const std::string json = SpeedscopeJson(small.table, small.stacks, {"cpu", "nanoseconds"});
  EXPECT_THAT(json, HasSubstr(R"({"name":"parse","file":"parse.cc","line":12})"));
  EXPECT_THAT(json, HasSubstr(R"("type":"sampled","name":"cpu","unit":"nanoseconds")"));
  EXPECT_THAT(json, HasSubstr(R"("startValue":0,"endValue":10)"));
  EXPECT_THAT(json, HasSubstr(R"("samples":[[0,1],[0,2]],"weights":[8,2])"));
}

TEST(Speedscope, UnknownUnitIsNone) {
  const Small small;
  EXPECT_THAT(SpeedscopeJson(small.table, small.stacks, {"x", "count"}),
              HasSubstr(R"("unit":"none")"));
}

TEST(FlameSvg, HasATitlePerBarAndEscapesNames) {
  const Small small;
  const std::string svg =
      FlameSvg(BuildFlame(small.table, small.stacks, 100), {"a < b", "nanoseconds"});
  EXPECT_THAT(svg, HasSubstr("<title>parse (8 ns, 80.00%)</title>"));
  EXPECT_THAT(svg, HasSubstr("<title>a&lt;T&amp;&gt;;b (2 ns, 20.00%)</title>"));
  EXPECT_THAT(svg, HasSubstr(">a &lt; b</text>"));
  EXPECT_THAT(svg, Not(HasSubstr("<script")));
  EXPECT_TRUE(svg.starts_with("<svg "));
  EXPECT_TRUE(svg.ends_with("</svg>\n"));
}

TEST(FlameSvg, EmptyGraphIsOneBar) {
  EXPECT_THAT(FlameSvg(BuildFlame({}, {}, 10), {"t", "bytes"}), HasSubstr("total (0 B, 0.00%)"));
}

// Reads docs/formats/flame-columns.md back into levels.
FlameGraph ReadColumns(std::string_view bytes) {
  FlameGraph graph;
  ByteReader reader(bytes);
  EXPECT_EQ(reader.Bytes(4), "HSF1");
  for (auto n = reader.Varint(); n > 0; --n) graph.names.emplace_back(reader.Sized());
  std::vector<std::uint64_t> bars;
  for (auto n = reader.Varint(); n > 0; --n) bars.push_back(reader.Varint());
  ByteReader offsets(reader.Sized());
  ByteReader totals(reader.Sized());
  ByteReader selfs(reader.Sized());
  ByteReader names(reader.Sized());
  std::int64_t total = 0;
  std::int64_t name = 0;
  for (const std::uint64_t count : bars) {
    auto& level = graph.levels.emplace_back();
    for (std::uint64_t i = 0; i < count; ++i) {
      total += totals.SignedVarint();
      name += names.SignedVarint();
      const auto offset = static_cast<std::int64_t>(offsets.Varint());
      level.insert(level.end(), {offset, total, static_cast<std::int64_t>(selfs.Varint()), name});
    }
  }
  EXPECT_TRUE(reader.AtEnd() && !reader.failed());
  EXPECT_TRUE(offsets.AtEnd() && totals.AtEnd() && selfs.AtEnd() && names.AtEnd());
  return graph;
}

TEST(FlameColumns, ReadBackToTheSameLevels) {
  const Small small;
  const FlameGraph graph = BuildFlame(small.table, small.stacks, 100);
  const FlameGraph read = ReadColumns(FlameColumns(graph));
  EXPECT_EQ(read.names, graph.names);
  EXPECT_EQ(read.levels, graph.levels);
}

TEST(FormatValue, ChoosesAUnitForPeople) {
  EXPECT_EQ(FormatValue(1'250'000'000, "nanoseconds"), "1.25 s");
  EXPECT_EQ(FormatValue(340'000'000, "nanoseconds"), "340 ms");
  EXPECT_EQ(FormatValue(12 << 20, "bytes"), "12.0 MiB");
  EXPECT_EQ(FormatValue(17, "count"), "17");
}

}  // namespace
}  // namespace hotspan::query::flame
