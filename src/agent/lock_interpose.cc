#include "agent/lock_interpose.h"

#include <pthread.h>
#include <sys/uio.h>

#include <atomic>
#include <cstring>

#include "agent/hotspan.h"
#include "agent/signal/thread_context.h"
#include "agent/signal/thread_slot.h"
#include "agent/time_now.h"
#include "base/limits.h"
#include "base/raw/syscalls.h"

#if defined(__GLIBC__) && !defined(HOTSPAN_SANITIZED)
#define HOTSPAN_INTERPOSES_LOCKS 1
#endif

namespace hotspan::agent {
namespace {

constinit std::atomic<unsigned> g_uses{0};
constinit WaitQueue<LockWait, limits::kAgentLockWaitsMax> g_waits;
constinit WaitQueue<LockSample, limits::kAgentLockSamplesMax> g_samples;
constinit std::atomic<std::uint64_t> g_samples_dropped{0};

}  // namespace

bool LocksAreInterposed() {
#if defined(HOTSPAN_INTERPOSES_LOCKS)
  return true;
#else
  return false;
#endif
}

void MeasureLockWaits(LockUse use, bool on) {
  const unsigned bit = static_cast<unsigned>(use);
  if (on) {
    g_uses.fetch_or(bit, std::memory_order_relaxed);
  } else {
    g_uses.fetch_and(~bit, std::memory_order_relaxed);
  }
}

bool TakeLockWait(LockWait* wait) { return g_waits.Pop(wait); }

bool TakeLockSample(LockSample* sample) { return g_samples.Pop(sample); }

std::uint64_t TakeDroppedLockSamples() { return g_samples_dropped.exchange(0); }

void ForgetLockWaits() {
  g_waits.Reset();
  g_samples.Reset();
  g_samples_dropped.store(0);
}

}  // namespace hotspan::agent

#if defined(HOTSPAN_INTERPOSES_LOCKS)

// The C library's own, by names that nobody interposes. They are bound when this library is loaded,
// so that no call has to look for them.
extern "C" {
int hotspan_real_mutex_lock(pthread_mutex_t* mutex) noexcept;
int hotspan_real_mutex_trylock(pthread_mutex_t* mutex) noexcept;
int hotspan_real_rwlock_rdlock(pthread_rwlock_t* lock) noexcept;
int hotspan_real_rwlock_tryrdlock(pthread_rwlock_t* lock) noexcept;
int hotspan_real_rwlock_wrlock(pthread_rwlock_t* lock) noexcept;
int hotspan_real_rwlock_trywrlock(pthread_rwlock_t* lock) noexcept;
}
__asm__(".symver hotspan_real_mutex_lock, __pthread_mutex_lock@GLIBC_2.2.5");
__asm__(".symver hotspan_real_mutex_trylock, __pthread_mutex_trylock@GLIBC_2.2.5");
__asm__(".symver hotspan_real_rwlock_rdlock, __pthread_rwlock_rdlock@GLIBC_2.2.5");
__asm__(".symver hotspan_real_rwlock_tryrdlock, __pthread_rwlock_tryrdlock@GLIBC_2.2.5");
__asm__(".symver hotspan_real_rwlock_wrlock, __pthread_rwlock_wrlock@GLIBC_2.2.5");
__asm__(".symver hotspan_real_rwlock_trywrlock, __pthread_rwlock_trywrlock@GLIBC_2.2.5");

