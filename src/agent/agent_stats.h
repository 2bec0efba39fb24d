// What the library counts about itself, for hotspan_get_stats.
//
// Threads: any.
#pragma once

#include <atomic>
#include <cstdint>

namespace hotspan::agent {

struct AgentStats {
  std::atomic<std::uint64_t> spans_ended{0};
  std::atomic<std::uint64_t> spans_sent{0};
  std::atomic<std::uint64_t> spans_dropped{0};
  std::atomic<std::uint64_t> samples_taken{0};
  std::atomic<std::uint64_t> samples_sent{0};
  std::atomic<std::uint64_t> samples_dropped{0};
};

}  // namespace hotspan::agent
