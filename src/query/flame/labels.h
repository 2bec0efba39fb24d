// Frame labels interned once, and stacks as rows of label numbers; internal to query/flame.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "model/stack.h"
#include "query/flame/flame.h"

namespace hotspan::query::flame {

struct LabelledStack {
  std::uint32_t first = 0;  // range in LabelledStacks::tokens
  std::uint32_t size = 0;
  std::int64_t value = 0;
  std::uint64_t count = 0;
};

// Stacks root first; tokens are indices into `labels`, of which [0] is kRootName.
struct LabelledStacks {
  std::vector<std::string> labels;
  std::vector<std::uint32_t> tokens;
  std::vector<LabelledStack> stacks;
};

LabelledStacks LabelStacks(const FrameTable& frames, std::span<const WeightedStack> stacks);

}  // namespace hotspan::query::flame
