// What sampling costs and how right it is: nanoseconds per frame, per signal and per context, the
// slowdown of a busy program with the profiler off and on in turns, the shares of three functions,
// and the shares of ten spans.
//
//   hotspan_bench_agent [--seconds=N] [google-benchmark flags]
#include <benchmark/benchmark.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "agent/lock_interpose.h"
#include "agent/module_map.h"
#include "agent/profiler.h"
#include "agent/signal/handler.h"
#include "agent/signal/thread_context.h"
#include "agent/thread_registry.h"
#include "agent/unwind/unwind.h"
#include "base/raw/syscalls.h"

namespace hotspan::agent {
namespace {

#if defined(__clang__)
#define NOINLINE __attribute__((noinline))
#else
#define NOINLINE __attribute__((noinline, noclone))
#endif

constexpr int kDepth = 40;

double Seconds(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

raw::StackView OwnStack() {
  raw::StackView stack;
  pthread_attr_t attributes;
  pthread_getattr_np(pthread_self(), &attributes);
  void* low = nullptr;
  std::size_t size = 0;
  pthread_attr_getstack(&attributes, &low, &size);
  pthread_attr_destroy(&attributes);
  stack.low = reinterpret_cast<std::uint64_t>(low);
  stack.high = stack.low + size;
  return stack;
}

// Runs `body` under so many frames.
template <typename Body>
NOINLINE int Under(int depth, const Body& body) {
  if (depth == 0) {
    body();
    return 0;
  }
  const int below = Under(depth - 1, body);
  __asm__ volatile("" ::: "memory");
  return below + 1;
}

NOINLINE std::uint32_t WalkHere(const CfiTable& table, const raw::StackView& stack,
                                std::uint64_t* frames) {
  raw::Registers registers;
  __asm__ volatile("leaq (%%rip), %0\n\tmovq %%rsp, %1\n\tmovq %%rbp, %2"
                   : "=r"(registers.pc), "=r"(registers.sp), "=r"(registers.bp));
  return Unwind(table, registers, stack, frames, raw::kFramesMax).frame_count;
}

// What other code does to the caches between two samples.
void TouchMemory() {
  static std::vector<char> other(64u << 20, 1);
  for (std::size_t i = 0; i < other.size(); i += 64) ++other[i];
}

void BM_Unwind(benchmark::State& state) {
  const bool is_cold = state.range(0) != 0;
  ModuleMap modules;
  modules.Refresh();
  const auto snapshot = modules.Current();
  const raw::StackView stack = OwnStack();
  std::array<std::uint64_t, raw::kFramesMax> frames{};
  std::uint32_t count = 0;
  double seconds = 0;
  std::int64_t walks = 0;
  Under(kDepth, [&] {
    for (auto _ : state) {
      if (is_cold) TouchMemory();
      const double started = Seconds(CLOCK_MONOTONIC);
      count = WalkHere(snapshot->table, stack, frames.data());
      const double took = Seconds(CLOCK_MONOTONIC) - started;
      state.SetIterationTime(took);
      seconds += took;
      ++walks;
    }
  });
  state.counters["frames"] = count;
  state.counters["ns_per_frame"] = seconds * 1e9 / static_cast<double>(walks) / count;
}
BENCHMARK(BM_Unwind)->ArgName("cold")->Arg(0)->UseManualTime();
BENCHMARK(BM_Unwind)->ArgName("cold")->Arg(1)->UseManualTime()->Iterations(100);

class CountingSink final : public ThreadRegistry::Sink {
 public:
  void OnSample(const RingSample&, const std::uint64_t*) override { ++count; }
  std::int64_t count = 0;
};

// Signal delivery to itself, with the whole handler and without.
void BM_Signal(benchmark::State& state) {
  const bool takes_sample = state.range(0) != 0;
  ModuleMap modules;
  modules.Refresh();
  ThreadRegistry registry;
  const int signal = InstallHandler(WalkForHandler);
  CountingSink sink;
  if (takes_sample) {
    registry.Start(TimerKind::kNone, signal);
    registry.RegisterCurrent();
  }
  std::int64_t sent = 0;
  Under(kDepth, [&] {
    for (auto _ : state) {
      syscall(SYS_tgkill, getpid(), static_cast<pid_t>(raw::GetTid()), signal);
      if (++sent % 256 == 0) {
        state.PauseTiming();
        registry.Drain(sink);
        state.ResumeTiming();
      }
    }
  });
  registry.Drain(sink);
  registry.Stop();
  state.counters["samples"] = static_cast<double>(sink.count);
  ReleaseAllSlots();
}
BENCHMARK(BM_Signal)->ArgName("sample")->Arg(0)->Arg(1);

void BM_PublishContext(benchmark::State& state) {
  std::uint8_t trace[16] = {1};
  std::uint8_t span[8] = {2};
  for (auto _ : state) {
    benchmark::DoNotOptimize(trace);
    benchmark::DoNotOptimize(span);
    PublishContext(trace, span, 1);
    benchmark::ClobberMemory();
  }
  ClearContext();
}
BENCHMARK(BM_PublishContext);

// The C library's own, under the name that nobody interposes.
extern "C" int hotspan_bench_plain_lock(pthread_mutex_t* mutex) noexcept;
__asm__(".symver hotspan_bench_plain_lock, __pthread_mutex_lock@GLIBC_2.2.5");

// A lock that is free: the plain call, the interposed one outside of a span, and inside.
void BM_MutexLock(benchmark::State& state) {
  static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  const bool is_interposed = state.range(0) != 0;
  const bool is_in_span = state.range(0) == 2;
  // Where there is one thread alone, the C library takes a shorter way.
  pthread_t other{};
  pthread_create(
      &other, nullptr,
      [](void*) -> void* {
        pause();
        return nullptr;
      },
      nullptr);
  const std::uint8_t trace[16] = {1};
  const std::uint8_t span[8] = {2};
  if (is_in_span) PublishContext(trace, span, 1);
  MeasureLockWaits(LockUse::kEvents, true);
  const auto lock = is_interposed ? &pthread_mutex_lock : &hotspan_bench_plain_lock;
  for (auto _ : state) {
    lock(&mutex);
    pthread_mutex_unlock(&mutex);
  }
  MeasureLockWaits(LockUse::kEvents, false);
  ClearContext();
  pthread_cancel(other);
  pthread_join(other, nullptr);
}
BENCHMARK(BM_MutexLock)->ArgName("interposed")->Arg(0)->Arg(1)->Arg(2)->Repetitions(5);

void BM_CompileTable(benchmark::State& state) {
  std::size_t rows = 0;
  std::size_t functions = 0;
  for (auto _ : state) {
    ModuleMap modules;
    modules.Refresh();
    rows = functions = 0;
    for (const auto& module : modules.Current()->modules) {
      rows += module->cfi.rows.size();
      functions += module->cfi.function_count;
    }
  }
  state.counters["rows"] = static_cast<double>(rows);
  state.counters["functions"] = static_cast<double>(functions);
}
BENCHMARK(BM_CompileTable)->Unit(benchmark::kMillisecond);

// About a millisecond of work, out of the optimiser's sight.
NOINLINE std::uint64_t UnitOfWork() {
  static volatile std::uint64_t seed = 88172645463325252;
  std::uint64_t x = seed;
  for (int i = 0; i < 400'000; ++i) {
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
  }
  return x;
}

bool StartAt(int hz) {
  ProfilerOptions options;
  options.cpu_hz = hz;
  options.off_cpu = false;
  std::string why_not;
  if (Profiler::Instance().Start(options, &why_not)) return true;
  std::printf("profiler does not start: %s\n", why_not.c_str());
  return false;
}

// CPU time of so many units of work, the agent's own included.
double SecondsOfUnits(int units) {
  const double started = Seconds(CLOCK_PROCESS_CPUTIME_ID);
  for (int i = 0; i < units; ++i) benchmark::DoNotOptimize(UnitOfWork());
  return Seconds(CLOCK_PROCESS_CPUTIME_ID) - started;
}

void PrintOverhead(int hz, double seconds) {
  constexpr int kUnits = 100;
  std::vector<double> slowdowns;
  const double end = Seconds(CLOCK_MONOTONIC) + seconds;
  for (int round = 0; Seconds(CLOCK_MONOTONIC) < end; ++round) {
    // Off-on, then on-off, so that a drift of the machine cancels out.
    double on = 0;
    double off = 0;
    for (int half = 0; half < 2; ++half) {
      const bool is_on = (half + round) % 2 != 0;
      if (is_on && !StartAt(hz)) return;
      (is_on ? on : off) = SecondsOfUnits(kUnits);
      if (is_on) {
        Profiler::Instance().Stop();
        Profiler::Instance().Drain();
      }
    }
    slowdowns.push_back(100 * (on / off - 1));
  }
  std::sort(slowdowns.begin(), slowdowns.end());
  // Trimmed: on a shared machine single rounds are off by tens of percent.
  const std::size_t cut = slowdowns.size() / 5;
  double sum = 0;
  double squares = 0;
  const std::size_t count = slowdowns.size() - 2 * cut;
  for (std::size_t i = cut; i < slowdowns.size() - cut; ++i) {
    sum += slowdowns[i];
    squares += slowdowns[i] * slowdowns[i];
  }
  const double n = static_cast<double>(count);
  const double mean = sum / n;
  const double error = std::sqrt(std::max(0.0, squares / n - mean * mean) / n);
  std::printf("overhead at %4d Hz: %+.2f %% +- %.2f (two sigma, %zu rounds of %d units)\n", hz,
              mean, 2 * error, slowdowns.size(), kUnits);
}

// Functions of their own names, of which none is a part of another.
NOINLINE void WorkSeventy(int units) {
  for (int i = 0; i < units; ++i) benchmark::DoNotOptimize(UnitOfWork());
  __asm__ volatile("" ::"i"(70));
}
NOINLINE void WorkTwenty(int units) {
  for (int i = 0; i < units; ++i) benchmark::DoNotOptimize(UnitOfWork());
  __asm__ volatile("" ::"i"(20));
}
NOINLINE void WorkTen(int units) {
  for (int i = 0; i < units; ++i) benchmark::DoNotOptimize(UnitOfWork());
  __asm__ volatile("" ::"i"(10));
}
NOINLINE void WorkInSpan(int units) {
  for (int i = 0; i < units; ++i) benchmark::DoNotOptimize(UnitOfWork());
  __asm__ volatile("" ::"i"(1));
}

bool HasFrame(const ProfileChunk& chunk, const CollectedSample& sample, const std::string& name) {
  const auto& stack = chunk.stacks[sample.stack];
  return std::any_of(stack.begin(), stack.end(), [&](std::uint32_t location) {
    return chunk.locations[location].function.find(name) != std::string::npos;
  });
}

void PrintShares(int hz, double seconds) {
  if (!StartAt(hz)) return;
  std::array<double, 3> truth{};
  std::array<double, 3> seen{};
  double counted = 0;
  std::size_t count = 0;
  std::size_t complete = 0;
  std::size_t samples = 0;
  const auto collect = [&] {
    const ProfileChunk chunk = Profiler::Instance().Drain();
    samples += chunk.samples.size();
    for (const CollectedSample& sample : chunk.samples) {
      const auto& root = chunk.locations[chunk.stacks[sample.stack].back()].function;
      if (root == "_start") ++complete;
      counted += static_cast<double>(sample.value_ns) * 1e-9;
      for (std::size_t i = 0; i < 3; ++i) {
        const std::array<const char*, 3> names = {"WorkSeventy", "WorkTwenty", "WorkTen"};
        if (!HasFrame(chunk, sample, names[i])) continue;
        seen[i] += static_cast<double>(sample.value_ns);
        ++count;
      }
    }
  };
  const std::array<void (*)(int), 3> work = {WorkSeventy, WorkTwenty, WorkTen};
  const std::array<int, 3> units = {7, 2, 1};
  const double started = Seconds(CLOCK_THREAD_CPUTIME_ID);
  const double end = Seconds(CLOCK_MONOTONIC) + seconds;
  while (Seconds(CLOCK_MONOTONIC) < end) {
    for (int round = 0; round < 50; ++round) {
      for (std::size_t i = 0; i < 3; ++i) {
        const double before = Seconds(CLOCK_THREAD_CPUTIME_ID);
        work[i](units[i]);
        truth[i] += Seconds(CLOCK_THREAD_CPUTIME_ID) - before;
      }
    }
    collect();
  }
  const double used = Seconds(CLOCK_THREAD_CPUTIME_ID) - started;
  Profiler::Instance().Stop();
  collect();
  const double all_truth = truth[0] + truth[1] + truth[2];
  const double all_seen = seen[0] + seen[1] + seen[2];
  std::printf("shares at %4d Hz: %.1f/%.1f/%.1f %% for %.1f/%.1f/%.1f, n %zu (one sigma %.1f)\n",
              hz, 100 * seen[0] / all_seen, 100 * seen[1] / all_seen, 100 * seen[2] / all_seen,
              100 * truth[0] / all_truth, 100 * truth[1] / all_truth, 100 * truth[2] / all_truth,
              count, 46 / std::sqrt(static_cast<double>(count)));
  std::printf("  CPU time sampled / used %.3f, stacks complete to _start %.2f %%\n", counted / used,
              100 * static_cast<double>(complete) / static_cast<double>(samples));
}

void PrintSpans(int hz, double seconds) {
  constexpr std::size_t kSpans = 10;
  if (!StartAt(hz)) return;
  std::array<double, kSpans> truth{};
  std::array<double, kSpans> seen{};
  double without = 0;
  std::size_t count = 0;
  std::uint64_t random = 4711;
  const auto collect = [&] {
    const ProfileChunk chunk = Profiler::Instance().Drain();
    for (const CollectedSample& sample : chunk.samples) {
      const std::size_t span = sample.span_id[0];
      if (span >= 1 && span <= kSpans) {
        seen[span - 1] += static_cast<double>(sample.value_ns);
        ++count;
      } else if (HasFrame(chunk, sample, "WorkInSpan")) {
        without += static_cast<double>(sample.value_ns);
      }
    }
  };
  const double end = Seconds(CLOCK_MONOTONIC) + seconds;
  while (Seconds(CLOCK_MONOTONIC) < end) {
    for (int round = 0; round < 100; ++round) {
      random = random * 6364136223846793005 + 1442695040888963407;
      const std::size_t span = (random >> 33) % kSpans;
      const std::uint8_t trace_id[16] = {1};
      const std::uint8_t span_id[8] = {static_cast<std::uint8_t>(span + 1)};
      const double before = Seconds(CLOCK_THREAD_CPUTIME_ID);
      PublishContext(trace_id, span_id, 1);
      WorkInSpan(static_cast<int>(span + 1));
      ClearContext();
      truth[span] += Seconds(CLOCK_THREAD_CPUTIME_ID) - before;
    }
    collect();
  }
  Profiler::Instance().Stop();
  collect();
  double all_truth = 0;
  double all_seen = 0;
  for (std::size_t i = 0; i < kSpans; ++i) {
    all_truth += truth[i];
    all_seen += seen[i];
  }
  double variation = 0;
  double worst = 0;
  for (std::size_t i = 0; i < kSpans; ++i) {
    const double off = 100 * std::abs(seen[i] / all_seen - truth[i] / all_truth);
    variation += off / 2;
    worst = std::max(worst, off);
  }
  std::printf(
      "spans at %4d Hz: total variation %.2f pp, worst %.2f pp, n %zu, without span %.2f %%\n", hz,
      variation, worst, count, 100 * without / all_seen);
}

}  // namespace
}  // namespace hotspan::agent

int main(int argc, char** argv) {
  double seconds = 10;
  for (int i = 1; i < argc; ++i) {
    if (std::strncmp(argv[i], "--seconds=", 10) == 0) seconds = std::atof(argv[i] + 10);
  }
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  if (seconds <= 0) return 0;
  using namespace hotspan::agent;  // NOLINT: the figures are one program
  PrintShares(1000, seconds);
  std::printf("sampler: HOTSPAN_SAMPLER=%s\n", std::getenv("HOTSPAN_SAMPLER") != nullptr
                                                   ? std::getenv("HOTSPAN_SAMPLER")
                                                   : "(best)");
  PrintShares(97, seconds);
  PrintSpans(1000, seconds);
  PrintOverhead(97, 2 * seconds);
  PrintOverhead(1000, 2 * seconds);
  return 0;
}
