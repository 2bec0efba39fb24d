#include "agent/lock_wait.h"

#include <errno.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <thread>

#include "agent/hotspan.hpp"
#include "agent/lock_interpose.h"
#include "agent/lock_test_support.h"
#include "agent/test_http_server.h"
#include "agent/test_otlp_reader.h"
#include "base/raw/syscalls.h"

namespace hotspan {
namespace {

using agent::AwaitBlocked;
using agent::kHoldNs;
using agent::ReadSpan;
using agent::SpinFor;

// Taken while static objects are made, before this library or main ran.
struct LocksBeforeMain {
  LocksBeforeMain() {
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
    errors += pthread_mutex_lock(&mutex) + pthread_mutex_unlock(&mutex);
    errors += pthread_rwlock_rdlock(&lock) + pthread_rwlock_unlock(&lock);
    errors += pthread_rwlock_wrlock(&lock) + pthread_rwlock_unlock(&lock);
  }
  int errors = 0;
};
const LocksBeforeMain g_before_main __attribute__((init_priority(101)));

// HoldAndWait, where the waiter is in a span or not.
std::int64_t HoldAndWait(const std::function<void()>& hold, const std::function<void()>& release,
                         const std::function<void()>& wait, bool in_span = true) {
  return agent::HoldAndWait(hold, release, [&](std::atomic<std::uint32_t>& waiter) {
    std::unique_ptr<Span> span;
    if (in_span) span = std::make_unique<Span>("waiter");
    waiter.store(raw::GetTid());
    wait();
  });
}

class LockWaitTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!agent::LocksAreInterposed()) GTEST_SKIP() << "locks are not interposed in this build";
    ASSERT_TRUE(agent_.started());
  }

  std::map<std::string, ReadSpan> Spans() {
    EXPECT_TRUE(agent_.Flush(agent::kPatienceMs));
    std::map<std::string, ReadSpan> spans;
    for (const auto& request : server_.WaitFor(1, "/v1/traces")) {
      for (const ReadSpan& span : agent::ReadSpans(request.body)) spans[span.name] = span;
    }
    return spans;
  }

  // The one wait of the span "waiter".
  void ExpectWait(const std::map<std::string, ReadSpan>& spans, std::int64_t at_least_ns,
                  const std::string& kind) {
    ASSERT_TRUE(spans.contains("waiter"));
    const ReadSpan& waiter = spans.at("waiter");
    ASSERT_EQ(waiter.events, std::vector<std::string>{"lock.wait"});
    const std::map<std::string, std::string>& wait = waiter.event_attributes[0];
    EXPECT_GE(std::stoll(wait.at("lock.wait_ns")), at_least_ns);
    EXPECT_EQ(wait.at("lock.kind"), kind);
    EXPECT_GE(waiter.event_times[0], waiter.start);
    EXPECT_LE(waiter.event_times[0] + static_cast<std::uint64_t>(at_least_ns), waiter.end);
  }
  static void ExpectHolder(const ReadSpan& waiter, const ReadSpan& holder) {
    const std::map<std::string, std::string>& wait = waiter.event_attributes.at(0);
    EXPECT_EQ(wait.at("lock.holder.trace_id"), holder.trace_id);
    EXPECT_EQ(wait.at("lock.holder.span_id"), holder.span_id);
    EXPECT_NE(holder.trace_id, waiter.trace_id);
  }

  agent::TestHttpServer server_;
  Agent agent_{{.service_name = "lock-test",
                .service_version = {},
                .endpoint = server_.Url(),
                .cpu_hz = -1,
                .verbose = false}};
};

TEST_F(LockWaitTest, WaitForAMutexIsMeasuredAndItsHolderNamed) {
  std::mutex mutex;
  std::int64_t held = 0;
  {
    const Span holder("holder");
    held = HoldAndWait([&] { mutex.lock(); }, [&] { mutex.unlock(); },
                       [&] { const std::lock_guard lock(mutex); });
  }
  const auto spans = Spans();
  ExpectWait(spans, held, "mutex");
  ExpectHolder(spans.at("waiter"), spans.at("holder"));
  EXPECT_TRUE(spans.at("holder").events.empty());
}

