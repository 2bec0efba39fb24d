// OTLP traces (ExportTraceServiceRequest, TracesData) to spans.
#pragma once

#include <string_view>

#include "base/result.h"
#include "wire/decode.h"

namespace hotspan::wire {

// A span with a bad id or bad times is rejected and named in the message, the rest is kept; a body
// that is no OTLP at all is kInvalidArgument. Threads: callable from any thread.
Result<TraceDecode> DecodeTraces(std::string_view body, Encoding encoding);

}  // namespace hotspan::wire
