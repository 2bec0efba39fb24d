// Findings from the ledger's waiting classes: locks with their holders, I/O, network, time without
// a core, garbage collection.
//
// Threads: pure functions over values.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "correlate/cohort.h"
#include "correlate/explanation.h"
#include "model/span.h"

namespace hotspan::correlate {

// Who held a lock the longest while a span waited for it, from the span's "lock.wait" events.
struct LockHolder {
  TraceId trace_id;
  SpanId span_id;
  std::string lock;          // its name, where the event gives one
  std::int64_t wait_ns = 0;  // 0: the event does not say
  std::string service;       // of the holder's span, where that is stored
  std::string name;
};

// The holder of the longest wait; nothing if no event names one.
std::optional<LockHolder> FindLockHolder(const std::vector<SpanEvent>& events);

std::vector<Finding> FindWaits(const Ledger& ledger, const ExplainedSpan& span,
                               const CodeView& view, const std::optional<LockHolder>& holder);

}  // namespace hotspan::correlate
