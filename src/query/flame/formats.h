// Flame graphs as other programs read them: flamebearer JSON, folded text, speedscope, SVG and
// binary columns (docs/formats/flame-columns.md).
//
// Threads: pure functions over values.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/json_writer.h"
#include "model/stack.h"
#include "query/flame/flame.h"
#include "query/flame/top.h"

namespace hotspan::query::flame {

// {"names":[...],"levels":[[...]],"total":n,"max_self":n}
void WriteFlame(JsonWriter& json, const FlameGraph& graph);

// Members of one row of the table, without braces: function, file, line, self, total, samples,
// lines. The caller may add members of its own (shares).
void WriteTopMembers(JsonWriter& json, const TopRow& row);

struct RenderOptions {
  std::string title;
  std::string unit;  // of the values: "nanoseconds", "bytes", "count", ...
};

// "root;caller;leaf value" lines, sorted, each stack once.
std::string FoldedText(const FrameTable& frames, std::span<const WeightedStack> stacks);

// A speedscope file with one profile of type "sampled".
std::string SpeedscopeJson(const FrameTable& frames, std::span<const WeightedStack> stacks,
                           const RenderOptions& options);

// A picture of its own, root at the top, with a title on each bar; no script.
std::string FlameSvg(const FlameGraph& graph, const RenderOptions& options);

std::string FlameColumns(const FlameGraph& graph);

// "1.25 s", "340 ms", "12.0 MiB", "17": a value in its unit for people.
std::string FormatValue(std::int64_t value, std::string_view unit);

}  // namespace hotspan::query::flame
