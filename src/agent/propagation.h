// The W3C headers traceparent and tracestate, read and written.
//
// Threads: any; functions without state.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "agent/span_context.h"

namespace hotspan::agent {

inline constexpr std::size_t kTraceparentSize = 55;

// The context of a caller. Nothing where the header is not one by the W3C recommendation; a
// tracestate that is not one is left out, as the recommendation has it.
std::optional<SpanContext> ParseTraceparent(std::string_view traceparent,
                                            std::string_view tracestate);

// Writes "00-<trace id>-<span id>-<flags>", kTraceparentSize characters without a zero.
void WriteTraceparent(const SpanContext& context, char* out);

}  // namespace hotspan::agent
