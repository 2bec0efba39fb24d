// Counters of what came in, by signal and reason, for /metrics.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace hotspan::ingest {

enum class Signal { kTraces = 0, kProfiles = 1, kPyroscope = 2 };
inline constexpr std::size_t kSignals = 3;

// Why a whole request was refused.
enum class Refusal {
  kContentType = 0,
  kTooLarge = 1,
  kMalformed = 2,
  kOverload = 3,
  kStorage = 4,
};
inline constexpr std::size_t kRefusals = 5;

struct SignalStats {
  std::uint64_t requests = 0;
  std::uint64_t duplicates = 0;
  std::uint64_t accepted = 0;  // spans, or profiles
  std::uint64_t rejected = 0;  // spans, or profiles, of requests that were taken
  std::uint64_t samples = 0;
  std::uint64_t wire_bytes = 0;      // as received
  std::uint64_t inflated_bytes = 0;  // after inflating
  std::uint64_t truncated_values = 0;
  std::uint64_t invalid_utf8 = 0;
  std::uint64_t dropped_values = 0;
  std::array<std::uint64_t, kRefusals> refused{};
};

struct IngestStats {
  std::array<SignalStats, kSignals> signals{};
  // By wire::ProfileLayout's number: none, OTLP 1.9, OTLP 1.10, pprof, folded.
  std::array<std::uint64_t, 5> layouts{};
  std::uint64_t in_flight_bytes = 0;
  std::uint64_t in_flight_bytes_max = 0;  // highest seen
};

// "traces", "profiles", "pyroscope".
std::string_view SignalName(Signal signal);
// "content_type", "too_large", "malformed", "overload", "storage".
std::string_view RefusalName(Refusal refusal);

}  // namespace hotspan::ingest
