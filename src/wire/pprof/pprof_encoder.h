// Stacks with sums to pprof's profile.proto, gzip as pprof's tools expect it.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "model/stack.h"
#include "model/time.h"

namespace hotspan::wire {

struct PprofInput {
  std::string type, unit;
  std::string period_type, period_unit;
  std::int64_t period = 0;
  TimeNs time;
  DurationNs duration;
  const FrameTable& frames;
  // Indices into frames.frames, leaf first, and the sum.
  std::vector<std::pair<std::vector<std::uint32_t>, std::int64_t>> stacks;
};

std::string EncodePprof(const PprofInput& input);

}  // namespace hotspan::wire
