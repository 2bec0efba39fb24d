// What this process is, where profilers outside of it find it: the mapping of OpenTelemetry's
// OTEP 4719, with the key that announces the thread context of OTEP 4947.
//
// Threads: one at a time.
#pragma once

#include <string>

namespace hotspan::agent {

// Publishes an encoded Resource, or replaces what was published before. Without effect where the
// kernel gives no memory for it.
void PublishProcessContext(const std::string& resource);

}  // namespace hotspan::agent
