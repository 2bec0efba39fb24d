#include "agent/profiler.h"

#include <pthread.h>
#include <signal.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <span>
#include <string_view>

#include "agent/chunk_builder.h"
#include "agent/hrtimer_sampler.h"
#include "agent/lock_interpose.h"
#include "agent/module_map.h"
#include "agent/perf_timer.h"
#include "agent/signal/handler.h"
#include "agent/thread_interpose.h"
#include "agent/thread_registry.h"
#include "agent/unwind/unwind.h"
#include "agent/wait_sampler.h"
#include "base/limits.h"
#include "base/mutex.h"
#include "base/raw/syscalls.h"

namespace hotspan::agent {
namespace {

constexpr std::chrono::milliseconds kTick{100};
constexpr int kHzMin = 1;
constexpr int kHzMax = 1000;
// A rate above the ordinary total is meant for so many busy cores.
constexpr int kCoresAtHighRate = 4;

std::uint64_t ClockNs(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(now.tv_nsec);
}

bool CpuTimerOpens(int signal) {
  ThreadSlot probe{};
  if (!OpenCpuTimer(raw::GetTid(), signal, &probe)) return false;
  CloseTimer(&probe);
  return true;
}

bool PerfTimerOpens(int signal, std::string* why_not) {
  ThreadSlot probe{};
  if (!OpenPerfTimer(raw::GetTid(), signal, &probe, why_not)) return false;
  CloseTimer(&probe);
  return true;
}

}  // namespace

class Profiler::Impl final : public ThreadRegistry::Sink {
 public:
  bool Start(const ProfilerOptions& options, std::string* why_not);
  void Stop();
  void Poll();
  ProfileChunk Drain();

  void OnSample(const RingSample& sample, const std::uint64_t* frames) override;

  void BeforeFork() HOTSPAN_THREAD_ANNOTATION(no_thread_safety_analysis);
  void AfterForkInParent() HOTSPAN_THREAD_ANNOTATION(no_thread_safety_analysis);
  void AfterForkInChild() HOTSPAN_THREAD_ANNOTATION(no_thread_safety_analysis);

  ThreadRegistry registry;
  ChunkBuilder builder;
  std::atomic<const char*> sampler{"off"};
  std::atomic<bool> is_running{false};

 private:
  // What Drain alone uses; made anew after a fork, as another thread may have been in it.
  struct Drainer {
    Mutex mutex;
    FunctionNames names GUARDED_BY(mutex);
    std::int64_t last_end_ns GUARDED_BY(mutex) = 0;
    std::uint64_t dropped GUARDED_BY(mutex) = 0;
  };

  bool StartLocked(std::string* why_not) REQUIRES(control_);
  bool ChooseSampler(std::string_view forced, TimerKind* kind, std::string* why_not)
      REQUIRES(control_);
  void RunKeeper();
  void DrainLocks() REQUIRES(poll_);
  void AdaptRate() REQUIRES(poll_);

  Mutex control_;
  ProfilerOptions options_ GUARDED_BY(control_);
  int signal_ GUARDED_BY(control_) = 0;
  bool knows_forks_ GUARDED_BY(control_) = false;

  Mutex poll_;
  std::uint64_t base_period_ns_ GUARDED_BY(poll_) = 0;
  double rate_max_ GUARDED_BY(poll_) = 0;
  std::uint64_t adapted_at_ns_ GUARDED_BY(poll_) = 0;
  std::uint64_t adapted_taken_ GUARDED_BY(poll_) = 0;
  std::shared_ptr<const CodeSnapshot> current_ GUARDED_BY(poll_);
  std::shared_ptr<const CodeSnapshot> last_ GUARDED_BY(poll_);
  LockSample lock_ GUARDED_BY(poll_);

  Mutex wake_;
  CondVar stopping_;
  bool stops_ GUARDED_BY(wake_) = false;

