#include "agent/hrtimer_sampler.h"

#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <utility>

#include "agent/perf_timer.h"
#include "agent/proc_task.h"
#include "agent/signal/handler.h"
#include "base/raw/syscalls.h"

namespace hotspan::agent {
namespace {

// Less CPU time is no ground to interrupt a thread; it is added to the next sample.
constexpr std::uint64_t kCpuNsMin = 20'000;

void Signal(std::uint32_t tid, int signal, std::uint64_t weight) {
  siginfo_t info{};
  info.si_signo = signal;
  info.si_code = SI_QUEUE;
  info.si_pid = getpid();
  info.si_uid = getuid();
  info.si_value.sival_ptr = reinterpret_cast<void*>(weight);
  raw::Syscall(SYS_rt_tgsigqueueinfo, info.si_pid, tid, signal, raw::Pointer(&info));
}

}  // namespace

bool ThreadIsRunning(std::uint32_t tid) {
  TaskFile file;
  return file.Open(tid, "syscall") && file.Read().rfind("running", 0) == 0;
}

bool ThreadStatesAreReadable() {
  TaskFile file;
  return file.Open(raw::GetTid(), "syscall") && !file.Read().empty();
}

bool HrtimerSampler::Start(int signal, std::function<void()> at_start) {
  signal_ = signal;
  stops_.store(false);
  return thread_.Start("hotspan-timer", [this, at_start = std::move(at_start)] {
    at_start();
    Run();
  });
}

void HrtimerSampler::Stop() {
  stops_.store(true);
  thread_.Join();
}

void HrtimerSampler::Run() {
  ThreadSlot clock{};  // for its random numbers
  while (!stops_.load(std::memory_order_relaxed)) {
    const std::uint64_t period = NextPeriod(&clock);
    timespec pause{};
    pause.tv_sec = static_cast<time_t>(period / 1'000'000'000);
    pause.tv_nsec = static_cast<long>(period % 1'000'000'000);
    clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, nullptr);
    Tick();
  }
}

void HrtimerSampler::Tick() {
  for (std::size_t i = 0; i < kSlotsMax; ++i) {
    const std::uint32_t tid = SlotTid(i);
    if (tid == 0) continue;
    const ThreadSlot& slot = SlotAt(i);
    if (slot.state.load() != SlotState::kSampled || slot.timer_kind.load() != TimerKind::kNone) {
      continue;
    }
    const std::uint64_t cpu_ns = ThreadCpuNs(tid);
    Seen& seen = seen_[i];
    if (seen.tid != tid) seen = Seen{tid, cpu_ns};
    if (cpu_ns < seen.cpu_ns + kCpuNsMin || !ThreadIsRunning(tid)) continue;
    Signal(tid, signal_, cpu_ns - seen.cpu_ns);
    seen.cpu_ns = cpu_ns;
  }
}

}  // namespace hotspan::agent