namespace hotspan::agent {
namespace {

constexpr std::int64_t kEventMinNs = kNsPerMs;
constexpr std::int64_t kSampleMinNs = kNsPerMs / 10;

// The span of the thread that holds a lock, where `owner` is the C library's word for which thread
// that is. Nothing is found out where the holder moves on meanwhile, and never a wrong one.
void FindHolder(const int* owner, LockWait* wait) {
  const int tid = __atomic_load_n(owner, __ATOMIC_ACQUIRE);
  if (tid <= 0) return;
  const ThreadSlot* slot = FindSlot(static_cast<std::uint32_t>(tid));
  if (slot == nullptr) return;
  const ThreadContextRecord* record = slot->context.load(std::memory_order_acquire);
  if (record == nullptr) return;
  // The thread may end, and its record with it. Read twice: a record that is being changed is not
  // the same both times.
  ThreadContextRecord copies[2];
  iovec local{copies, sizeof(copies)};
  iovec remote[2];
  for (iovec& part : remote) {
    part.iov_base = const_cast<ThreadContextRecord*>(record);
    part.iov_len = sizeof(ThreadContextRecord);
  }
  const long got = raw::Syscall(SYS_process_vm_readv, static_cast<long>(raw::GetPid()),
                                raw::Pointer(&local), 1, raw::Pointer(&remote[0]), 2, 0);
  if (got != sizeof(copies) || copies[0].valid != 1) return;
  if (std::memcmp(&copies[0], &copies[1], sizeof(copies[0])) != 0) return;
  if (__atomic_load_n(owner, __ATOMIC_ACQUIRE) != tid) return;
  std::memcpy(wait->holder_trace_id.data(), copies[0].trace_id, wait->holder_trace_id.size());
  std::memcpy(wait->holder_span_id.data(), copies[0].span_id, wait->holder_span_id.size());
}

// The stack is copied, not walked: the tables for that may go while it is read.
void PushSample(const LockWait& wait, std::uint64_t pc, std::uint64_t sp, std::uint64_t bp) {
  const bool has_room = g_samples.Push([&](LockSample& sample) {
    sample.wait = wait;
    sample.pc = pc;
    sample.sp = sp;
    sample.bp = bp;
    sample.thread_id = raw::GetTid();
    sample.stack_bytes = raw::SafeCopy(sample.stack.data(), sp, sizeof(sample.stack));
  });
  if (!has_room) g_samples_dropped.fetch_add(1, std::memory_order_relaxed);
}

// The calling thread is inside a span and found the lock taken.
template <typename Lock>
[[gnu::noinline]] int WaitForLock(int (*real)(Lock*) noexcept, Lock* lock, const int* owner,
                                  LockKind kind) noexcept {
  const unsigned uses = g_uses.load(std::memory_order_relaxed);
  if (uses == 0) return real(lock);
  LockWait wait;
  FindHolder(owner, &wait);
  wait.begin_ns = SteadyNs();
  const int error = real(lock);
  wait.wait_ns = SteadyNs() - wait.begin_ns;
  if (wait.wait_ns < kSampleMinNs || error != 0) return error;
  const ThreadContextRecord& own = t_context_record;
  std::memcpy(wait.trace_id.data(), own.trace_id, wait.trace_id.size());
  std::memcpy(wait.span_id.data(), own.span_id, wait.span_id.size());
  wait.kind = kind;
  if ((uses & static_cast<unsigned>(LockUse::kEvents)) != 0 && wait.wait_ns >= kEventMinNs) {
    g_waits.Push([&](LockWait& place) { place = wait; });
  }
  if ((uses & static_cast<unsigned>(LockUse::kSamples)) != 0) {
    std::uint64_t pc;
    std::uint64_t sp;
    std::uint64_t bp;
    __asm__ volatile("leaq (%%rip), %0\n\tmovq %%rsp, %1\n\tmovq %%rbp, %2"
                     : "=r"(pc), "=r"(sp), "=r"(bp));
    PushSample(wait, pc, sp, bp);
  }
  return error;
}

bool IsInSpan() { return t_context_record.valid == 1; }

// Robust, priority inheriting and priority protecting mutexes are left alone: a mere try of one
// that is beyond recovery leaves it locked for good.
bool IsPlain(const pthread_mutex_t& mutex) {
  constexpr int kSpecialKinds = 0x70;
  return (__atomic_load_n(&mutex.__data.__kind, __ATOMIC_RELAXED) & kSpecialKinds) == 0;
}

}  // namespace
}  // namespace hotspan::agent

// Programs, and libraries loaded after this one, find these before the C library's, which itself
// (pthread_cond_wait) uses its own. A lock that was free is held after one try; all else is for the
// plain call to wait for or to tell.
extern "C" {

HOTSPAN_EXPORT int pthread_mutex_lock(pthread_mutex_t* mutex) noexcept {
  using namespace hotspan::agent;  // NOLINT: one call
  if (!IsInSpan() || !IsPlain(*mutex)) return hotspan_real_mutex_lock(mutex);
  if (hotspan_real_mutex_trylock(mutex) == 0) return 0;
  return WaitForLock(hotspan_real_mutex_lock, mutex, &mutex->__data.__owner, LockKind::kMutex);
}

HOTSPAN_EXPORT int pthread_rwlock_rdlock(pthread_rwlock_t* lock) noexcept {
  using namespace hotspan::agent;  // NOLINT: one call
  if (!IsInSpan()) return hotspan_real_rwlock_rdlock(lock);
  if (hotspan_real_rwlock_tryrdlock(lock) == 0) return 0;
  return WaitForLock(hotspan_real_rwlock_rdlock, lock, &lock->__data.__cur_writer,
                     LockKind::kReadLock);
}

HOTSPAN_EXPORT int pthread_rwlock_wrlock(pthread_rwlock_t* lock) noexcept {
  using namespace hotspan::agent;  // NOLINT: one call
  if (!IsInSpan()) return hotspan_real_rwlock_wrlock(lock);
  if (hotspan_real_rwlock_trywrlock(lock) == 0) return 0;
  return WaitForLock(hotspan_real_rwlock_wrlock, lock, &lock->__data.__cur_writer,
                     LockKind::kWriteLock);
}

}  // extern "C"

#endif
