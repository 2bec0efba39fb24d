#include "agent/profiler.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <thread>

#include "agent/hrtimer_sampler.h"
#include "agent/module_map.h"
#include "agent/profiler_test_support.h"

namespace hotspan::agent {
namespace {

// Starts the profiler for one test, at a rate that gives many samples in little time.
class Running {
 public:
  explicit Running(int cpu_hz = 1000, const char* sampler = nullptr) {
    if (sampler != nullptr) setenv("HOTSPAN_SAMPLER", sampler, 1);
    ProfilerOptions options;
    options.cpu_hz = cpu_hz;
    options.off_cpu = false;
    started_ = Profiler::Instance().Start(options, &why_not_);
    if (sampler != nullptr) unsetenv("HOTSPAN_SAMPLER");
    Profiler::Instance().Drain();
  }
  ~Running() {
    Profiler::Instance().Stop();
    Profiler::Instance().Drain();
  }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

  bool started() const { return started_; }
  const std::string& why_not() const { return why_not_; }

 private:
  bool started_ = false;
  std::string why_not_;
};

NOINLINE int RecurseAndBurn(int depth, std::uint64_t ms) {
  if (depth == 0) {
    BurnCpu(ms);
    return 1;
  }
  const int below = RecurseAndBurn(depth - 1, ms);
  // What remains to be done here keeps the call from becoming a jump.
  __asm__ volatile("" ::: "memory");
  return below + depth;
}

TEST(Profiler, WalksARecursionToMainWithoutFramePointers) {
  Running running;
  ASSERT_TRUE(running.started()) << running.why_not();
  constexpr int kDepth = 20;
  RecurseAndBurn(kDepth, 200);
  const ProfileChunk chunk = Profiler::Instance().Drain();
  int with_recursion = 0;
  for (const CollectedSample& sample : chunk.samples) {
    if (CountFrames(chunk, sample, "RecurseAndBurn") != kDepth + 1) continue;
    ++with_recursion;
    EXPECT_GE(CountFrames(chunk, sample, "main"), 1) << StackText(chunk, sample);
    EXPECT_EQ(chunk.locations[chunk.stacks[sample.stack].back()].function, "_start")
        << StackText(chunk, sample);
  }
  EXPECT_GE(with_recursion, 5);
  EXPECT_EQ(chunk.dropped, 0u);
  EXPECT_EQ(chunk.sampler, Profiler::Instance().SamplerName());
}

TEST(Profiler, GivesModulesWithBuildIdsAndOffsetsInsideOfThem) {
  Running running;
  RecurseAndBurn(1, 100);
  const ProfileChunk chunk = Profiler::Instance().Drain();
  ASSERT_FALSE(chunk.samples.empty());
  EXPECT_LE(chunk.start_ns, chunk.samples[0].time_ns);
  EXPECT_GE(chunk.end_ns, chunk.samples[0].time_ns);
  for (const CodeLocation& location : chunk.locations) {
    if (location.module == kNoModule) continue;
    ASSERT_LT(location.module, chunk.modules.size());
    const Module& module = chunk.modules[location.module];
    EXPECT_FALSE(module.path.empty());
    EXPECT_GE(location.file_offset, module.file_offset);
    EXPECT_LT(location.file_offset - module.file_offset, module.limit - module.start);
  }
  for (const Module& module : chunk.modules) {
    if (module.path.find("libc.so") != std::string::npos) {
      EXPECT_EQ(module.build_id.size(), 40u);
    }
  }
}

NOINLINE void BusyInSpan(std::uint64_t ms) {
  BurnCpu(ms);
  __asm__ volatile("");
}
NOINLINE void BusyOutsideOfSpan(std::uint64_t ms) {
  BurnCpu(ms);
  __asm__ volatile("");
}

TEST(Profiler, SamplesInsideOfASpanCarryItAndOthersNone) {
  Running running;
  for (int i = 0; i < 20; ++i) {
    {
      const TestContext context(7);
      BusyInSpan(10);
    }
    BusyOutsideOfSpan(10);
  }
  const ProfileChunk chunk = Profiler::Instance().Drain();
  int inside = 0;
  int outside = 0;
  for (const CollectedSample& sample : chunk.samples) {
    if (CountFrames(chunk, sample, "BusyInSpan") > 0) {
      ++inside;
      EXPECT_EQ(sample.span_id[0], 7);
      EXPECT_EQ(sample.trace_id[15], 7);
    } else if (CountFrames(chunk, sample, "BusyOutsideOfSpan") > 0) {
      ++outside;
      EXPECT_EQ(sample.span_id, (std::array<std::uint8_t, 8>{}));
    }
  }
  EXPECT_GE(inside, 5);
  EXPECT_GE(outside, 5);
}

// Functions of their own names: short names leave template arguments out.
#define BUSY_AS(number)                                  \
  NOINLINE void BusyAs##number##Does(std::uint64_t ms) { \
    BurnCpu(ms);                                         \
    __asm__ volatile("" ::"i"(number));                  \
  }
BUSY_AS(1)
BUSY_AS(2)
BUSY_AS(3)
BUSY_AS(4)
BUSY_AS(5)
BUSY_AS(6)
BUSY_AS(8)
BUSY_AS(9)
BUSY_AS(10)
BUSY_AS(11)
BUSY_AS(20)
BUSY_AS(70)
#undef BUSY_AS

TEST(Profiler, ContextsOfTwoThreadsNeverMix) {
  Running running;
  // Each enters and leaves its span all the time: in BusyAs it is always inside.
  const auto work = [](std::uint8_t number, void (*busy)(std::uint64_t)) {
    for (int i = 0; i < 40; ++i) {
      const TestContext context(number);
      busy(5);
    }
  };
  std::thread one(work, std::uint8_t{1}, BusyAs1Does);
  std::thread two(work, std::uint8_t{2}, BusyAs2Does);
  one.join();
  two.join();
  const ProfileChunk chunk = Profiler::Instance().Drain();
  std::array<int, 3> seen{};
  for (const CollectedSample& sample : chunk.samples) {
    for (const int number : {1, 2}) {
      if (CountFrames(chunk, sample, "BusyAs" + std::to_string(number) + "Does") == 0) continue;
      ++seen[static_cast<std::size_t>(number)];
      EXPECT_EQ(sample.span_id[3], number);
    }
  }
  EXPECT_GE(seen[1], 5);
  EXPECT_GE(seen[2], 5);
}

// Milliseconds by which the three take turns; their sum is no multiple of a tick.
TEST(Profiler, SharesOfFunctionsFollowTheirCpuTime) {
  Running running;
  const std::uint64_t started = TestClockNs(CLOCK_THREAD_CPUTIME_ID);
  for (int i = 0; i < 100; ++i) {
    BusyAs70Does(7);
    BusyAs20Does(2);
    BusyAs10Does(1);
  }
  const double truth = static_cast<double>(TestClockNs(CLOCK_THREAD_CPUTIME_ID) - started);
  const ProfileChunk chunk = Profiler::Instance().Drain();
  double total = 0;
  std::array<double, 3> shares{};
  int count = 0;
  for (const CollectedSample& sample : chunk.samples) {
    for (const int number : {70, 20, 10}) {
      if (CountFrames(chunk, sample, "BusyAs" + std::to_string(number) + "Does") == 0) continue;
      shares[number == 70 ? 0u : number == 20 ? 1u : 2u] += static_cast<double>(sample.value_ns);
      total += static_cast<double>(sample.value_ns);
      ++count;
    }
  }
  ASSERT_GT(count, 50);
  // One sigma of the first share is 0.46 / sqrt(count); tick-driven timers are biased besides.
  const double bias = std::string(Profiler::Instance().SamplerName()) == "perf" ? 0.02 : 0.15;
  const double margin = 6 * 0.46 / std::sqrt(static_cast<double>(count)) + bias;
  EXPECT_NEAR(shares[0] / total, 0.7, margin);
  EXPECT_NEAR(shares[1] / total, 0.2, margin);
  EXPECT_NEAR(shares[2] / total, 0.1, margin);
  EXPECT_NEAR(total / truth, 1.0, 0.3);
}

struct ModuleCall {
  std::uint64_t ms;
};
NOINLINE void CalledFromModule(void* argument) {
  BurnCpu(static_cast<const ModuleCall*>(argument)->ms);
  __asm__ volatile("");
}

TEST(Profiler, WalksThroughAModuleThatWasLoadedLater) {
  Running running;
  void* module = dlopen(HOTSPAN_TEST_MODULE, RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(module, nullptr) << dlerror();
  const auto call =
      reinterpret_cast<int (*)(void (*)(void*), void*)>(dlsym(module, "hotspan_test_module_call"));
  ASSERT_NE(call, nullptr);
  Profiler::Instance().Poll();
  Profiler::Instance().Drain();
  ModuleCall argument{100};
  call(CalledFromModule, &argument);
  const ProfileChunk chunk = Profiler::Instance().Drain();
  dlclose(module);
  int through = 0;
  for (const CollectedSample& sample : chunk.samples) {
    if (CountFrames(chunk, sample, "CalledFromModule") == 0) continue;
    ++through;
    EXPECT_EQ(CountFrames(chunk, sample, "hotspan_test_module_call"), 1);
    EXPECT_GE(CountFrames(chunk, sample, "main"), 1) << StackText(chunk, sample);
  }
  EXPECT_GE(through, 5);
}

TEST(Profiler, ChildAfterForkIsSampledAndParentStillIs) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "its runtime allows no threads in the child";
#endif
  Running running;
  BusyAs3Does(50);
  const pid_t child = fork();
  if (child == 0) {
    BusyAs4Does(200);
    const ProfileChunk chunk = Profiler::Instance().Drain();
    int own = 0;
    int foreign = 0;
    for (const CollectedSample& sample : chunk.samples) {
      own += CountFrames(chunk, sample, "BusyAs4Does") > 0 ? 1 : 0;
      foreign += CountFrames(chunk, sample, "BusyAs3Does") > 0 ? 1 : 0;
    }
    _exit(own < 5 ? 1 : foreign > 0 ? 2 : 0);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  BusyAs5Does(100);
  const ProfileChunk chunk = Profiler::Instance().Drain();
  int before = 0;
  int after = 0;
  for (const CollectedSample& sample : chunk.samples) {
    before += CountFrames(chunk, sample, "BusyAs3Does") > 0 ? 1 : 0;
    after += CountFrames(chunk, sample, "BusyAs5Does") > 0 ? 1 : 0;
  }
  EXPECT_GE(before, 3);
  EXPECT_GE(after, 3);
}

class ProfilerSampler : public testing::TestWithParam<const char*> {};

TEST_P(ProfilerSampler, TakesStacksOfNewAndOldThreads) {
  std::atomic<bool> go{false};
  std::thread old([&go] {
    while (!go.load()) std::this_thread::yield();
    BusyAs8Does(200);
  });
  {
    Running running(1000, GetParam());
    if (!running.started()) {
      go.store(true);
      old.join();
      GTEST_SKIP() << running.why_not();
    }
    EXPECT_STREQ(Profiler::Instance().SamplerName(), GetParam());
    std::thread young([] { BusyAs9Does(200); });
    // The old thread's stack is found at a poll once it was seen running.
    go.store(true);
    while (Profiler::Instance().Stats().samples_taken < 5) Profiler::Instance().Poll();
    old.join();
    young.join();
    const ProfileChunk chunk = Profiler::Instance().Drain();
    int olds = 0;
    int youngs = 0;
    for (const CollectedSample& sample : chunk.samples) {
      olds += CountFrames(chunk, sample, "BusyAs8Does") > 0 ? 1 : 0;
      youngs += CountFrames(chunk, sample, "BusyAs9Does") > 0 ? 1 : 0;
    }
    EXPECT_GE(olds, 3);
    EXPECT_GE(youngs, 3);
  }
  EXPECT_STREQ(Profiler::Instance().SamplerName(), "off");
}

INSTANTIATE_TEST_SUITE_P(Samplers, ProfilerSampler, testing::Values("perf", "hrtimer", "cpu-timer"),
                         [](const auto& each) {
                           const std::string name = each.param;
                           return name.substr(0, name.find('-'));
                         });

TEST(Profiler, NeverSamplesItsOwnOrExcludedThreads) {
  Running running;
  std::thread([] {
    Profiler::Instance().ExcludeThisThread();
    BusyAs11Does(100);
    sigset_t blocked;
    pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
    EXPECT_EQ(sigismember(&blocked, SIGTERM), 1);
    EXPECT_GE(Profiler::Instance().AgentCpuNs(), 100'000'000u);
  }).join();
  BusyAs6Does(50);
  const ProfileChunk chunk = Profiler::Instance().Drain();
  for (const CollectedSample& sample : chunk.samples) {
    EXPECT_EQ(CountFrames(chunk, sample, "AgentThread"), 0) << StackText(chunk, sample);
    // Before it was excluded it was any thread, but that was before its work.
    EXPECT_EQ(CountFrames(chunk, sample, "BusyAs11Does"), 0) << StackText(chunk, sample);
  }
}

TEST(Profiler, GivesWaitsOfSpansBesideCpuTime) {
  ProfilerOptions options;
  options.off_cpu = true;
  std::string why_not;
  ASSERT_TRUE(Profiler::Instance().Start(options, &why_not)) << why_not;
  Profiler::Instance().Drain();
  {
    const TestContext context(9);
    timespec pause{0, 300'000'000};
    EXPECT_EQ(nanosleep(&pause, nullptr), 0);
  }
  Profiler::Instance().Stop();
  const ProfileChunk chunk = Profiler::Instance().Drain();
  if (!ThreadStatesAreReadable()) GTEST_SKIP() << "/proc/self/task is hidden";
  std::int64_t slept = 0;
  for (const CollectedSample& sample : chunk.samples) {
    if (CountFrames(chunk, sample, "[sleep] clock_nanosleep") == 0) continue;
    EXPECT_EQ(sample.kind, SampleKind::kOffCpu);
    EXPECT_EQ(sample.span_id[0], 9);
    EXPECT_GE(CountFrames(chunk, sample, "main"), 1) << StackText(chunk, sample);
    slept += sample.value_ns;
  }
  EXPECT_GT(slept, 0);
}

TEST(Profiler, SurvivesManyShortThreadsAndModules) {
  Running running;
  for (int round = 0; round < 30; ++round) {
    std::array<std::thread, 8> threads;
    for (std::thread& thread : threads) thread = std::thread([] { BurnCpu(1); });
    void* module = dlopen(HOTSPAN_TEST_MODULE, RTLD_NOW | RTLD_LOCAL);
    Profiler::Instance().Poll();
    for (std::thread& thread : threads) thread.join();
    if (module != nullptr) dlclose(module);
    Profiler::Instance().Poll();
  }
  EXPECT_EQ(Profiler::Instance().Stats().threads_missed, 0u);
  EXPECT_FALSE(Profiler::Instance().Drain().samples.empty());
}

}  // namespace
}  // namespace hotspan::agent
