// Takes CPU samples where neither perf events nor exact CPU timers are to be had: a thread that
// wakes in random intervals and signals the threads that have used CPU time and are running.
//
// Threads: Start, Stop and AfterFork from one thread at a time.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <vector>

#include "agent/signal/thread_slot.h"
#include "agent/thread_interpose.h"

namespace hotspan::agent {

class HrtimerSampler {
 public:
  HrtimerSampler() : seen_(kSlotsMax) {}
  HrtimerSampler(const HrtimerSampler&) = delete;
  HrtimerSampler& operator=(const HrtimerSampler&) = delete;

  // `at_start` is run first on its thread.
  bool Start(int signal, std::function<void()> at_start);
  void Stop();
  void Forget() { thread_.Forget(); }

  // One round over all threads.
  void Tick();

 private:
  struct Seen {
    std::uint32_t tid = 0;
    std::uint64_t cpu_ns = 0;  // of the thread at its last sample
  };

  void Run();

  int signal_ = 0;
  std::atomic<bool> stops_{false};
  std::vector<Seen> seen_;  // by slot
  AgentThread thread_;
};

// True if a thread of this process is on a CPU or waits for one, by /proc; false if it is blocked
// or can't be told.
bool ThreadIsRunning(std::uint32_t tid);
// False where /proc is hidden or hardened.
bool ThreadStatesAreReadable();

}  // namespace hotspan::agent
