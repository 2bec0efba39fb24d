#include "query/trace_tree.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

namespace hotspan::query {
namespace {

SpanId Id(std::uint64_t number) {
  SpanId id;
  for (int i = 7; i >= 0; --i) {
    id.bytes[static_cast<std::size_t>(i)] = static_cast<std::uint8_t>(number & 0xff);
    number >>= 8;
  }
  return id;
}

class TraceTreeTest : public testing::Test {
 protected:
  TraceTreeTest() {
    batch_.resources.resize(2);
    batch_.resources[0].attributes = batch_.Add("a");
    batch_.resources[1].attributes = batch_.Add("b");
    batch_.scopes.resize(1);
  }

  SpanRow& AddSpan(std::uint64_t id, std::uint64_t parent, std::int64_t begin, std::int64_t end,
                   SpanKind kind = SpanKind::kInternal) {
    SpanRow span;
    span.span_id = Id(id);
    span.parent_span_id = Id(parent);
    span.start = TimeNs{begin};
    span.end = TimeNs{end};
    span.kind = kind;
    batch_.spans.push_back(span);
    return batch_.spans.back();
  }
  const TraceNode& Node(const TraceTree& tree, std::uint64_t id) {
    return tree.nodes.at(tree.Find(batch_, Id(id)));
  }
  std::int64_t CriticalSum(const TraceTree& tree, std::uint32_t root) {
    std::int64_t sum = 0;
    for (std::uint32_t i = root; i < tree.nodes[root].subtree_end; ++i) {
      sum += tree.nodes[i].critical.ns;
    }
    return sum;
  }

