// What the tests of lock waits share: a wait that is known to have begun, and a known time after
// that.
//
// Threads: functions only.
#pragma once

#include <sched.h>

#include <atomic>
#include <cstdint>
#include <fstream>
#include <functional>
#include <string>
#include <thread>

#include "agent/time_now.h"
#include "base/raw/syscalls.h"

namespace hotspan::agent {

inline constexpr std::int64_t kHoldNs = 3 * kNsPerMs;

// Goes on only when that thread is blocked in a futex.
inline void AwaitBlocked(const std::atomic<std::uint32_t>& tid) {
  while (tid.load() == 0) sched_yield();
  const std::string path = "/proc/self/task/" + std::to_string(tid.load()) + "/syscall";
  for (;;) {
    std::ifstream file(path);
    std::string number;
    if (file >> number && number == "202") return;
    sched_yield();
  }
}

inline void SpinFor(std::int64_t ns) {
  const std::int64_t end = SteadyNs() + ns;
  while (SteadyNs() < end) sched_yield();
}

// Has another thread wait for a lock that this one holds. Returns the time that it had to wait at
// the least. `wait` is to store the thread's number once nothing else can block it.
inline std::int64_t HoldAndWait(const std::function<void()>& hold,
                                const std::function<void()>& release,
                                const std::function<void(std::atomic<std::uint32_t>&)>& wait) {
  hold();
  std::atomic<std::uint32_t> waiter{0};
  std::thread thread([&] { wait(waiter); });
  AwaitBlocked(waiter);
  const std::int64_t began = SteadyNs();
  SpinFor(kHoldNs);
  const std::int64_t held = SteadyNs() - began;
  release();
  thread.join();
  return held;
}

}  // namespace hotspan::agent
