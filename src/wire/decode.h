// What every decoder of this folder takes and gives: the encoding of a body, the batch that came
// out of it, and what was refused, cut or repaired on the way.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "model/sample.h"
#include "model/span.h"
#include "model/time.h"

namespace hotspan::wire {

enum class Encoding { kProtobuf, kJson };

// Repairs made while decoding; none of them refuses anything.
struct DecodeCounts {
  std::uint64_t truncated = 0;     // values, names, keys or stacks cut at their limit
  std::uint64_t invalid_utf8 = 0;  // strings in which bytes were replaced by U+FFFD
  std::uint64_t dropped = 0;       // attributes, events and links beyond their count, samples <= 0
};

struct TraceDecode {
  SpanBatch batch;
  std::uint64_t rejected = 0;  // spans
  std::string message;         // why, empty if nothing was rejected
  DecodeCounts counts;
};

enum class ProfileLayout { kNone, kOtlp9, kOtlp10, kPprof, kFolded };

struct ProfileDecode {
  SampleBatch batch;
  std::uint64_t profiles = 0;  // accepted
  std::uint64_t rejected = 0;  // profiles
  std::string message;         // why, empty if nothing was rejected
  ProfileLayout layout = ProfileLayout::kNone;
  // Whether the profiles say themselves when they were taken.
  bool has_time = false;
  DecodeCounts counts;
};

// Who sent a profile and when, for formats that don't say.
struct ProfileSource {
  std::string service_name = "unknown_service";
  std::string resource_attributes;  // packed list
  std::string series_attributes;    // packed list
  TimeNs start;                     // used where the profile has no time
  DurationNs duration;              // used where the profile has no duration
};

// "otlp-1.9", "otlp-1.10", "pprof", "folded", "none".
std::string_view ProfileLayoutName(ProfileLayout layout);

}  // namespace hotspan::wire
