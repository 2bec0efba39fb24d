// Finds the threads of the process and gives each what it is sampled with: a ring, the bounds of
// its stack and a timer.
//
// Threads: all methods may be called from any thread; Drain from one at a time.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "agent/signal/thread_slot.h"
#include "base/mutex.h"

namespace hotspan::agent {

class ThreadRegistry {
 public:
  // Called with each sample that a thread took: its record and frames.
  class Sink {
   public:
    virtual ~Sink() = default;
    virtual void OnSample(const RingSample& sample, const std::uint64_t* frames) = 0;
  };

  ThreadRegistry() = default;
  ThreadRegistry(const ThreadRegistry&) = delete;
  ThreadRegistry& operator=(const ThreadRegistry&) = delete;

  // From here on threads are sampled by timers of that kind (kNone: by whoever sends them
  // `signal`).
  void Start(TimerKind kind, int signal);
  // Ends it for all threads; after it no handler writes to a ring or uses a timer.
  void Stop();

  // For the calling thread: the cheap and exact way, with the bounds that pthreads knows.
  void RegisterCurrent();
  // For the calling thread, on its way out.
  void UnregisterCurrent();
  // For the calling thread: one of the library's own.
  void ExcludeCurrent();

  // Takes in threads that started otherwise, and marks those that are gone.
  void Scan();
  // Empties all rings, and releases slots of threads that are gone.
  void Drain(Sink& sink);

  std::uint64_t AgentCpuNs() const;
  std::uint64_t dropped() const;
  std::uint64_t taken() const;
  std::uint64_t missed() const { return missed_.load(); }

  void BeforeFork() HOTSPAN_THREAD_ANNOTATION(no_thread_safety_analysis) { mutex_.Lock(); }
  void AfterForkInParent() HOTSPAN_THREAD_ANNOTATION(no_thread_safety_analysis) { mutex_.Unlock(); }
  // Forgets all threads, and samples none until the next Start.
  void AfterForkInChild() HOTSPAN_THREAD_ANNOTATION(no_thread_safety_analysis);

 private:
  void Adopt(ThreadSlot* slot) REQUIRES(mutex_);
  void Release(ThreadSlot* slot) REQUIRES(mutex_);
  void ResolveStacks() REQUIRES(mutex_);
  SampleRing* TakeRing() REQUIRES(mutex_);
  void GiveRing(SampleRing* ring) REQUIRES(mutex_);

  mutable Mutex mutex_;
  bool is_sampling_ GUARDED_BY(mutex_) = false;
  TimerKind kind_ GUARDED_BY(mutex_) = TimerKind::kNone;
  int signal_ GUARDED_BY(mutex_) = 0;
  std::vector<SampleRing*> free_rings_ GUARDED_BY(mutex_);
  // CPU time of each of the library's own threads when last looked at.
  mutable std::unordered_map<std::uint32_t, std::uint64_t> agent_cpu_ns_ GUARDED_BY(mutex_);
  std::uint64_t gone_agent_cpu_ns_ GUARDED_BY(mutex_) = 0;
  std::uint64_t gone_dropped_ GUARDED_BY(mutex_) = 0;
  std::uint64_t gone_taken_ GUARDED_BY(mutex_) = 0;
  std::atomic<std::uint64_t> missed_{0};
};

// The registry that new threads report to; null: none. Set while the profiler runs.
extern std::atomic<ThreadRegistry*> g_thread_registry;

}  // namespace hotspan::agent
