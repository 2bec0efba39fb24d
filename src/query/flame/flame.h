// Flame graphs: weighted stacks become a tree, and the tree the rows of bars that viewers draw.
//
// Threads: pure functions over values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/limits.h"
#include "model/stack.h"

namespace hotspan::query::flame {

// A stack and what was measured in it: the sum in the profile type's unit, and how many samples.
struct WeightedStack {
  StackNumber stack{};
  std::int64_t value = 0;
  std::uint64_t count = 0;
};

// The flamebearer shape. Level 0 is one bar, the root "total". A bar is four numbers: offset from
// the end of the bar before it in its level (of the first: from 0), total, self, index into names.
// Children lie inside of their parent's bar, right of its self time, greatest first.
struct FlameGraph {
  std::vector<std::string> names;
  std::vector<std::vector<std::int64_t>> levels;
  std::int64_t total = 0;
  std::int64_t max_self = 0;
  std::size_t nodes = 0;         // bars in `levels`
  std::size_t merged_nodes = 0;  // nodes that went into bars named "(other)"
};

inline constexpr std::string_view kRootName = "total";
inline constexpr std::string_view kOtherName = "(other)";

// a + b, stopping at the ends of the type: values come from senders.
std::int64_t AddSaturating(std::int64_t a, std::int64_t b);

// What a frame is called in a graph: its function, else "module+0xoffset".
std::string FrameLabel(const Frame& frame);

// Frames of the same label are one node. Siblings are sorted by total, greatest first, then by
// name. At most `max_nodes` nodes (and the root) keep their own bar; under each parent the smaller
// ones merge into a bar "(other)", the last of its siblings. Stacks that the table doesn't know and
// values of 0 or less are left out.
FlameGraph BuildFlame(const FrameTable& frames, std::span<const WeightedStack> stacks,
                      std::size_t max_nodes = limits::kFlameNodesMax);

}  // namespace hotspan::query::flame
