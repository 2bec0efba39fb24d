// What the tests of the sampling half share: work that takes a given CPU time, and looking through
// chunks.
//
// Threads: functions only.
#pragma once

#include <time.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "agent/profile_chunk.h"
#include "agent/signal/thread_context.h"

#if defined(__clang__)
#define NOINLINE __attribute__((noinline))
#else
#define NOINLINE __attribute__((noinline, noclone))
#endif

namespace hotspan::agent {

inline std::uint64_t TestClockNs(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(now.tv_nsec);
}

// Works until this thread has used so much more CPU time. Inlined, so that samples show the caller.
__attribute__((always_inline)) inline void BurnCpu(std::uint64_t ms) {
  const std::uint64_t end = TestClockNs(CLOCK_THREAD_CPUTIME_ID) + ms * 1'000'000;
  volatile std::uint64_t sink = 1;
  while (TestClockNs(CLOCK_THREAD_CPUTIME_ID) < end) {
    for (int i = 0; i < 2000; ++i) sink = sink * 3 + 1;
  }
}

// The current context for the life of this object; all bytes of its ids are `number`.
class TestContext {
 public:
  explicit TestContext(std::uint8_t number) {
    std::uint8_t trace_id[16];
    std::uint8_t span_id[8];
    std::memset(trace_id, number, sizeof(trace_id));
    std::memset(span_id, number, sizeof(span_id));
    PublishContext(trace_id, span_id, 1);
  }
  ~TestContext() { ClearContext(); }
  TestContext(const TestContext&) = delete;
  TestContext& operator=(const TestContext&) = delete;
};

// How often a function stands on a stack.
inline int CountFrames(const ProfileChunk& chunk, const CollectedSample& sample,
                       std::string_view function) {
  int count = 0;
  for (const std::uint32_t location : chunk.stacks[sample.stack]) {
    if (chunk.locations[location].function.find(function) != std::string::npos) ++count;
  }
  return count;
}

inline std::string StackText(const ProfileChunk& chunk, const CollectedSample& sample) {
  std::string text;
  for (const std::uint32_t location : chunk.stacks[sample.stack]) {
    const CodeLocation& at = chunk.locations[location];
    text += at.function.empty() && at.module != kNoModule ? chunk.modules[at.module].path : "";
    text += at.function + ";";
  }
  return text;
}

}  // namespace hotspan::agent
