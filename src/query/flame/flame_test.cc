#include "query/flame/flame.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "query/flame/top.h"

namespace hotspan::query::flame {
namespace {

using testing::ElementsAre;

// A table whose stacks are given root first by "function:line".
class FlameTest : public testing::Test {
 protected:
  void Add(const std::vector<std::string>& root_first, std::int64_t value,
           std::uint64_t count = 1) {
    const StackNumber number{static_cast<std::uint32_t>(stacks_.size() + 1)};
    std::vector<std::uint32_t> leaf_first;
    for (auto text = root_first.rbegin(); text != root_first.rend(); ++text) {
      leaf_first.push_back(FrameOf(*text));
    }
    table_.stacks[number] = leaf_first;
    stacks_.push_back({number, value, count});
  }

  std::uint32_t FrameOf(const std::string& text) {
    const std::size_t colon = text.find(':');
    Frame frame;
    frame.function = text.substr(0, colon);
    frame.file = frame.function + ".cc";
    if (colon != std::string::npos) frame.line = text[colon + 1] - '0';
    table_.frames.push_back(frame);
    return static_cast<std::uint32_t>(table_.frames.size() - 1);
  }

  // "name total self @x" for each bar, levels apart by " | ".
  static std::string Shape(const FlameGraph& graph) {
    std::string out;
    for (const auto& level : graph.levels) {
      if (!out.empty()) out += " | ";
      std::int64_t x = 0;
      for (std::size_t i = 0; i < level.size(); i += 4) {
        x += level[i];
        if (i > 0) out += ", ";
        out += graph.names[static_cast<std::size_t>(level[i + 3])] + " " +
               std::to_string(level[i + 1]) + "/" + std::to_string(level[i + 2]) + "@" +
               std::to_string(x);
        x += level[i + 1];
      }
    }
    return out;
  }

