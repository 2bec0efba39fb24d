// The sampling half of libhotspan: takes stacks of all threads, on and off the CPU, with the span
// that is active on each, and hands them over in chunks.
//
// Threads: all methods may be called from any thread. The profiler runs up to three threads of its
// own, which block all signals and never appear in a profile.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "agent/profile_chunk.h"

namespace hotspan::agent {

struct ProfilerOptions {
  int cpu_hz = 97;      // samples per second of CPU time of a thread, 1 to 1000
  bool off_cpu = true;  // sample waits of threads that are inside a span
  bool locks = true;    // sample waits for locks of threads that are inside a span
  // Samples a second over all threads. A cpu_hz above it stands for four busy cores at that rate.
  int total_rate_max = 400;
};

struct ProfilerStats {
  std::uint64_t samples_taken = 0;    // put into chunks
  std::uint64_t samples_dropped = 0;  // lost to a full ring or a full chunk
  std::uint64_t threads_missed = 0;   // threads there was no room for, or no timer
};

class Profiler {
 public:
  // The one of this process; never destroyed, as threads may outlive static objects.
  static Profiler& Instance();

  Profiler(const Profiler&) = delete;
  Profiler& operator=(const Profiler&) = delete;

  // True if it runs now (also if it did before); else `why_not` says what is missing.
  bool Start(const ProfilerOptions& options, std::string* why_not);
  // Ends sampling; what was gathered is left for a last Drain.
  void Stop();
  bool running() const;

  // Everything gathered since the last call. To be called about every 100 to 1000 ms.
  ProfileChunk Drain();

  // "perf", "hrtimer" or "cpu-timer"; "off" while it does not run.
  const char* SamplerName() const;
  // CPU time of the library's own threads: those of the profiler and the excluded ones.
  std::uint64_t AgentCpuNs() const;
  ProfilerStats Stats() const;

  // For the library's other threads: never sampled from here on, and all signals blocked.
  void ExcludeThisThread();

  // Takes in new threads, loaded modules and ring contents now instead of at the next 100 ms tick.
  void Poll();

 private:
  class Impl;
  Profiler();
  ~Profiler() = default;  // leaves what threads may still use

  Impl* impl_;
};

}  // namespace hotspan::agent
