// The thread that takes ended spans and gathered samples, encodes them and sends them to the server
// by OTLP/HTTP. The program's threads never wait for it.
//
// Threads: all methods may be called from any thread. After a fork the child must not touch the
// parent's exporter: its thread does not exist there.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "agent/agent_stats.h"
#include "agent/export_lane.h"
#include "agent/lock_events.h"
#include "agent/profile_chunk.h"
#include "agent/span_queue.h"
#include "base/mutex.h"

namespace hotspan::agent {

struct ExporterOptions {
  HttpUrl traces_url;
  HttpUrl profiles_url;
  HttpHeaders headers;
  bool gzip = true;
  int timeout_ms = 10'000;
  int interval_ms = 1'000;  // spans and samples wait at most that long
  int back_off_min_ms = 1'000;
  int back_off_max_ms = 30'000;
  std::string resource;                    // encoded
  std::function<ProfileChunk()> profiles;  // what was sampled since the last call; may be empty
  std::function<void()> on_thread_start;   // called on the exporter's thread; may be empty
};

class Exporter {
 public:
  // Both are to outlive the exporter.
  Exporter(ExporterOptions options, SpanQueue* queue, AgentStats* stats);
  ~Exporter();
  Exporter(const Exporter&) = delete;
  Exporter& operator=(const Exporter&) = delete;

  // False if there can be no thread.
  bool Start();
  // A batch of spans waits. Safe at any time, also after Stop.
  void Wake();
  // True when the server took all that was there at the call.
  bool Flush(int timeout_ms);
  // Sends what is left, for `limit_ms` at most, counts the rest as dropped and ends the thread.
  void Stop(int limit_ms);

 private:
  static void* ThreadMain(void* exporter);
  void Run();
  // Take and encode what waits.
  void GatherSpans();
  void GatherProfiles();
  // True if trying on soon would not help.
  bool Send(bool now);
  void WaitUntil(std::int64_t steady_ns) const;
  std::int64_t NextRoundNs(std::int64_t next_gather_ns) const;
  void FinishFlush(std::uint64_t number, bool success);
  std::uint64_t Dropped() const;

  const ExporterOptions options_;
  SpanQueue* queue_;
  AgentStats* stats_;
  int wake_fd_ = -1;
  pthread_t thread_{};
  bool has_thread_ = false;
  // When every request must be over, by SteadyNs; moved nearer by Stop.
  std::atomic<std::int64_t> cut_off_ns_{INT64_MAX};
  std::atomic<bool> stopping_{false};
  std::atomic<std::uint64_t> flushes_asked_{0};
  bool outage_told_ = false;
  LockEvents lock_events_;
  ExportLane spans_;
  ExportLane profiles_;

  Mutex mutex_;
  CondVar flushed_;
  bool ended_ GUARDED_BY(mutex_) = false;
  std::uint64_t flushes_done_ GUARDED_BY(mutex_) = 0;
  bool last_flush_ok_ GUARDED_BY(mutex_) = false;
};

}  // namespace hotspan::agent