  FrameTable table_;
  std::vector<WeightedStack> stacks_;
};

TEST_F(FlameTest, HasRootAloneWithoutStacks) {
  const FlameGraph graph = BuildFlame(table_, stacks_, 100);
  EXPECT_EQ(Shape(graph), "total 0/0@0");
  EXPECT_EQ(graph.nodes, 1u);
}

TEST_F(FlameTest, MergesPrefixesAndSortsChildrenByTotalThenName) {
  Add({"main", "b"}, 10);
  Add({"main", "c", "d"}, 30);
  Add({"main", "a"}, 10);
  Add({"main"}, 5);
  const FlameGraph graph = BuildFlame(table_, stacks_, 100);
  EXPECT_EQ(Shape(graph),
            "total 55/0@0 | main 55/5@0 | c 30/0@5, a 10/10@35, b 10/10@45 | d 30/30@5");
  EXPECT_EQ(graph.total, 55);
  EXPECT_EQ(graph.max_self, 30);
  EXPECT_EQ(graph.nodes, 6u);
  EXPECT_EQ(graph.names[0], "total");
}

TEST_F(FlameTest, OffsetsCountFromTheEndOfTheBarBefore) {
  Add({"a"}, 10);
  Add({"a", "x"}, 10);
  Add({"b"}, 5);
  Add({"b", "y"}, 5);
  const FlameGraph graph = BuildFlame(table_, stacks_, 100);
  // x lies at 10..20; y at 25..30.
  EXPECT_THAT(graph.levels[2], ElementsAre(10, 10, 10, 3, 5, 5, 5, 4));
}

TEST_F(FlameTest, SameLabelAtOtherLinesIsOneNode) {
  Add({"main:1", "f:2"}, 1);
  Add({"main:3", "f:4"}, 1);
  EXPECT_EQ(Shape(BuildFlame(table_, stacks_, 100)), "total 2/0@0 | main 2/0@0 | f 2/2@0");
}

TEST_F(FlameTest, MergesNodesBelowTheThresholdIntoOther) {
  Add({"main", "big"}, 100);
  Add({"main", "small1", "deep"}, 2);
  Add({"main", "small2"}, 1);
  const FlameGraph graph = BuildFlame(table_, stacks_, 2);
  EXPECT_EQ(Shape(graph), "total 103/0@0 | main 103/0@0 | big 100/100@0, (other) 3/3@100");
  EXPECT_EQ(graph.merged_nodes, 3u);
}

TEST_F(FlameTest, KeepsTheLimitWhenAllNodesAreEqual) {
  for (int i = 0; i < 50; ++i) Add({"f" + std::to_string(i)}, 1);
  const FlameGraph graph = BuildFlame(table_, stacks_, 10);
  EXPECT_EQ(graph.nodes, 12u);  // root, ten and "(other)"
  EXPECT_EQ(graph.merged_nodes, 40u);
  EXPECT_EQ(BuildFlame(table_, stacks_, 0).nodes, 2u);
}

TEST_F(FlameTest, NodeLimitOfExactlyTheTreeMergesNothing) {
  Add({"main", "a"}, 1);
  Add({"main", "b"}, 1);
  EXPECT_EQ(BuildFlame(table_, stacks_, 3).merged_nodes, 0u);
}

TEST_F(FlameTest, LeavesOutUnknownStacksAndValuesBelowOne) {
  Add({"main"}, 5);
  Add({"gone"}, 0);
  Add({"negative"}, -3);
  stacks_.push_back({StackNumber{999}, 7, 1});
  EXPECT_EQ(Shape(BuildFlame(table_, stacks_, 100)), "total 5/0@0 | main 5/5@0");
}

TEST_F(FlameTest, HugeValuesDoNotOverflow) {
  Add({"a"}, INT64_MAX);
  Add({"a", "b"}, INT64_MAX);
  Add({"c"}, INT64_MAX);
  EXPECT_EQ(BuildFlame(table_, stacks_, 100).total, INT64_MAX);
}

TEST(FrameLabel, IsFunctionElseModuleAndOffset) {
  Frame frame;
  frame.function = "f()";
  EXPECT_EQ(FrameLabel(frame), "f()");
  frame.symbolized = false;
  frame.module = "/usr/lib/libc.so.6";
  frame.address = 0x1a2b;
  EXPECT_EQ(FrameLabel(frame), "libc.so.6+0x1a2b");
  frame.module.clear();
  EXPECT_EQ(FrameLabel(frame), "0x1a2b");
  EXPECT_EQ(FrameLabel(Frame{}), "[unknown]");
}

TEST_F(FlameTest, TopCountsARecursiveFunctionOnceAStack) {
  Add({"main:1", "fib:2", "fib:2", "fib:3"}, 10, 2);
  Add({"main:1", "fib:3"}, 5);
  const std::vector<TopRow> rows = TopTable(table_, stacks_, 10);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].function, "fib");
  EXPECT_EQ(rows[0].file, "fib.cc");
  EXPECT_EQ(rows[0].self, 15);
  EXPECT_EQ(rows[0].total, 15);
  EXPECT_EQ(rows[0].self_samples, 3u);
  EXPECT_EQ(rows[0].total_samples, 3u);
  EXPECT_EQ(rows[0].line, 3);
  ASSERT_EQ(rows[0].lines.size(), 2u);
  EXPECT_EQ(rows[0].lines[0].line, 3);
  EXPECT_EQ(rows[0].lines[0].self, 15);
  EXPECT_EQ(rows[0].lines[1].line, 2);
  EXPECT_EQ(rows[0].lines[1].self, 0);
  EXPECT_EQ(rows[0].lines[1].total, 10);
  EXPECT_EQ(rows[1].function, "main");
  EXPECT_EQ(rows[1].self, 0);
  EXPECT_EQ(rows[1].total, 15);
}

TEST_F(FlameTest, TopKeepsTheGreatestBySelfAndByTotalWithinTheLimit) {
  Add({"main", "b"}, 3);
  Add({"main", "a"}, 3);
  Add({"main", "c"}, 9);
  const std::vector<TopRow> rows = TopTable(table_, stacks_, 3);
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].function, "c");
  EXPECT_EQ(rows[1].function, "a");
  EXPECT_EQ(rows[2].function, "main");
}

}  // namespace
}  // namespace hotspan::query::flame
