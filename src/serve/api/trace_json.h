// A whole trace as the page shows it: waterfall order, self times, critical path, samples by span.
#pragma once

#include <string>

#include "model/ids.h"
#include "storage/engine.h"

namespace hotspan::serve {

// `samples` were asked for the trace's spans, in their order.
std::string TraceJson(const TraceId& id, const storage::SpanScanResult& trace,
                      const storage::SpanSamples& samples);

}  // namespace hotspan::serve
