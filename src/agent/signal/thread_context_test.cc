#include "agent/signal/thread_context.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <thread>

#include "agent/signal/thread_slot.h"
#include "base/raw/syscalls.h"

namespace hotspan::agent {
namespace {

constexpr std::uint8_t kTrace[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
constexpr std::uint8_t kSpan[8] = {21, 22, 23, 24, 25, 26, 27, 28};

TEST(ThreadContext, LiesAsExternalReadersExpectIt) {
  EXPECT_EQ(offsetof(ThreadContextRecord, span_id), 16u);
  EXPECT_EQ(offsetof(ThreadContextRecord, valid), 24u);
  EXPECT_EQ(offsetof(ThreadContextRecord, trace_flags), 25u);
  EXPECT_EQ(offsetof(ThreadContextRecord, attributes_size), 26u);
  std::thread([] {
    EXPECT_EQ(otel_thread_ctx_v1, nullptr);
    PublishContext(kTrace, kSpan, 1);
    ASSERT_NE(otel_thread_ctx_v1, nullptr);
    EXPECT_EQ(otel_thread_ctx_v1->valid, 1);
    EXPECT_EQ(otel_thread_ctx_v1->trace_flags, 1);
    EXPECT_EQ(std::memcmp(otel_thread_ctx_v1->span_id, kSpan, 8), 0);
    ClearContext();
    EXPECT_EQ(otel_thread_ctx_v1->valid, 0);
  }).join();
}

TEST(ThreadContext, IsOfItsThreadAlone) {
  PublishContext(kTrace, kSpan, 0);
  ThreadContextRecord read{};
  EXPECT_TRUE(ReadContext(&read));
  EXPECT_EQ(std::memcmp(read.trace_id, kTrace, 16), 0);
  std::thread([] {
    ThreadContextRecord other{};
    EXPECT_FALSE(ReadContext(&other));
  }).join();
  ClearContext();
  EXPECT_FALSE(ReadContext(&read));
}

TEST(ThreadContext, IsAnnouncedToTheSamplersOfTheProcess) {
  std::thread([] {
    EXPECT_EQ(FindSlot(raw::GetTid()), nullptr);
    PublishContext(kTrace, kSpan, 0);
    ThreadSlot* slot = FindSlot(raw::GetTid());
    ASSERT_NE(slot, nullptr);
    EXPECT_EQ(slot->context.load(), otel_thread_ctx_v1);
    EXPECT_EQ(CurrentSlot(), slot);
    ReleaseSlot(slot);
  }).join();
}

TEST(ThreadSlot, IsFoundUntilReleasedAndHasABound) {
  ReleaseAllSlots();
  bool is_new = false;
  // All these hash to one place and its neighbours.
  std::size_t claimed = 0;
  for (std::uint32_t i = 1; i <= 100; ++i) {
    if (ClaimSlot(i * kSlotsMax, &is_new) != nullptr) ++claimed;
  }
  EXPECT_EQ(claimed, 64u);
  ThreadSlot* slot = FindSlot(5 * kSlotsMax);
  ASSERT_NE(slot, nullptr);
  EXPECT_EQ(ClaimSlot(5 * kSlotsMax, &is_new), slot);
  EXPECT_FALSE(is_new);
  ReleaseSlot(FindSlot(1 * kSlotsMax));
  EXPECT_EQ(FindSlot(5 * kSlotsMax), slot);
  EXPECT_NE(ClaimSlot(100 * kSlotsMax, &is_new), nullptr);
  EXPECT_TRUE(is_new);
  ReleaseAllSlots();
  EXPECT_EQ(FindSlot(5 * kSlotsMax), nullptr);
}

}  // namespace
}  // namespace hotspan::agent