  ModuleMap modules_;
  HrtimerSampler hrtimer_;
  WaitSampler waits_{modules_, builder};
  AgentThread keeper_;
  std::shared_ptr<Drainer> drainer_ = std::make_shared<Drainer>();
};

bool Profiler::Impl::Start(const ProfilerOptions& options, std::string* why_not) {
  MutexLock lock(control_);
  if (is_running.load()) return true;
  options_ = options;
  options_.cpu_hz = std::clamp(options.cpu_hz, kHzMin, kHzMax);
  if (!StartLocked(why_not)) return false;
  if (!knows_forks_) {
    knows_forks_ = true;
    pthread_atfork([] { Profiler::Instance().impl_->BeforeFork(); },
                   [] { Profiler::Instance().impl_->AfterForkInParent(); },
                   [] { Profiler::Instance().impl_->AfterForkInChild(); });
  }
  return true;
}

bool Profiler::Impl::ChooseSampler(std::string_view forced, TimerKind* kind, std::string* why_not) {
  *kind = TimerKind::kNone;
  if (forced == "perf" || forced.empty()) {
    if (PerfTimerOpens(signal_, why_not)) {
      *kind = TimerKind::kPerf;
      sampler.store("perf");
      return true;
    }
    if (!forced.empty()) return false;
  }
  if ((forced == "hrtimer" || forced.empty()) && ThreadStatesAreReadable()) {
    sampler.store("hrtimer");
    return true;
  }
  if (forced != "hrtimer" && CpuTimerOpens(signal_)) {
    *kind = TimerKind::kCpuTimer;
    sampler.store("cpu-timer");
    return true;
  }
  *why_not = "no way to sample threads: perf events, /proc/self/task and CPU timers all fail";
  return false;
}

bool Profiler::Impl::StartLocked(std::string* why_not) {
  signal_ = InstallHandler(WalkForHandler);
  if (signal_ == 0) {
    *why_not = "all real-time signals are in use";
    return false;
  }
  const std::uint64_t period = 1'000'000'000 / static_cast<std::uint64_t>(options_.cpu_hz);
  g_period_ns.store(period);
  const char* forced = std::getenv("HOTSPAN_SAMPLER");
  TimerKind kind;
  if (!ChooseSampler(forced == nullptr ? "" : forced, &kind, why_not)) return false;
  {
    MutexLock lock(poll_);
    base_period_ns_ = period;
    rate_max_ = options_.cpu_hz > options_.total_rate_max ? kCoresAtHighRate * options_.cpu_hz
                                                          : options_.total_rate_max;
    adapted_at_ns_ = ClockNs(CLOCK_MONOTONIC);
    adapted_taken_ = registry.taken();
    modules_.Refresh();
  }
  {
    MutexLock lock(wake_);
    stops_ = false;
  }
  const auto exclude = [this] { registry.ExcludeCurrent(); };
  registry.Start(kind, signal_);
  bool ok = keeper_.Start("hotspan-keeper", [this, exclude] {
    exclude();
    RunKeeper();
  });
  if (kind == TimerKind::kNone) ok = ok && hrtimer_.Start(signal_, exclude);
  if (options_.off_cpu) ok = ok && waits_.Start(exclude);
  MeasureLockWaits(LockUse::kSamples, options_.locks && LocksAreInterposed());
  is_running.store(true);
  static_cast<void>(ThreadCreationIsInterposed());
  g_thread_registry.store(&registry);
  registry.RegisterCurrent();
  if (!ok) *why_not = "no room for a thread";
  return ok;
}

void Profiler::Impl::Stop() {
  MutexLock lock(control_);
  if (!is_running.load()) return;
  g_thread_registry.store(nullptr);
  MeasureLockWaits(LockUse::kSamples, false);
  {
    MutexLock wake_lock(wake_);
    stops_ = true;
  }
  stopping_.NotifyAll();
  keeper_.Join();
  hrtimer_.Stop();
  waits_.Stop();
  registry.Stop();
  Poll();
  sampler.store("off");
  is_running.store(false);
}

void Profiler::Impl::RunKeeper() {
  for (;;) {
    Poll();
    MutexLock lock(wake_);
    if (!stops_) stopping_.WaitFor(wake_, kTick);
    if (stops_) return;
  }
}

void Profiler::Impl::Poll() {
  MutexLock lock(poll_);
  registry.Scan();
  modules_.Refresh();
  current_ = modules_.Current();
  last_ = current_;
  builder.SetClockOffset(static_cast<std::int64_t>(ClockNs(CLOCK_REALTIME)) -
                         static_cast<std::int64_t>(ClockNs(CLOCK_MONOTONIC)));
  registry.Drain(*this);
  DrainLocks();
  AdaptRate();
}

void Profiler::Impl::DrainLocks() {
  std::array<std::uint64_t, raw::kFramesMax> frames;
  for (std::size_t i = 0; i < limits::kAgentLockSamplesMax && TakeLockSample(&lock_); ++i) {
    raw::Registers registers;
    registers.pc = lock_.pc;
    registers.sp = lock_.sp;
    registers.bp = lock_.bp;
    raw::StackView stack;
    stack.low = lock_.sp;
    stack.high = lock_.sp + lock_.stack_bytes;
    stack.delta = reinterpret_cast<std::uint64_t>(lock_.stack.data()) - lock_.sp;
    const Walk walk = Unwind(current_->table, registers, stack, frames.data(), raw::kFramesMax);
    WaitSample sample;
    sample.time_ns = static_cast<std::uint64_t>(lock_.wait.begin_ns + lock_.wait.wait_ns);
    sample.value_ns = static_cast<std::uint64_t>(lock_.wait.wait_ns);
    std::copy(lock_.wait.trace_id.begin(), lock_.wait.trace_id.end(), sample.context.trace_id);
    std::copy(lock_.wait.span_id.begin(), lock_.wait.span_id.end(), sample.context.span_id);
    sample.thread_id = lock_.thread_id;
    sample.kind = SampleKind::kLock;
    // Without the function that measured it.
    sample.frames = std::span(frames).first(walk.frame_count).subspan(walk.frame_count > 1 ? 1 : 0);
    builder.AddWaitSample(sample, *current_);
  }
}

// Called by Drain within Poll.
void Profiler::Impl::OnSample(const RingSample& sample, const std::uint64_t* frames)
    HOTSPAN_THREAD_ANNOTATION(no_thread_safety_analysis) {
  if (last_->table.id != sample.table_id) last_ = modules_.Get(sample.table_id);
  builder.AddCpuSample(sample, frames, *last_, *current_);
}

// Lengthens the period while all threads together go over the total rate. Samples are weighed by
// the time they stand for, so that a change of the period biases nothing.
void Profiler::Impl::AdaptRate() {
  constexpr double kNsPerSecond = 1e9;
  const std::uint64_t now = ClockNs(CLOCK_MONOTONIC);
  const double seconds = static_cast<double>(now - adapted_at_ns_) / kNsPerSecond;
  if (seconds < 0.05) return;
  const std::uint64_t taken = registry.taken();
  // Signals may come from elsewhere, too, and counts go with threads that end: the rate asked for
  // stays within bounds whatever is measured.
  constexpr double kSlowdownMax = 100;
  const std::uint64_t fresh = taken > adapted_taken_ ? taken - adapted_taken_ : 0;
  const double rate = static_cast<double>(fresh) / seconds;
  adapted_at_ns_ = now;
  adapted_taken_ = taken;
  const double period = static_cast<double>(g_period_ns.load());
  const double base = static_cast<double>(base_period_ns_);
  // The rate there would be at the base period, against what is allowed; half way at a time.
  const double wanted = base * std::clamp(rate * period / base / rate_max_, 1.0, kSlowdownMax);
  g_period_ns.store(static_cast<std::uint64_t>((period + wanted) / 2));
}

ProfileChunk Profiler::Impl::Drain() {
  Poll();
  const std::shared_ptr<Drainer> drainer = drainer_;
  MutexLock lock(drainer->mutex);
  ProfileChunk chunk = builder.Take(drainer->names);
  chunk.sampler = sampler.load();
  chunk.period_ns = static_cast<std::int64_t>(g_period_ns.load());
  chunk.end_ns = static_cast<std::int64_t>(ClockNs(CLOCK_REALTIME));
  chunk.start_ns = drainer->last_end_ns == 0 ? chunk.end_ns : drainer->last_end_ns;
  for (const CollectedSample& sample : chunk.samples) {
    chunk.start_ns = std::min(chunk.start_ns, sample.time_ns);
  }
  drainer->last_end_ns = chunk.end_ns;
  const std::uint64_t dropped = registry.dropped();
  chunk.dropped += dropped - std::min(dropped, drainer->dropped);
  drainer->dropped = dropped;
  chunk.dropped += TakeDroppedLockSamples();
  return chunk;
}

void Profiler::Impl::BeforeFork() {
  control_.Lock();
  poll_.Lock();
  wake_.Lock();
  modules_.BeforeFork();
  registry.BeforeFork();
  builder.BeforeFork();
}

void Profiler::Impl::AfterForkInParent() {
  builder.AfterForkInParent();
  registry.AfterForkInParent();
  modules_.AfterForkInParent();
  wake_.Unlock();
  poll_.Unlock();
  control_.Unlock();
}

void Profiler::Impl::AfterForkInChild() {
  builder.AfterForkInChild();
  registry.AfterForkInChild();
  modules_.AfterForkInChild();
  wake_.Unlock();
  poll_.Unlock();
  keeper_.Forget();
  hrtimer_.Forget();
  waits_.Forget();
  drainer_ = std::make_shared<Drainer>();
  ForgetLockWaits();
  HandlerAfterFork();
  const bool was_running = is_running.exchange(false);
  g_thread_registry.store(nullptr);
  sampler.store("off");
  std::string why_not;
  if (was_running) StartLocked(&why_not);
  control_.Unlock();
}

Profiler::Profiler() : impl_(std::make_unique<Impl>().release()) {}

Profiler& Profiler::Instance() {
  static Profiler instance;
  return instance;
}

bool Profiler::Start(const ProfilerOptions& options, std::string* why_not) {
  return impl_->Start(options, why_not);
}
void Profiler::Stop() { impl_->Stop(); }
bool Profiler::running() const { return impl_->is_running.load(); }
ProfileChunk Profiler::Drain() { return impl_->Drain(); }
const char* Profiler::SamplerName() const { return impl_->sampler.load(); }
std::uint64_t Profiler::AgentCpuNs() const { return impl_->registry.AgentCpuNs(); }
void Profiler::Poll() { impl_->Poll(); }

ProfilerStats Profiler::Stats() const {
  ProfilerStats stats;
  stats.samples_taken = impl_->builder.taken();
  stats.samples_dropped = impl_->registry.dropped();
  stats.threads_missed = impl_->registry.missed();
  return stats;
}

void Profiler::ExcludeThisThread() {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, nullptr);
  impl_->registry.ExcludeCurrent();
}

}  // namespace hotspan::agent
