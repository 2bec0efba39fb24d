// Starts and ends spans: ids, parents, the sampling decision, and the place in the code.
//
// Threads: any; a span is worked on by one thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

#include "agent/agent_stats.h"
#include "agent/context_stack.h"
#include "agent/span_queue.h"
#include "agent/span_sampler.h"

namespace hotspan::agent {

// Where in the code; null and zero where not known.
struct CodePlace {
  const char* file = nullptr;
  const char* function = nullptr;
  int line = 0;
};

class Tracer {
 public:
  // Both are to outlive the tracer, which is to outlive its spans.
  Tracer(SpanSampler sampler, SpanQueue* queue, AgentStats* stats)
      : sampler_(std::move(sampler)), queue_(queue), stats_(stats) {}

  // A span that is current on this thread: a child of `remote` if that is given, else of the
  // current context, else a root.
  std::unique_ptr<SpanHandle> Start(std::string_view name, int kind, const SpanContext* remote,
                                    const CodePlace& place) const;

  // Takes an ended span; true if the exporter should be woken.
  bool Finish(std::unique_ptr<SpanRecord> record) const;

 private:
  SpanSampler sampler_;
  SpanQueue* queue_;
  AgentStats* stats_;
};

// Ends a span of any tracer; true if the exporter should be woken. One that began before a fork is
// not recorded in the child, as the parent records it.
bool EndSpan(std::unique_ptr<SpanHandle> span);

}  // namespace hotspan::agent
