// The data of bench-load: spans and profiles as 50 services would send them, the same for the same
// seed, as encoded OTLP messages.
//
// Threads: one thread at a time.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/ids.h"

namespace hotspan::cli {

struct LoadShape {
  std::uint64_t spans = 0;
  std::uint64_t samples = 0;
  std::uint64_t seed = 1;
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
};

struct LoadMessage {
  bool profile = false;
  std::uint64_t items = 0;  // spans or samples
  std::string bytes;
};

// splitmix64: small, fast, and the same everywhere.
class LoadRandom {
 public:
  explicit LoadRandom(std::uint64_t seed) : state_(seed) {}
  std::uint64_t Next();
  // In [0, bound).
  std::uint64_t Below(std::uint64_t bound) { return Next() % bound; }
  double Unit() { return static_cast<double>(Next() >> 11) * 0x1.0p-53; }

 private:
  std::uint64_t state_;
};

// Index i with a weight of 1/(i+1).
class LoadZipf {
 public:
  explicit LoadZipf(std::size_t size);
  std::size_t Draw(LoadRandom& random) const;

 private:
  std::vector<double> sums_;
};

class LoadData {
 public:
  explicit LoadData(const LoadShape& shape);

  // The next message in the order of time; false at the end.
  bool Next(LoadMessage& out);

 private:
  struct LinkedSpan {
    TraceId trace_id;
    SpanId span_id;
    std::int64_t start_ns = 0;
    std::int64_t duration_ns = 0;
  };
  struct Service {
    std::string name;
    std::string spans;  // encoded, waiting for the batch to be full
    std::uint64_t waiting = 0;
    std::deque<LinkedSpan> recent;  // for samples to link to
  };

  void AddTrace();
  void AddSpan(Service& service, const TraceId& trace, const SpanId& span, const SpanId& parent,
               std::int64_t start_ns, std::int64_t duration_ns, std::size_t depth);
  void AppendAttributes(std::string& span);
  void Flush(Service& service);
  void AddProfile();
  TraceId NewTraceId();
  SpanId NewSpanId();
  std::int64_t NowNs() const;

  const LoadShape shape_;
  LoadRandom random_;
  const LoadZipf service_zipf_;
  const LoadZipf operation_zipf_;
  const LoadZipf value_zipf_;
  std::vector<Service> services_;
  std::deque<LoadMessage> ready_;
  std::uint64_t spans_made_ = 0;
  std::uint64_t samples_made_ = 0;
  std::size_t profile_turn_ = 0;
  bool flushed_ = false;
};

}  // namespace hotspan::cli
