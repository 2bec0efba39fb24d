#include "agent/span_queue.h"

#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <thread>

namespace hotspan::agent {
namespace {

std::unique_ptr<SpanRecord> Named(std::string name) {
  auto record = std::make_unique<SpanRecord>();
  record->name = std::move(name);
  return record;
}

TEST(SpanQueue, GivesBackInOrder) {
  SpanQueue queue(10);
  for (const char* name : {"a", "b", "c"}) queue.Push(Named(name));
  const auto spans = queue.TakeAll();
  ASSERT_EQ(spans.size(), 3u);
  EXPECT_EQ(spans[0]->name + spans[1]->name + spans[2]->name, "abc");
  EXPECT_TRUE(queue.TakeAll().empty());
}

TEST(SpanQueue, RefusesWhatIsTooMuchAndTakesAgainAfterwards) {
  SpanQueue queue(2);
  EXPECT_EQ(queue.Push(Named("a")), SpanQueue::Pushed::kYes);
  EXPECT_EQ(queue.Push(Named("b")), SpanQueue::Pushed::kYes);
  EXPECT_EQ(queue.Push(Named("c")), SpanQueue::Pushed::kFull);
  EXPECT_EQ(queue.TakeAll().size(), 2u);
  EXPECT_EQ(queue.Push(Named("d")), SpanQueue::Pushed::kYes);
}

TEST(SpanQueue, AsksToBeEmptiedOncePerBatch) {
  SpanQueue queue(10, 2);
  EXPECT_EQ(queue.Push(Named("a")), SpanQueue::Pushed::kYes);
  EXPECT_EQ(queue.Push(Named("b")), SpanQueue::Pushed::kYesAndWake);
  EXPECT_EQ(queue.Push(Named("c")), SpanQueue::Pushed::kYes);
}

TEST(SpanQueue, RefusesAllOnceClosed) {
  SpanQueue queue(10);
  queue.Close();
  EXPECT_EQ(queue.Push(Named("a")), SpanQueue::Pushed::kFull);
}

TEST(SpanQueue, LosesNothingBetweenThreads) {
  constexpr int kThreads = 4;
  constexpr int kSpansEach = 5000;
  SpanQueue queue(kThreads * kSpansEach);
  std::atomic<int> working{kThreads};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kSpansEach; ++i) {
        queue.Push(Named(std::to_string(t) + "/" + std::to_string(i)));
      }
      --working;
    });
  }
  std::set<std::string> names;
  for (bool last = false; !last;) {
    last = working == 0;
    for (const auto& span : queue.TakeAll()) names.insert(span->name);
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(names.size(), static_cast<std::size_t>(kThreads * kSpansEach));
}

}  // namespace
}  // namespace hotspan::agent
