#include "agent/otlp_encode.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <protozero/pbf_writer.hpp>

#include "agent/otlp_fields.h"
#include "agent/profile_encoder.h"
#include "base/bytes.h"

namespace hotspan::agent {
namespace {

using protozero::pbf_writer;

constexpr std::string_view kScope = "libhotspan";

template <std::size_t kSize>
void AddBytes(pbf_writer& writer, otlp::Tag tag, const std::array<std::uint8_t, kSize>& bytes) {
  writer.add_bytes(tag, reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

void AddText(pbf_writer& writer, otlp::Tag tag, std::string_view text) {
  writer.add_string(tag, text.data(), text.size());
}

// Replaces `bytes` by the span.
void EncodeSpan(const SpanRecord& span, std::string& bytes) {
  bytes.clear();
  pbf_writer out(bytes);
  AddBytes(out, otlp::kSpanTraceId, span.trace_id);
  AddBytes(out, otlp::kSpanSpanId, span.span_id);
  if (!span.trace_state.empty()) AddText(out, otlp::kSpanTraceState, span.trace_state);
  if (span.parent_span_id != SpanIdBytes{}) {
    AddBytes(out, otlp::kSpanParentSpanId, span.parent_span_id);
  }
  AddText(out, otlp::kSpanName, span.name);
  out.add_enum(otlp::kSpanKind, static_cast<std::int32_t>(span.kind));
  out.add_fixed64(otlp::kSpanStart, static_cast<std::uint64_t>(span.start_ns));
  out.add_fixed64(otlp::kSpanEnd, static_cast<std::uint64_t>(span.end_ns));
  if (span.dropped_attributes > 0) {
    out.add_uint32(otlp::kSpanDroppedAttributes, span.dropped_attributes);
  }
  if (span.dropped_events > 0) out.add_uint32(otlp::kSpanDroppedEvents, span.dropped_events);
  if (span.error) {
    pbf_writer status(out, otlp::kSpanStatus);
    if (!span.status_message.empty()) {
      AddText(status, otlp::kStatusMessage, span.status_message);
    }
    status.add_enum(otlp::kStatusCode, otlp::kStatusCodeError);
  }
  out.add_fixed32(otlp::kSpanFlags, span.flags);
  // These are encoded with their tags already.
  bytes += span.attributes;
  bytes += span.events;
}

// Calls `fill` with the writer of the one ScopeSpans or ScopeProfiles.
template <typename Fill>
void WriteSkeleton(pbf_writer& request, std::string_view resource, Fill&& fill) {
  pbf_writer per_resource(request, otlp::kRequestResources);
  per_resource.add_message(otlp::kPerResourceResource, resource.data(), resource.size());
  pbf_writer per_scope(per_resource, otlp::kPerResourceScopes);
  {
    pbf_writer scope(per_scope, otlp::kPerScopeScope);
    AddText(scope, otlp::kScopeName, kScope);
    AddText(scope, otlp::kScopeVersion, HOTSPAN_AGENT_VERSION);
  }
  fill(per_scope);
}

}  // namespace

std::string EncodeResource(const std::vector<ResourceAttribute>& attributes) {
  std::string bytes;
  pbf_writer resource(bytes);
  for (const ResourceAttribute& attribute : attributes) {
    pbf_writer pair(resource, otlp::kResourceAttributes);
    AddText(pair, otlp::kKeyValueKey, CleanText(attribute.key));
    pbf_writer any(pair, otlp::kKeyValueValue);
    if (attribute.number) {
      any.add_int64(otlp::kAnyInt, *attribute.number);
    } else {
      AddText(any, otlp::kAnyString, CleanText(attribute.text));
    }
  }
  return bytes;
}

std::string EncodeSpans(std::string_view resource,
                        std::span<const std::unique_ptr<SpanRecord>> spans) {
  std::string bytes;
  pbf_writer request(bytes);
  WriteSkeleton(request, resource, [&](pbf_writer& scope_spans) {
    std::string one;
    for (const auto& span : spans) {
      EncodeSpan(*span, one);
      scope_spans.add_message(otlp::kPerScopeItems, one);
    }
  });
  return bytes;
}

std::string EncodeProfiles(std::string_view resource, const ProfileChunk& chunk,
                           const ThreadNames& thread_names) {
  ProfileEncoder encoder(chunk, thread_names);
  std::string bytes;
  pbf_writer request(bytes);
  WriteSkeleton(request, resource, [&](pbf_writer& scope_profiles) {
    for (const SampleKind kind : kSampleKinds) encoder.WriteProfiles(scope_profiles, kind);
  });
  pbf_writer dictionary(request, otlp::kProfilesRequestDictionary);
  encoder.WriteDictionary(dictionary);
  return bytes;
}

std::string ThreadNameFromProc(std::uint32_t thread_id) {
  const std::string path = "/proc/self/task/" + std::to_string(thread_id) + "/comm";
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return {};
  std::array<char, 64> name{};
  const ssize_t size = ::read(file, name.data(), name.size());
  ::close(file);
  if (size <= 0) return {};
  std::string_view text(name.data(), static_cast<std::size_t>(size));
  if (text.back() == '\n') text.remove_suffix(1);
  return std::string(text);
}

PartialSuccess DecodePartialSuccess(std::string_view response) {
  PartialSuccess result;
  constexpr std::uint64_t kVarint = 0;
  constexpr std::uint64_t kLength = 2;
  // The response, or with `partial` its one message.
  const auto scan = [&](const auto& self, std::string_view bytes, bool partial) -> bool {
    ByteReader reader(bytes);
    while (!reader.AtEnd() && !reader.failed()) {
      const std::uint64_t key = reader.Varint();
      const std::uint64_t tag = key >> 3;
      if ((key & 7) == kVarint) {
        const std::uint64_t value = reader.Varint();
        if (partial && tag == otlp::kPartialRejected) result.rejected = value;
      } else if ((key & 7) == kLength) {
        const std::string_view field = reader.Sized();
        if (!partial && tag == otlp::kResponsePartialSuccess) {
          if (!self(self, field, true)) return false;
        } else if (partial && tag == otlp::kPartialMessage) {
          result.message = field;
        }
      } else {
        return false;
      }
    }
    return !reader.failed();
  };
  if (!scan(scan, response, false)) return {};
  return result;
}

}  // namespace hotspan::agent