TEST_F(LockWaitTest, InnermostSpanOfTheHolderIsNamed) {
  std::mutex mutex;
  {
    const Span outer("outer");
    mutex.lock();
    const Span inner("inner");
    HoldAndWait([] {}, [&] { mutex.unlock(); }, [&] { const std::lock_guard lock(mutex); });
  }
  const auto spans = Spans();
  ExpectWait(spans, kHoldNs, "mutex");
  ExpectHolder(spans.at("waiter"), spans.at("inner"));
}

TEST_F(LockWaitTest, HolderWithoutASpanIsNotNamed) {
  std::mutex mutex;
  {
    const Span earlier("earlier");
    const std::lock_guard lock(mutex);
  }
  HoldAndWait([&] { mutex.lock(); }, [&] { mutex.unlock(); },
              [&] { const std::lock_guard lock(mutex); });
  const auto spans = Spans();
  ExpectWait(spans, kHoldNs, "mutex");
  EXPECT_FALSE(spans.at("waiter").event_attributes[0].contains("lock.holder.span_id"));
}

TEST_F(LockWaitTest, HolderAfterAConditionWaitIsTheOneThatWokeUp) {
  std::mutex mutex;
  std::condition_variable condition;
  bool is_woken = false;
  std::atomic<bool> is_held{false};
  std::atomic<bool> may_end{false};
  std::thread sleeper([&] {
    const Span span("woken");
    std::unique_lock lock(mutex);
    while (!is_woken) condition.wait(lock);
    is_held.store(true);
    while (!may_end.load()) sched_yield();
  });
  {
    const Span span("waker");
    const std::lock_guard lock(mutex);
    is_woken = true;
  }
  condition.notify_one();
  while (!is_held.load()) sched_yield();
  HoldAndWait([] {}, [&] { may_end.store(true); }, [&] { const std::lock_guard lock(mutex); });
  sleeper.join();
  const auto spans = Spans();
  ExpectWait(spans, kHoldNs, "mutex");
  ExpectHolder(spans.at("waiter"), spans.at("woken"));
}

TEST_F(LockWaitTest, ReaderWaitsForAWriterThatIsNamed) {
  std::shared_mutex mutex;
  std::int64_t held = 0;
  {
    const Span holder("holder");
    held = HoldAndWait([&] { mutex.lock(); }, [&] { mutex.unlock(); },
                       [&] { const std::shared_lock lock(mutex); });
  }
  const auto spans = Spans();
  ExpectWait(spans, held, "rwlock read");
  ExpectHolder(spans.at("waiter"), spans.at("holder"));
}

TEST_F(LockWaitTest, WriterWaitsForReadersThatAreNot) {
  std::shared_mutex mutex;
  std::int64_t held = 0;
  {
    const Span holder("holder");
    held = HoldAndWait([&] { mutex.lock_shared(); }, [&] { mutex.unlock_shared(); },
                       [&] { const std::unique_lock lock(mutex); });
  }
  const auto spans = Spans();
  ExpectWait(spans, held, "rwlock write");
  EXPECT_FALSE(spans.at("waiter").event_attributes[0].contains("lock.holder.span_id"));
}

TEST_F(LockWaitTest, FreeLocksLeaveNoEvent) {
  std::mutex mutex;
  std::recursive_mutex recursive;
  std::shared_mutex shared;
  {
    const Span span("free");
    for (int i = 0; i < 1000; ++i) {
      const std::lock_guard first(mutex);
      const std::lock_guard second(recursive);
      const std::lock_guard third(recursive);
      const std::shared_lock read(shared);
    }
    const std::unique_lock write(shared);
  }
  EXPECT_TRUE(Spans().at("free").events.empty());
}

TEST_F(LockWaitTest, WaitOutsideOfSpansLeavesNothing) {
  std::mutex mutex;
  {
    const Span holder("holder");
    HoldAndWait([&] { mutex.lock(); }, [&] { mutex.unlock(); },
                [&] { const std::lock_guard lock(mutex); }, false);
  }
  EXPECT_TRUE(Spans().at("holder").events.empty());
}

