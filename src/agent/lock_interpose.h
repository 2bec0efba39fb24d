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

// Whether waits are measured; they are not at first.
void MeasureLockWaits(bool on);

// The next wait of at least a millisecond inside a span; false if there is none.
bool TakeLockWait(LockWait* wait);

// In the child after a fork: what waits were taken in the parent are the parent's.
void ForgetLockWaits();

}  // namespace hotspan::agent
