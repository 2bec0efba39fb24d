#include <gtest/gtest.h>

#include <mutex>

#include "agent/lock_interpose.h"
#include "agent/lock_test_support.h"
#include "agent/profiler.h"
#include "agent/profiler_test_support.h"

namespace hotspan::agent {
namespace {

NOINLINE void TakeItInVain(std::mutex& mutex) {
  const std::lock_guard lock(mutex);
  __asm__ volatile("" ::: "memory");
}

class LockProfileTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!LocksAreInterposed()) GTEST_SKIP() << "locks are not interposed in this build";
  }
  void TearDown() override {
    Profiler::Instance().Stop();
    Profiler::Instance().Drain();
  }

  static void Start(bool locks) {
    ProfilerOptions options;
    options.off_cpu = false;
    options.locks = locks;
    std::string why_not;
    ASSERT_TRUE(Profiler::Instance().Start(options, &why_not)) << why_not;
  }

  // Samples of one wait inside a span, and its least time.
  std::vector<CollectedSample> WaitOnce() {
    std::mutex mutex;
    held_ns_ = HoldAndWait([&] { mutex.lock(); }, [&] { mutex.unlock(); },
                           [&](std::atomic<std::uint32_t>& waiter) {
                             const TestContext context(7);
                             waiter_ = raw::GetTid();
                             waiter.store(waiter_);
                             TakeItInVain(mutex);
                           });
    chunk_ = Profiler::Instance().Drain();
    std::vector<CollectedSample> found;
    for (const CollectedSample& sample : chunk_.samples) {
      if (sample.kind == SampleKind::kLock) found.push_back(sample);
    }
    return found;
  }

  std::int64_t held_ns_ = 0;
  std::uint32_t waiter_ = 0;
  ProfileChunk chunk_;
};

TEST_F(LockProfileTest, WaitIsOneSampleWithItsTimeSpanAndStack) {
  Start(true);
  const std::vector<CollectedSample> samples = WaitOnce();
  ASSERT_EQ(samples.size(), 1u);
  const CollectedSample& sample = samples[0];
  EXPECT_GE(sample.value_ns, held_ns_);
  EXPECT_EQ(sample.thread_id, waiter_);
  EXPECT_EQ(sample.span_id[0], 7);
  EXPECT_EQ(sample.trace_id[15], 7);
  EXPECT_GE(sample.time_ns, chunk_.start_ns);
  EXPECT_LE(sample.time_ns, chunk_.end_ns);
  const std::string stack = StackText(chunk_, sample);
  EXPECT_EQ(stack.rfind("pthread_mutex_lock;", 0), 0u) << stack;
  EXPECT_EQ(CountFrames(chunk_, sample, "TakeItInVain"), 1) << stack;
  // Up to where the thread began.
  EXPECT_EQ(CountFrames(chunk_, sample, "RunThread"), 1) << stack;
}

TEST_F(LockProfileTest, NothingIsTakenWhereItIsOff) {
  Start(false);
  EXPECT_TRUE(WaitOnce().empty());
  LockWait wait;
  EXPECT_FALSE(TakeLockWait(&wait));
}

}  // namespace
}  // namespace hotspan::agent
