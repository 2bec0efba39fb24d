// Requests of OTLP/HTTP in protobuf: spans as ExportTraceServiceRequest, samples as
// ExportProfilesServiceRequest in the layout of opentelemetry-proto 1.10; and the answers' partial
// success.
//
// Threads: any; functions without state.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "agent/profile_chunk.h"
#include "agent/span_record.h"

namespace hotspan::agent {

// A value of a resource attribute: text or a number.
struct ResourceAttribute {
  std::string key;
  std::string text;
  std::optional<std::int64_t> number;  // instead of text
};

// An encoded Resource, to be used in every request.
std::string EncodeResource(const std::vector<ResourceAttribute>& attributes);

std::string EncodeSpans(std::string_view resource,
                        std::span<const std::unique_ptr<SpanRecord>> spans);

// The name of a thread of this process by its id; empty where not known.
using ThreadNames = std::function<std::string(std::uint32_t thread_id)>;

// The samples on the CPU as one profile (cpu/nanoseconds with the period), those off it as another
// (off_cpu/nanoseconds). Samples that name what the chunk does not hold are left out.
std::string EncodeProfiles(std::string_view resource, const ProfileChunk& chunk,
                           const ThreadNames& thread_names);

// The name from /proc/self/task, for threads that still live.
std::string ThreadNameFromProc(std::uint32_t thread_id);

struct PartialSuccess {
  std::uint64_t rejected = 0;  // spans or profiles
  std::string message;
};
// Zero and empty for a full success or an answer that is not one.
PartialSuccess DecodePartialSuccess(std::string_view response);

}  // namespace hotspan::agent
