// Findings from the shape of a trace: repeated calls, calls that could run side by side, failed and
// repeated attempts, waiting before work begins.
//
// Threads: pure functions over values.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "correlate/explanation.h"
#include "model/span.h"
#include "query/trace_tree.h"

namespace hotspan::correlate {

// Over everything below `node`; times are what the span of `node` would gain.
std::vector<Finding> FindInTrace(const SpanBatch& batch, const query::TraceTree& tree,
                                 std::uint32_t node);

// A statement with its literals, numbers and lists of placeholders replaced by "?", so that the
// same statement with other values reads the same.
std::string NormalizeStatement(std::string_view statement);

}  // namespace hotspan::correlate
