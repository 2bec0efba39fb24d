// What the sampler hands to the exporter: samples gathered since the last drain, with their stacks.
//
// Threads: a value; made by the drain thread, consumed by the export thread.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace hotspan::agent {

// A loaded executable or library.
struct Module {
  std::string path;
  std::string build_id;     // hex, or empty
  std::uint64_t start = 0;  // of the mapping in memory
  std::uint64_t limit = 0;
  std::uint64_t file_offset = 0;  // of the byte at `start`
};

inline constexpr std::uint32_t kNoModule = UINT32_MAX;

// One program counter of the chunk; each distinct one stands once.
struct CodeLocation {
  std::uint64_t file_offset = 0;  // within the module's file; the address itself without a module
  std::uint32_t module = kNoModule;
  std::string
      function;  // demangled name from the ELF symbols, or a pseudo-frame "[io] read"; may be empty
};

enum class SampleKind : std::uint8_t {
  kOnCpu = 0,   // value: nanoseconds of CPU time it stands for
  kOffCpu = 1,  // value: nanoseconds of waiting it stands for
  kLock = 2,    // value: nanoseconds of one wait for a lock, as measured
};

inline constexpr SampleKind kSampleKinds[] = {SampleKind::kOnCpu, SampleKind::kOffCpu,
                                              SampleKind::kLock};

struct CollectedSample {
  std::int64_t time_ns = 0;  // since the epoch
  std::int64_t value_ns = 0;
  std::array<std::uint8_t, 16> trace_id{};  // zero: no span was active
  std::array<std::uint8_t, 8> span_id{};
  std::uint32_t thread_id = 0;
  std::uint32_t stack = 0;  // index into ProfileChunk::stacks
  SampleKind kind = SampleKind::kOnCpu;
};

struct ProfileChunk {
  std::int64_t start_ns = 0;  // since the epoch
  std::int64_t end_ns = 0;
  std::int64_t period_ns = 0;  // mean CPU time between two on-CPU samples
  std::string sampler;         // "perf", "hrtimer" or "cpu-timer"
  std::uint64_t dropped = 0;   // samples lost since the chunk before
  std::vector<Module> modules;
  std::vector<CodeLocation> locations;
  std::vector<std::vector<std::uint32_t>> stacks;  // indices into locations, leaf first
  std::vector<CollectedSample> samples;
};

}  // namespace hotspan::agent
