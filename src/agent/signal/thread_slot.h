// What the signal handler knows of each thread: a fixed table of slots, found by thread number.
//
// Threads: fields are owned as noted. Claiming is lock-free; releasing is the registry's alone,
// once the thread is gone.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "agent/signal/thread_context.h"
#include "base/raw/spsc_ring.h"

namespace hotspan::agent {

inline constexpr std::size_t kRingWords = 32768;
using SampleRing = raw::SpscRing<kRingWords>;

// A sample as it lies in a ring, followed by its frames.
struct RingSample {
  std::uint64_t ring_words;  // the ring's
  std::uint64_t time_ns;     // CLOCK_MONOTONIC
  std::uint64_t weight_ns;   // CPU time it stands for
  std::uint64_t table_id;    // of the code table it was walked with
  std::uint8_t trace_id[16];
  std::uint8_t span_id[8];
  std::uint32_t thread_id;
  std::uint16_t frame_count;
  std::uint8_t walk_end;
  std::uint8_t has_context;
};
inline constexpr std::size_t kRingSampleWords = sizeof(RingSample) / 8;
static_assert(sizeof(RingSample) == 64);

enum class SlotState : std::uint8_t {
  kKnown = 0,     // holds no ring: its context can be read, nothing more
  kSampled = 1,   // the handler takes samples
  kExcluded = 2,  // a thread of the library
  kExited = 3,    // on its way out; what its ring holds is still to be drained
};

enum class TimerKind : std::uint8_t {
  kNone = 0,      // signals come from the hrtimer sampler, with their weight
  kPerf = 1,      // `timer` is a perf event
  kCpuTimer = 2,  // `timer` is a kernel timer id
};

struct alignas(64) ThreadSlot {
  std::atomic<std::uint32_t> tid;
  std::atomic<SlotState> state;
  std::atomic<TimerKind> timer_kind;
  std::atomic<bool> weight_by_clock;  // the timer misses time: weigh by the thread's CPU clock
  std::atomic<int> timer;
  std::atomic<std::uint64_t> stack_low;  // both zero: not known
  std::atomic<std::uint64_t> stack_high;
  std::atomic<std::uint64_t> foreign_sp;  // a stack pointer outside of them, for the registry
  std::atomic<SampleRing*> ring;
  std::atomic<const ThreadContextRecord*> context;
  std::atomic<std::uint64_t> handler_count;  // odd while the handler runs
  std::atomic<std::uint64_t> dropped;        // samples the ring had no room for
  std::atomic<std::uint64_t> taken;
  std::atomic<std::uint64_t> period_ns;  // in force until the next sample
  std::uint64_t random;                  // the handler's, as is the next
  std::uint64_t cpu_ns;                  // of the thread at its last sample

  void ForgetStack() {
    stack_low.store(0, std::memory_order_relaxed);
    stack_high.store(0, std::memory_order_relaxed);
  }
};

inline constexpr std::size_t kSlotsMax = 4096;

// The slot of a thread, or null.
ThreadSlot* FindSlot(std::uint32_t tid);
// The slot of a thread, made if need be; null if there is no room.
ThreadSlot* ClaimSlot(std::uint32_t tid, bool* is_new);
// Empties a slot whose thread is gone and whose ring has been taken away.
void ReleaseSlot(ThreadSlot* slot);
// Empties all slots: in the child after a fork, where no other thread exists.
void ReleaseAllSlots();
// The i-th slot, used or not, i < kSlotsMax; its thread number, 0 if it is free.
ThreadSlot& SlotAt(std::size_t i);
std::uint32_t SlotTid(std::size_t i);

// The slot of this thread if it is known to this thread already.
ThreadSlot* CurrentSlot();
void SetCurrentSlot(ThreadSlot* slot);

}  // namespace hotspan::agent