TEST_F(LockWaitTest, SpanThatEndsOnAnotherThreadKeepsItsWait) {
  std::mutex mutex;
  mutex.lock();
  Span span("waiter");
  span.Detach();
  std::atomic<std::uint32_t> waiter{0};
  std::thread thread([&] {
    span.Attach();
    waiter.store(raw::GetTid());
    const std::lock_guard lock(mutex);
    span.Detach();
  });
  AwaitBlocked(waiter);
  SpinFor(kHoldNs);
  mutex.unlock();
  thread.join();
  {
    const Span ended_here = std::move(span);
  }
  ExpectWait(Spans(), kHoldNs, "mutex");
}

TEST_F(LockWaitTest, ConditionVariablesWorkUnderContention) {
  constexpr int kRounds = 2000;
  std::mutex mutex;
  std::condition_variable condition;
  int turn = 0;
  const auto play = [&](int own) {
    const Span span("player");
    for (int i = 0; i < kRounds; ++i) {
      std::unique_lock lock(mutex);
      while (turn % 2 != own) condition.wait(lock);
      ++turn;
      condition.notify_one();
    }
  };
  std::thread other([&] { play(1); });
  play(0);
  other.join();
  EXPECT_EQ(turn, 2 * kRounds);
}

TEST_F(LockWaitTest, ChildAfterAForkMeasuresItsOwnWaits) {
  const Span open("open");
  const pid_t pid = ::fork();
  if (pid == 0) {
    std::mutex mutex;
    {
      // The first span starts the library anew.
      const Span first("first");
    }
    HoldAndWait([&] { mutex.lock(); }, [&] { mutex.unlock(); },
                [&] { const std::lock_guard lock(mutex); });
    const bool sent = hotspan_flush(agent::kPatienceMs) == 0;
    ::_exit(sent ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(pid, &status, 0), pid);
  EXPECT_EQ(status, 0);
  std::map<std::string, ReadSpan> spans;
  for (const auto& request : server_.WaitFor(1, "/v1/traces")) {
    for (const ReadSpan& span : agent::ReadSpans(request.body)) spans[span.name] = span;
  }
  ExpectWait(spans, kHoldNs, "mutex");
}

// Codes of the interposed functions, outside of a span as well as inside.
class LockCodesTest : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    if (!agent::LocksAreInterposed()) GTEST_SKIP() << "locks are not interposed in this build";
  }

  LockCodesTest() {
    hotspan_context context{};
    context.trace_id[0] = context.span_id[0] = 1;
    if (GetParam()) hotspan_ctx_attach(&context);
  }
  ~LockCodesTest() override {
    if (GetParam()) hotspan_ctx_detach();
  }

  static void Init(pthread_mutex_t* mutex, int type, int robust, int protocol) {
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, type);
    pthread_mutexattr_setrobust(&attributes, robust);
    pthread_mutexattr_setprotocol(&attributes, protocol);
    ASSERT_EQ(pthread_mutex_init(mutex, &attributes), 0);
    pthread_mutexattr_destroy(&attributes);
  }
};
INSTANTIATE_TEST_SUITE_P(InAndOutOfSpans, LockCodesTest, testing::Bool());

TEST_P(LockCodesTest, LocksTakenBeforeMainWork) { EXPECT_EQ(g_before_main.errors, 0); }

TEST_P(LockCodesTest, ErrorCheckMutexTellsOfADeadlock) {
  pthread_mutex_t mutex;
  Init(&mutex, PTHREAD_MUTEX_ERRORCHECK, PTHREAD_MUTEX_STALLED, PTHREAD_PRIO_NONE);
  EXPECT_EQ(pthread_mutex_lock(&mutex), 0);
  EXPECT_EQ(pthread_mutex_lock(&mutex), EDEADLK);
  EXPECT_EQ(pthread_mutex_unlock(&mutex), 0);
  EXPECT_EQ(pthread_mutex_unlock(&mutex), EPERM);
}

TEST_P(LockCodesTest, RecursiveMutexCounts) {
  pthread_mutex_t mutex;
  Init(&mutex, PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_STALLED, PTHREAD_PRIO_NONE);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(pthread_mutex_lock(&mutex), 0);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(pthread_mutex_unlock(&mutex), 0);
  EXPECT_EQ(pthread_mutex_unlock(&mutex), EPERM);
}

