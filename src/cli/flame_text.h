// A flame graph as an indented tree, the heaviest parts only.
#pragma once

#include <ostream>
#include <string_view>

#include "cli/json.h"

namespace hotspan::cli {

// `flame` is {"names","levels","total"}. Nodes below `share_min` of the total, and lines beyond
// `lines_max`, are left out.
void PrintFlame(std::ostream& out, const Json& flame, double share_min, std::size_t lines_max);

}  // namespace hotspan::cli
