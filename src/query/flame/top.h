// The table of functions: what each costs itself and with its callees, and on which lines.
//
// Threads: pure functions over values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "model/stack.h"
#include "query/flame/flame.h"

namespace hotspan::query::flame {

struct LineCost {
  std::int32_t line = 0;  // 0: not known
  std::int64_t self = 0;
  std::int64_t total = 0;
  std::uint64_t samples = 0;  // with this line anywhere in the stack
};

struct TopRow {
  std::string function;  // a frame's label
  std::string file;
  std::int32_t line = 0;  // the heaviest line: by self, then by total
  std::string module;
  std::int64_t self = 0;
  std::int64_t total = 0;  // a stack counts once, however often the function recurs in it
  std::uint64_t self_samples = 0;
  std::uint64_t total_samples = 0;
  std::vector<LineCost> lines;  // heaviest first; known lines only
};

// Sorted by self, then total (greatest first), then name. Of more than `limit` functions it gives
// the half with the greatest self and the half with the greatest total.
std::vector<TopRow> TopTable(const FrameTable& frames, std::span<const WeightedStack> stacks,
                             std::size_t limit);

}  // namespace hotspan::query::flame