TEST_P(LockCodesTest, RobustMutexTellsThatItsOwnerDied) {
  pthread_mutex_t mutex;
  Init(&mutex, PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_ROBUST, PTHREAD_PRIO_NONE);
  const auto die_with_it = [&] { std::thread([&] { pthread_mutex_lock(&mutex); }).join(); };
  die_with_it();
  EXPECT_EQ(pthread_mutex_lock(&mutex), EOWNERDEAD);
  EXPECT_EQ(pthread_mutex_consistent(&mutex), 0);
  EXPECT_EQ(pthread_mutex_unlock(&mutex), 0);
  EXPECT_EQ(pthread_mutex_lock(&mutex), 0);
  EXPECT_EQ(pthread_mutex_unlock(&mutex), 0);
  die_with_it();
  EXPECT_EQ(pthread_mutex_lock(&mutex), EOWNERDEAD);
  EXPECT_EQ(pthread_mutex_unlock(&mutex), 0);
  EXPECT_EQ(pthread_mutex_lock(&mutex), ENOTRECOVERABLE);
}

TEST_P(LockCodesTest, PriorityInheritingAndAdaptiveMutexesWork) {
  pthread_mutex_t inheriting;
  Init(&inheriting, PTHREAD_MUTEX_ERRORCHECK, PTHREAD_MUTEX_STALLED, PTHREAD_PRIO_INHERIT);
  EXPECT_EQ(pthread_mutex_lock(&inheriting), 0);
  EXPECT_EQ(pthread_mutex_lock(&inheriting), EDEADLK);
  EXPECT_EQ(pthread_mutex_unlock(&inheriting), 0);
  pthread_mutex_t adaptive;
  Init(&adaptive, PTHREAD_MUTEX_ADAPTIVE_NP, PTHREAD_MUTEX_STALLED, PTHREAD_PRIO_NONE);
  EXPECT_EQ(pthread_mutex_lock(&adaptive), 0);
  EXPECT_EQ(pthread_mutex_unlock(&adaptive), 0);
}

TEST_P(LockCodesTest, RwlockTellsOfADeadlock) {
  pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
  EXPECT_EQ(pthread_rwlock_wrlock(&lock), 0);
  EXPECT_EQ(pthread_rwlock_wrlock(&lock), EDEADLK);
  EXPECT_EQ(pthread_rwlock_rdlock(&lock), EDEADLK);
  EXPECT_EQ(pthread_rwlock_unlock(&lock), 0);
  EXPECT_EQ(pthread_rwlock_rdlock(&lock), 0);
  EXPECT_EQ(pthread_rwlock_rdlock(&lock), 0);
  EXPECT_EQ(pthread_rwlock_unlock(&lock), 0);
  EXPECT_EQ(pthread_rwlock_unlock(&lock), 0);
}

TEST(WaitQueue, GivesBackInOrderAndRefusesMoreThanItHolds) {
  const auto queue = std::make_unique<agent::WaitQueue<int, 4>>();
  int value = 0;
  EXPECT_FALSE(queue->Pop(&value));
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 4; ++i)
      EXPECT_TRUE(queue->Push([&](int& place) { place = 10 * round + i; }));
    EXPECT_FALSE(queue->Push([](int&) {}));
    for (int i = 0; i < 4; ++i) {
      ASSERT_TRUE(queue->Pop(&value));
      EXPECT_EQ(value, 10 * round + i);
    }
    EXPECT_FALSE(queue->Pop(&value));
  }
  queue->Push([](int& place) { place = 1; });
  queue->Reset();
  EXPECT_FALSE(queue->Pop(&value));
}

TEST(WaitQueue, LosesNothingBetweenThreads) {
  constexpr int kEach = 20'000;
  const auto queue = std::make_unique<agent::WaitQueue<int, 64>>();
  std::atomic<std::int64_t> pushed{0};
  std::atomic<int> writing{3};
  std::vector<std::thread> writers;
  for (int i = 0; i < 3; ++i) {
    writers.emplace_back([&] {
      for (int n = 1; n <= kEach; ++n) {
        if (queue->Push([&](int& place) { place = n; })) pushed.fetch_add(n);
      }
      writing.fetch_sub(1);
    });
  }
  std::int64_t popped = 0;
  int value = 0;
  for (bool is_last = false; !is_last;) {
    is_last = writing.load() == 0;
    while (queue->Pop(&value)) popped += value;
  }
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(popped, pushed.load());
}

}  // namespace
}  // namespace hotspan
