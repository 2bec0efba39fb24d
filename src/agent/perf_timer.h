// The timers that make a thread take a sample after so much CPU time: perf events and CPU timers.
//
// Threads: any; a timer of one thread may be opened and closed by another.
#pragma once

#include <cstdint>
#include <string>

#include "agent/signal/thread_slot.h"

namespace hotspan::agent {

// Opens a perf event on the CPU clock of a thread that sends `signal` to it; not started. It leaves
// out time in the kernel where the system allows no other: `weight_by_clock` is set then.
bool OpenPerfTimer(std::uint32_t tid, int signal, ThreadSlot* slot, std::string* why_not);
// The same by timer_create on the thread's CPU clock, which the scheduler's tick drives.
bool OpenCpuTimer(std::uint32_t tid, int signal, ThreadSlot* slot);
void CloseTimer(ThreadSlot* slot);

// CPU time of a thread of this process in nanoseconds; 0 if it is gone.
std::uint64_t ThreadCpuNs(std::uint32_t tid);

}  // namespace hotspan::agent
