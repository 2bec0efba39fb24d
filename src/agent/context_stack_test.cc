#include "agent/context_stack.h"

#include <gtest/gtest.h>

#include <thread>

#include "agent/signal/thread_context.h"
#include "agent/tracer.h"
#include "base/limits.h"

namespace hotspan::agent {
namespace {

class ContextStackTest : public testing::Test {
 protected:
  std::unique_ptr<SpanHandle> Start() { return tracer_.Start("span", 1, nullptr, {}); }

  // The span id that samplers see; 0 without a context.
  static std::uint64_t Published() {
    ThreadContextRecord record;
    if (!ReadContext(&record)) return 0;
    std::uint64_t id = 0;
    __builtin_memcpy(&id, record.span_id, sizeof(id));
    return id;
  }
  static std::uint64_t Id(const std::unique_ptr<SpanHandle>& span) { return IdOf(span->context); }
  static std::uint64_t IdOf(const SpanContext& context) {
    std::uint64_t id = 0;
    __builtin_memcpy(&id, context.span_id.data(), sizeof(id));
    return id;
  }
  static SpanContext Context(std::uint8_t id) {
    SpanContext context;
    context.trace_id.fill(id);
    context.span_id.fill(id);
    return context;
  }

  SpanQueue queue_{100};
  AgentStats stats_;
  Tracer tracer_{SpanSampler(), &queue_, &stats_};
};

TEST_F(ContextStackTest, PublishesTheInnermostSpan) {
  EXPECT_EQ(Published(), 0u);
  auto outer = Start();
  const std::uint64_t outer_id = Id(outer);
  EXPECT_EQ(Published(), outer_id);
  auto inner = Start();
  EXPECT_EQ(Published(), Id(inner));
  EXPECT_EQ(inner->context.trace_id, outer->context.trace_id);
  EXPECT_EQ(inner->record->parent_span_id, outer->context.span_id);
  EndSpan(std::move(inner));
  EXPECT_EQ(Published(), outer_id);
  EndSpan(std::move(outer));
  EXPECT_EQ(Published(), 0u);
}

TEST_F(ContextStackTest, SpansMayEndInAnyOrder) {
  auto a = Start();
  auto b = Start();
  auto c = Start();
  const std::uint64_t c_id = Id(c);
  const std::uint64_t b_id = Id(b);
  EndSpan(std::move(a));
  EXPECT_EQ(Published(), c_id);
  EndSpan(std::move(c));
  EXPECT_EQ(Published(), b_id);
  EndSpan(std::move(b));
  EXPECT_EQ(Published(), 0u);
}

TEST_F(ContextStackTest, MovesBetweenThreads) {
  auto span = Start();
  Detach(ThisThread(), span.get());
  EXPECT_EQ(Published(), 0u);
  std::thread([&] {
    Attach(ThisThread(), span.get());
    EXPECT_EQ(Published(), Id(span));
    Detach(ThisThread(), span.get());
    EXPECT_EQ(Published(), 0u);
  }).join();
  Attach(ThisThread(), span.get());
  EXPECT_EQ(Published(), Id(span));
  EndSpan(std::move(span));
  EXPECT_EQ(queue_.TakeAll().size(), 1u);
}

TEST_F(ContextStackTest, AttachingTwiceAndDetachingElsewhereDoNothing) {
  auto span = Start();
  Attach(ThisThread(), span.get());
  std::thread([&] { Detach(ThisThread(), span.get()); }).join();
  EXPECT_EQ(Published(), Id(span));
  EndSpan(std::move(span));
  EXPECT_EQ(CurrentContext(ThisThread()), nullptr);
}

TEST_F(ContextStackTest, SpanEndedOnAnotherThreadLeavesWhenItsThreadComesBy) {
  auto outer = Start();
  auto inner = Start();
  std::thread([&] { EndSpan(std::move(inner)); }).join();
  EXPECT_EQ(queue_.TakeAll().size(), 1u);
  EXPECT_EQ(IdOf(*CurrentContext(ThisThread())), Id(outer));
  EndSpan(std::move(outer));
  EXPECT_EQ(CurrentContext(ThisThread()), nullptr);
}

TEST_F(ContextStackTest, SpanOutlivesItsThread) {
  std::unique_ptr<SpanHandle> span;
  std::thread([&] { span = Start(); }).join();
  Attach(ThisThread(), span.get());
  EXPECT_EQ(Published(), Id(span));
  EndSpan(std::move(span));
  EXPECT_EQ(queue_.TakeAll().size(), 1u);
}

TEST_F(ContextStackTest, AttachedContextsNestWithSpans) {
  ThreadState& thread = ThisThread();
  AttachContext(thread, Context(7));
  EXPECT_EQ(Published(), 0x0707070707070707u);
  auto span = Start();
  EXPECT_EQ(span->record, nullptr);  // the parent is not sampled
  EXPECT_EQ(Published(), 0u);        // so its samples carry nothing
  AttachContext(thread, Context(9));
  EXPECT_EQ(Published(), 0x0909090909090909u);
  DetachContext(thread);
  EXPECT_EQ(IdOf(*CurrentContext(thread)), Id(span));
  EndSpan(std::move(span));
  EXPECT_EQ(Published(), 0x0707070707070707u);
  DetachContext(thread);
  EXPECT_EQ(Published(), 0u);
  DetachContext(thread);
}

TEST_F(ContextStackTest, DeepNestingIsCountedNotTracked) {
  ThreadState& thread = ThisThread();
  const std::size_t depth = limits::kAgentContextDepthMax + 10;
  for (std::size_t i = 0; i < depth; ++i) AttachContext(thread, Context(1));
  for (std::size_t i = 0; i + 1 < depth; ++i) DetachContext(thread);
  EXPECT_NE(CurrentContext(thread), nullptr);
  DetachContext(thread);
  EXPECT_EQ(CurrentContext(thread), nullptr);
}

TEST_F(ContextStackTest, EndingASpanWhenTheQueueIsFullCountsIt) {
  for (int i = 0; i < 103; ++i) EndSpan(Start());
  EXPECT_EQ(stats_.spans_ended, 103u);
  EXPECT_EQ(stats_.spans_dropped, 3u);
}

}  // namespace
}  // namespace hotspan::agent
