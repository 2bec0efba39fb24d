// The encoded batches of one signal on their way to one URL: a bounded queue, retries with
// back-off, and the counting of what was taken and what was lost.
//
// Threads: belongs to the exporter's thread; the counters are read by all.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

#include "agent/http_client.h"
#include "agent/random.h"

namespace hotspan::agent {

struct LaneOptions {
  std::string_view signal;  // "spans" or "profiles", for the log
  HttpHeaders headers;
  bool gzip = true;
  int timeout_ms = 10'000;      // of one request
  int back_off_min_ms = 1'000;  // doubles with every failure, less a random part
  int back_off_max_ms = 30'000;
};

class ExportLane {
 public:
  enum class Outcome {
    kEmpty,     // all is sent or refused for good
    kWaiting,   // the server asked to come later, or it is not time yet
    kNoServer,  // it could not be reached
  };

  // `outage_told` is common to lanes, so that a missing server is told of once. All pointers are to
  // outlive the lane.
  ExportLane(LaneOptions options, HttpUrl url, const std::atomic<std::int64_t>* cut_off_ns,
             std::atomic<std::uint64_t>* sent, std::atomic<std::uint64_t>* dropped,
             bool* outage_told);

  // `items` are what is counted (spans, samples); `units` what a partial success counts (spans,
  // profiles).
  void Add(const std::string& request, std::uint64_t items, std::uint64_t units);

  // Sends what waits, as far as the server takes it. `now` tries even if it is not time yet.
  Outcome Send(bool now);

  // What still waits is lost.
  void DropAll();

  bool empty() const { return pending_.empty(); }
  // When to try again, by SteadyNs; 0: at once.
  std::int64_t next_attempt_ns() const { return next_attempt_ns_; }

 private:
  struct Batch {
    std::string body;
    std::uint64_t items;
    std::uint64_t units;
  };

  void DropOldest();
  void CountAnswer(const Batch& batch, const HttpResponse& response);
  void BackOff(const HttpResponse& response);
  void TellOutage(std::string_view cause);

  const LaneOptions options_;
  HttpHeaders headers_;
  HttpClient client_;
  std::atomic<std::uint64_t>* sent_;
  std::atomic<std::uint64_t>* dropped_;
  bool* outage_told_;
  int told_status_ = 0;  // the refusal that was last logged
  std::deque<Batch> pending_;
  std::size_t pending_bytes_ = 0;
  int failures_ = 0;  // in a row
  std::int64_t next_attempt_ns_ = 0;
  Random random_;
};

}  // namespace hotspan::agent
