// The signal handler that takes a sample: context, stack, ring. Nothing else runs in signal
// context.
//
// Threads: the handler runs on any thread at any time; it takes no lock, allocates nothing and
// leaves errno alone. The functions here are the profiler's.
#pragma once

#include <signal.h>

#include <atomic>
#include <cstdint>

#include "agent/signal/thread_slot.h"
#include "base/raw/registers.h"

namespace hotspan::agent {

// Walks a stack; writes at most `frames_max` addresses and returns their number. `end` becomes the
// walker's own word for why the walk ended.
using WalkFunction = std::uint32_t (*)(const raw::CodeTable& table, const raw::Registers& registers,
                                       const raw::StackView& stack, std::uint64_t* frames,
                                       std::uint32_t frames_max, std::uint8_t* end);

// The table that the handler walks with; null: samples hold their leaf only. A table that was
// replaced may be in use until every handler that ran at that time has ended.
extern std::atomic<const raw::CodeTable*> g_code_table;
// Mean CPU time between two samples of a thread.
extern std::atomic<std::uint64_t> g_period_ns;
// Signals to threads that are not registered.
extern std::atomic<std::uint64_t> g_strangers;

// Takes the first real-time signal that nobody handles, from SIGRTMIN + 6 on; 0 if all are taken.
int InstallHandler(WalkFunction walk);
// To be called in the child after a fork, before samples are taken there.
void HandlerAfterFork();

// The next period: the mean times 0.5 to 1.5, so that no rhythm of the program locks to it.
std::uint64_t NextPeriod(ThreadSlot* slot);
// Starts the slot's timer for one period; from its thread or, before samples are taken, another.
void ArmTimer(ThreadSlot* slot);

// The handler itself, for tests and benchmarks.
void HandleSampleSignal(int signal, siginfo_t* info, void* ucontext);

}  // namespace hotspan::agent