  SpanBatch batch_;
};

TEST_F(TraceTreeTest, OrdersDepthFirstWithChildrenByStart) {
  AddSpan(3, 1, 50, 60);
  AddSpan(1, 0, 0, 100);
  AddSpan(2, 1, 10, 40);
  AddSpan(4, 2, 20, 30);
  const TraceTree tree = BuildTraceTree(batch_);
  std::vector<SpanId> order;
  for (const TraceNode& node : tree.nodes) order.push_back(batch_.spans[node.row].span_id);
  EXPECT_EQ(order, (std::vector<SpanId>{Id(1), Id(2), Id(4), Id(3)}));
  EXPECT_EQ(tree.root, 0u);
  EXPECT_EQ(Node(tree, 1).children, 2u);
  EXPECT_EQ(Node(tree, 4).depth, 2u);
  EXPECT_EQ(Node(tree, 2).subtree_end, 3u);
  EXPECT_EQ(tree.start, TimeNs{0});
  EXPECT_EQ(tree.end, TimeNs{100});
}

TEST_F(TraceTreeTest, SelfTimeIsDurationMinusUnionOfClippedChildren) {
  AddSpan(1, 0, 0, 100);
  AddSpan(2, 1, 10, 50);
  AddSpan(3, 1, 40, 60);
  AddSpan(4, 1, 90, 130);
  const TraceTree tree = BuildTraceTree(batch_);
  EXPECT_EQ(Node(tree, 1).self.ns, 100 - 50 - 10);
}

TEST_F(TraceTreeTest, OrphansBecomeRootsAndRealRootWins) {
  AddSpan(1, 0, 0, 10);
  AddSpan(2, 99, 0, 1000);
  const TraceTree tree = BuildTraceTree(batch_);
  ASSERT_EQ(tree.nodes.size(), 2u);
  EXPECT_TRUE(Node(tree, 2).orphan);
  EXPECT_EQ(Node(tree, 2).parent, kNoNode);
  EXPECT_EQ(tree.root, tree.Find(batch_, Id(1)));
}

TEST_F(TraceTreeTest, CutsCyclesAtTheEarliestSpan) {
  AddSpan(1, 3, 30, 100);
  AddSpan(2, 1, 10, 100);
  AddSpan(3, 2, 20, 100);
  AddSpan(4, 4, 0, 5);  // its own parent
  AddSpan(5, 3, 40, 50);
  const TraceTree tree = BuildTraceTree(batch_);
  ASSERT_EQ(tree.nodes.size(), 5u);
  EXPECT_EQ(Node(tree, 2).depth, 0u);
  EXPECT_EQ(Node(tree, 3).depth, 1u);
  EXPECT_EQ(Node(tree, 1).depth, 2u);
  EXPECT_EQ(Node(tree, 5).depth, 2u);
  EXPECT_EQ(Node(tree, 4).depth, 0u);
}

TEST_F(TraceTreeTest, CountsDuplicatesOfIdAndKindOnce) {
  AddSpan(1, 0, 0, 100);
  AddSpan(2, 1, 10, 20);
  AddSpan(2, 1, 10, 20);
  EXPECT_EQ(BuildTraceTree(batch_).nodes.size(), 2u);
}

TEST_F(TraceTreeTest, ClientAndServerOfOneIdBecomeParentAndChild) {
  AddSpan(1, 0, 0, 100, SpanKind::kServer);
  AddSpan(2, 1, 10, 90, SpanKind::kClient);
  AddSpan(2, 1, 20, 80, SpanKind::kServer);
  AddSpan(3, 2, 30, 40);
  const TraceTree tree = BuildTraceTree(batch_);
  ASSERT_EQ(tree.nodes.size(), 4u);
  EXPECT_EQ(batch_.spans[tree.nodes[1].row].kind, SpanKind::kClient);
  EXPECT_EQ(batch_.spans[tree.nodes[2].row].kind, SpanKind::kServer);
  EXPECT_EQ(tree.nodes[3].parent, 2u);
  EXPECT_EQ(tree.Find(batch_, Id(2)), 2u);
}

TEST_F(TraceTreeTest, CriticalPathTakesTheLastFinishingChildFirst) {
  AddSpan(1, 0, 0, 100);
  AddSpan(2, 1, 10, 60);
  AddSpan(3, 1, 20, 90);  // finishes last: [20, 90] is its
  const TraceTree tree = BuildTraceTree(batch_);
  EXPECT_EQ(Node(tree, 1).critical.ns, 20);
  EXPECT_EQ(Node(tree, 3).critical.ns, 70);
  EXPECT_EQ(Node(tree, 2).critical.ns, 10);
  const auto intervals = tree.CriticalOf(tree.Find(batch_, Id(1)));
  ASSERT_EQ(intervals.size(), 2u);
  EXPECT_EQ(intervals[0], (TimeInterval{TimeNs{0}, TimeNs{10}}));
  EXPECT_EQ(intervals[1], (TimeInterval{TimeNs{90}, TimeNs{100}}));
}

TEST_F(TraceTreeTest, ChildrenOfOtherMachinesAreClippedToTheParent) {
  AddSpan(1, 0, 100, 200);
  AddSpan(2, 1, 90, 210).resource = 1;  // clocks differ
  const TraceTree tree = BuildTraceTree(batch_);
  EXPECT_EQ(Node(tree, 1).critical.ns, 0);
  EXPECT_EQ(Node(tree, 2).critical.ns, 100);
}

TEST_F(TraceTreeTest, AsynchronousChildrenAreNotOnTheirParentsPath) {
  AddSpan(1, 0, 0, 100'000'000);
  AddSpan(2, 1, 10'000'000, 900'000'000);                      // outlives its parent in one process
  AddSpan(3, 1, 10'000'000, 50'000'000, SpanKind::kConsumer);  // nobody waits for a consumer
  const TraceTree tree = BuildTraceTree(batch_);
  EXPECT_TRUE(Node(tree, 2).asynchronous);
  EXPECT_TRUE(Node(tree, 3).asynchronous);
  EXPECT_EQ(Node(tree, 1).critical.ns, 100'000'000);
}

TEST_F(TraceTreeTest, AMillisecondTooLongIsRoundingAndNotAsynchronous) {
  AddSpan(1, 0, 0, 100'000'000);
  AddSpan(2, 1, 10'000'000, 100'900'000);
  EXPECT_FALSE(Node(BuildTraceTree(batch_), 2).asynchronous);
}

TEST_F(TraceTreeTest, CriticalTimesAddUpToTheRootInRandomTraces) {
  std::mt19937_64 random(42);
  for (int round = 0; round < 300; ++round) {
    batch_.spans.clear();
    const auto count = 1 + random() % 60;
    for (std::uint64_t i = 1; i <= count; ++i) {
      const auto begin = static_cast<std::int64_t>(random() % 10'000);
      const auto length = static_cast<std::int64_t>(random() % 5'000);
      const std::uint64_t parent = random() % 10 == 0 ? random() % 200 : random() % i;
      AddSpan(i, parent, begin, begin + length, static_cast<SpanKind>(random() % 6)).resource =
          static_cast<std::uint32_t>(random() % 2);
    }
    std::shuffle(batch_.spans.begin(), batch_.spans.end(), random);
    const TraceTree tree = BuildTraceTree(batch_);
    ASSERT_EQ(tree.nodes.size(), count);
    for (std::uint32_t root = 0; root < tree.nodes.size(); root = tree.nodes[root].subtree_end) {
      EXPECT_EQ(CriticalSum(tree, root), batch_.spans[tree.nodes[root].row].duration().ns);
    }
    for (std::uint32_t node = 0; node < tree.nodes.size(); ++node) {
      std::int64_t sum = 0;
      TimeNs at = batch_.spans[tree.nodes[node].row].start;
      for (const PathPart& part : PathWithin(batch_, tree, node)) {
        EXPECT_EQ(part.interval.begin, at);
        at = part.interval.end;
        sum += part.interval.duration().ns;
      }
      EXPECT_EQ(sum, batch_.spans[tree.nodes[node].row].duration().ns);
      std::int64_t intervals = 0;
      for (const TimeInterval& interval : tree.CriticalOf(node)) {
        intervals += interval.duration().ns;
      }
      EXPECT_EQ(intervals, tree.nodes[node].critical.ns);
    }
  }
}

TEST_F(TraceTreeTest, TakesAChainOfTwoHundredThousandSpans) {
  constexpr std::uint64_t kSpans = 200'000;
  for (std::uint64_t i = 1; i <= kSpans; ++i) {
    const auto inset = static_cast<std::int64_t>(i);
    AddSpan(i, i - 1, inset, 1'000'000 - inset);
  }
  const TraceTree tree = BuildTraceTree(batch_);
  ASSERT_EQ(tree.nodes.size(), kSpans);
  EXPECT_EQ(tree.nodes.back().depth, kSpans - 1);
  EXPECT_EQ(CriticalSum(tree, 0), 1'000'000 - 2);
}

TEST_F(TraceTreeTest, TakesTwoHundredThousandSiblings) {
  constexpr std::uint64_t kSpans = 200'000;
  AddSpan(1, 0, 0, 1'000'000);
  for (std::uint64_t i = 2; i <= kSpans; ++i) {
    const auto at = static_cast<std::int64_t>(i);
    AddSpan(i, 1, at, at + 100);
  }
  const TraceTree tree = BuildTraceTree(batch_);
  EXPECT_EQ(tree.nodes[0].children, kSpans - 1);
  EXPECT_EQ(CriticalSum(tree, 0), 1'000'000);
}

TEST_F(TraceTreeTest, EmptyBatchGivesEmptyTree) {
  const TraceTree tree = BuildTraceTree(batch_);
  EXPECT_TRUE(tree.nodes.empty());
  EXPECT_EQ(tree.root, kNoNode);
  EXPECT_EQ(tree.Find(batch_, Id(1)), kNoNode);
}

}  // namespace
}  // namespace hotspan::query
