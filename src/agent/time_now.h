// The two clocks of the library, read without the virtual call of base/clock.h: a span reads one at
// its start and one at its end.
//
// Threads: any.
#pragma once

#include <time.h>

#include <cstdint>

namespace hotspan::agent {

inline constexpr std::int64_t kNsPerMs = 1'000'000;
inline constexpr std::int64_t kNsPerSecond = 1'000'000'000;

inline std::int64_t ReadClockNs(clockid_t clock) {
  timespec now{};
  ::clock_gettime(clock, &now);
  return now.tv_sec * kNsPerSecond + now.tv_nsec;
}

// Since the epoch.
inline std::int64_t RealtimeNs() { return ReadClockNs(CLOCK_REALTIME); }
// For durations and deadlines.
inline std::int64_t SteadyNs() { return ReadClockNs(CLOCK_MONOTONIC); }

}  // namespace hotspan::agent
