// The identity of a span as it travels: ids, flags and where it came from.
//
// Threads: a value.
#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace hotspan::agent {

using TraceIdBytes = std::array<std::uint8_t, 16>;
using SpanIdBytes = std::array<std::uint8_t, 8>;

inline constexpr std::uint8_t kSampledFlag = 0x01;  // W3C trace-flags

struct SpanContext {
  TraceIdBytes trace_id{};
  SpanIdBytes span_id{};
  std::uint8_t flags = 0;
  bool remote = false;
  std::string trace_state;

  bool IsValid() const { return trace_id != TraceIdBytes{} && span_id != SpanIdBytes{}; }
  bool sampled() const { return (flags & kSampledFlag) != 0; }
};

}  // namespace hotspan::agent
