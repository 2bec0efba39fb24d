// pprof's profile.proto, gzip or raw, to samples: one series for each sample type.
//
// String labels span_id, trace_id and profile_id become links (profile_id names the local root
// span, as Pyroscope's older SDKs send it); thread labels become thread.id and thread.name.
#pragma once

#include <string_view>

#include "base/result.h"
#include "wire/decode.h"

namespace hotspan::wire {

struct PprofOptions {
  ProfileSource source;
  // Name of series of contentions and delays, which pprof doesn't tell apart: "mutex" or "block".
  std::string contention_name = "mutex";
};

// A profile is taken whole or refused (kInvalidArgument). Threads: callable from any thread.
Result<ProfileDecode> DecodePprof(std::string_view body, const PprofOptions& options);

// Whether the body can be nothing else than pprof: gzip, or protobuf fields of a profile.
bool LooksLikePprof(std::string_view body);

}  // namespace hotspan::wire
