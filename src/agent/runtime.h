// The library as a whole, from hotspan_start to hotspan_stop: tracer, exporter and profiler, their
// start and end, and what a fork does to them.
//
// Threads: all functions may be called from any thread.
#pragma once

#include <cstdint>

#include "agent/env_config.h"
#include "agent/hotspan.h"
#include "agent/tracer.h"

namespace hotspan::agent {

// The tracer; null while the library is not started. In a child after a fork, the first call starts
// exporter and profiler anew.
const Tracer* CurrentTracer();

// A batch of spans waits.
void WakeExporter();

bool StartRuntime(const AgentConfig& config);
void StopRuntime();
bool FlushRuntime(int timeout_ms);
void ReadStats(hotspan_stats* stats);

}  // namespace hotspan::agent
