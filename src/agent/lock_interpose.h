// pthread_mutex_lock, pthread_rwlock_rdlock and pthread_rwlock_wrlock of this library: inside a
// span, a wait for a lock is measured from its first to its last instruction, with who held it.
//
// A lock that is free costs one try more than nothing; outside of spans, the call of the C library
// alone. Who holds a lock is not written down: the lock itself says which thread, and that thread's
// slot in which span.
//
// Threads: any. The interposed functions allocate nothing, take no other lock, and work before
// anything of this library is initialised.
#pragma once

#include "agent/lock_wait.h"

namespace hotspan::agent {

// Referring to it makes a static link take the interposed functions; true if they are in force.
bool LocksAreInterposed();

// What waits are measured for: events of spans, from a millisecond on, and samples with stacks,
// from a tenth of that on.
enum class LockUse : std::uint8_t { kEvents = 1, kSamples = 2 };

// Whether waits are measured for that; they are not at first.
void MeasureLockWaits(LockUse use, bool on);

// A wait with what its stack is walked from.
struct LockSample {
  LockWait wait;
  std::uint64_t pc = 0;
  std::uint64_t sp = 0;
  std::uint64_t bp = 0;
  std::uint64_t stack_bytes = 0;
  std::array<std::uint64_t, 2048> stack{};  // from sp on
  std::uint32_t thread_id = 0;
};

// The next wait for either use; false if there is none.
bool TakeLockWait(LockWait* wait);
bool TakeLockSample(LockSample* sample);
// Samples there was no room for since the last call.
std::uint64_t TakeDroppedLockSamples();

// In the child after a fork: what waits were taken in the parent are the parent's.
void ForgetLockWaits();

}  // namespace hotspan::agent
