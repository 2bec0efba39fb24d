#include "agent/signal/handler.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <time.h>
#include <ucontext.h>

#include <cstddef>

#include "agent/signal/thread_context.h"
#include "base/raw/syscalls.h"

namespace hotspan::agent {

constinit std::atomic<const raw::CodeTable*> g_code_table{nullptr};
constinit std::atomic<std::uint64_t> g_period_ns{10'000'000};
constinit std::atomic<std::uint64_t> g_strangers{0};

namespace {

constinit std::atomic<WalkFunction> g_walk{nullptr};
constinit std::atomic<std::uint32_t> g_pid{0};

constexpr int kFirstSignalAfterMin = 6;
// As much of a foreign stack (a fiber's, an alternate one) as is copied for a walk.
constexpr std::size_t kForeignStackBytes = 2048;
constexpr std::uint64_t kWeightMaxNs = 1'000'000'000;

std::uint64_t ClockNs(clockid_t clock) {
  timespec now;
  clock_gettime(clock, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(now.tv_nsec);
}

std::uint64_t Register(const ucontext_t& context, int number) {
  return static_cast<std::uint64_t>(context.uc_mcontext.gregs[number]);
}

bool FromTimer(const siginfo_t& info) {
  return info.si_code == SI_TIMER || (info.si_code >= POLL_IN && info.si_code <= POLL_HUP);
}

std::uint64_t Weight(ThreadSlot* slot, const siginfo_t& info) {
  if (info.si_code == SI_QUEUE) return reinterpret_cast<std::uint64_t>(info.si_value.sival_ptr);
  if (!slot->weight_by_clock.load(std::memory_order_relaxed)) {
    return slot->period_ns.load(std::memory_order_relaxed);
  }
  const std::uint64_t cpu_ns = ClockNs(CLOCK_THREAD_CPUTIME_ID);
  const std::uint64_t weight = cpu_ns - slot->cpu_ns;
  slot->cpu_ns = cpu_ns;
  // A thread that blocks our signal for a while must not pour all of that on one place.
  return weight < kWeightMaxNs ? weight : kWeightMaxNs;
}

std::uint32_t WalkForeign(WalkFunction walk, const raw::CodeTable& table,
                          const raw::Registers& registers, std::uint64_t* frames,
                          std::uint8_t* end) {
  alignas(8) char copy[kForeignStackBytes];
  const std::uint64_t low = registers.sp & ~std::uint64_t{7};
  const std::size_t size = raw::SafeCopy(copy, low, sizeof(copy)) & ~std::size_t{7};
  raw::StackView stack;
  stack.low = low;
  stack.high = low + size;
  stack.delta = reinterpret_cast<std::uint64_t>(copy) - low;
  return walk(table, registers, stack, frames, raw::kFramesMax, end);
}

void WalkInto(RingSample* sample, ThreadSlot* slot, const ucontext_t& context) {
  raw::Registers registers;
  registers.pc = Register(context, REG_RIP);
  registers.sp = Register(context, REG_RSP);
  registers.bp = Register(context, REG_RBP);
  std::uint64_t* frames = reinterpret_cast<std::uint64_t*>(sample) + kRingSampleWords;
  frames[0] = registers.pc;
  sample->frame_count = 1;
  const raw::CodeTable* table = g_code_table.load();
  const WalkFunction walk = g_walk.load(std::memory_order_relaxed);
  if (table == nullptr || walk == nullptr) return;
  sample->table_id = table->id;
  raw::StackView stack;
  stack.low = registers.sp;
  stack.high = slot->stack_high.load(std::memory_order_relaxed);
  std::uint32_t count;
  if (registers.sp >= slot->stack_low.load(std::memory_order_relaxed) &&
      registers.sp < stack.high) {
    count = walk(*table, registers, stack, frames, raw::kFramesMax, &sample->walk_end);
  } else {
    slot->foreign_sp.store(registers.sp, std::memory_order_relaxed);
    count = WalkForeign(walk, *table, registers, frames, &sample->walk_end);
  }
  sample->frame_count = static_cast<std::uint16_t>(count);
}

void TakeSample(ThreadSlot* slot, const siginfo_t& info, const ucontext_t& context) {
  SampleRing* ring = slot->ring.load(std::memory_order_acquire);
  const std::uint64_t weight = Weight(slot, info);
  std::uint64_t* words =
      ring == nullptr ? nullptr : ring->Reserve(kRingSampleWords + raw::kFramesMax);
  if (words == nullptr) {
    slot->dropped.store(slot->dropped.load(std::memory_order_relaxed) + 1,
                        std::memory_order_relaxed);
    return;
  }
  RingSample* sample = reinterpret_cast<RingSample*>(words);
  sample->time_ns = ClockNs(CLOCK_MONOTONIC);
  sample->weight_ns = weight;
  sample->table_id = 0;
  sample->thread_id = slot->tid.load(std::memory_order_relaxed);
  sample->walk_end = 0;
  const ThreadContextRecord* record = otel_thread_ctx_v1;
  sample->has_context = record != nullptr && record->valid == 1;
  if (sample->has_context) {
    __builtin_memcpy(sample->trace_id, record->trace_id, sizeof(sample->trace_id));
    __builtin_memcpy(sample->span_id, record->span_id, sizeof(sample->span_id));
  }
  if (record != nullptr && slot->context.load(std::memory_order_relaxed) == nullptr) {
    slot->context.store(record, std::memory_order_release);
  }
  WalkInto(sample, slot, context);
  ring->Commit(kRingSampleWords + sample->frame_count);
  slot->taken.store(slot->taken.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

}  // namespace

std::uint64_t NextPeriod(ThreadSlot* slot) {
  std::uint64_t x = slot->random;
  if (x == 0) x = 0x9E3779B97F4A7C15 ^ slot->tid.load(std::memory_order_relaxed);
  x ^= x << 13;
  x ^= x >> 7;
  x ^= x << 17;
  slot->random = x;
  const std::uint64_t mean = g_period_ns.load(std::memory_order_relaxed);
  return mean / 2 + (mean > 0 ? x % mean : 0);
}

void ArmTimer(ThreadSlot* slot) {
  const TimerKind kind = slot->timer_kind.load(std::memory_order_relaxed);
  if (kind == TimerKind::kNone) return;
  const std::uint64_t period = NextPeriod(slot);
  slot->period_ns.store(period, std::memory_order_relaxed);
  const long timer = slot->timer.load(std::memory_order_relaxed);
  if (kind == TimerKind::kPerf) {
    // The event stops at each overflow, so that signals can't pile up.
    raw::Syscall(SYS_ioctl, timer, PERF_EVENT_IOC_PERIOD, raw::Pointer(&period));
    raw::Syscall(SYS_ioctl, timer, PERF_EVENT_IOC_REFRESH, 1);
  } else {
    itimerspec next{};
    next.it_value.tv_sec = static_cast<time_t>(period / 1'000'000'000);
    next.it_value.tv_nsec = static_cast<long>(period % 1'000'000'000);
    raw::Syscall(SYS_timer_settime, timer, 0, raw::Pointer(&next), 0);
  }
}

void HandleSampleSignal(int, siginfo_t* info, void* ucontext) {
  const int saved_errno = errno;
  ThreadSlot* slot = CurrentSlot();
  if (slot == nullptr) {
    slot = FindSlot(raw::GetTid());
    SetCurrentSlot(slot);
  }
  // Others may not make us believe in weights of their own.
  const bool ours = info->si_code != SI_QUEUE || static_cast<std::uint32_t>(info->si_pid) ==
                                                     g_pid.load(std::memory_order_relaxed);
  if (slot == nullptr) {
    g_strangers.fetch_add(1, std::memory_order_relaxed);
  } else if (ours) {
    // Before anything is read that others may retire: see g_code_table.
    slot->handler_count.fetch_add(1);
    if (slot->state.load() == SlotState::kSampled) {
      TakeSample(slot, *info, *static_cast<const ucontext_t*>(ucontext));
      if (FromTimer(*info)) ArmTimer(slot);
    }
    slot->handler_count.fetch_add(1);
  }
  errno = saved_errno;
}

int InstallHandler(WalkFunction walk) {
  g_walk.store(walk);
  HandlerAfterFork();
  // Where symbols are bound at their first call, that must not be in the handler.
  const int bound = errno;
  ClockNs(CLOCK_MONOTONIC);
  errno = bound;
  for (int signal = SIGRTMIN + kFirstSignalAfterMin; signal <= SIGRTMAX; ++signal) {
    struct sigaction old{};
    if (sigaction(signal, nullptr, &old) != 0) continue;
    const bool is_ours = (old.sa_flags & SA_SIGINFO) != 0 && old.sa_sigaction == HandleSampleSignal;
    if (!is_ours && ((old.sa_flags & SA_SIGINFO) != 0 || old.sa_handler != SIG_DFL)) continue;
    struct sigaction action{};
    action.sa_sigaction = HandleSampleSignal;
    action.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
    if (sigaction(signal, &action, nullptr) == 0) return signal;
  }
  return 0;
}

void HandlerAfterFork() { g_pid.store(raw::GetPid()); }

}  // namespace hotspan::agent
