// Spans as decoders make them, engines keep them and queries read them: plain rows over one arena.
//
// A SpanBatch holds spans of any traces and services. Rows are trivially copyable; all text, packed
// attributes, events and links are slices of `arena`. Times are the sender's.
//
// Threads: a value; const access from any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "model/attributes.h"
#include "model/ids.h"
#include "model/time.h"

namespace hotspan {

// A slice of an arena.
struct Slice {
  std::uint32_t offset = 0;
  std::uint32_t size = 0;
};

// OTLP's numbers. On disk: never renumber.
enum class SpanKind : std::uint8_t {
  kUnspecified = 0,
  kInternal = 1,
  kServer = 2,
  kClient = 3,
  kProducer = 4,
  kConsumer = 5,
};
enum class SpanStatus : std::uint8_t { kUnset = 0, kOk = 1, kError = 2 };

struct ResourceRow {
  Slice service_name{};  // "unknown_service" where the sender gave none
  Slice attributes{};    // packed list, service.name included
  Slice schema_url{};
  std::uint32_t dropped_attributes = 0;
};

struct ScopeRow {
  Slice name{};
  Slice version{};
  Slice attributes{};
  Slice schema_url{};
  std::uint32_t dropped_attributes = 0;
};

struct SpanRow {
  TraceId trace_id{};
  SpanId span_id{};
  SpanId parent_span_id{};  // zero for a root
  TimeNs start{};
  TimeNs end{};  // never before start
  Slice name{};
  Slice attributes{};  // packed list
  Slice events{};      // see EventList
  Slice links{};       // see LinkList
  Slice trace_state{};
  Slice status_message{};
  std::uint32_t resource = 0;  // index into SpanBatch::resources
  std::uint32_t scope = 0;     // index into SpanBatch::scopes
  std::uint32_t flags = 0;
  std::uint32_t dropped_attributes = 0;
  std::uint32_t dropped_events = 0;
  std::uint32_t dropped_links = 0;
  SpanKind kind = SpanKind::kUnspecified;
  SpanStatus status = SpanStatus::kUnset;
  std::uint8_t reserved[6] = {};

  DurationNs duration() const { return end - start; }
};

struct SpanBatch {
  std::string arena{};
  std::vector<ResourceRow> resources{};
  std::vector<ScopeRow> scopes{};
  std::vector<SpanRow> spans{};

  std::string_view Text(Slice slice) const {
    return std::string_view(arena).substr(slice.offset, slice.size);
  }
  AttributeList Attributes(Slice slice) const { return AttributeList(Text(slice)); }
  std::string_view ServiceOf(const SpanRow& span) const {
    return Text(resources[span.resource].service_name);
  }
  // Copies `text` into the arena.
  Slice Add(std::string_view text) {
    const auto offset = static_cast<std::uint32_t>(arena.size());
    arena.append(text);
    return {offset, static_cast<std::uint32_t>(text.size())};
  }
  // The slice of everything appended to the arena since it had `offset` bytes.
  Slice Since(std::size_t offset) const {
    return {static_cast<std::uint32_t>(offset), static_cast<std::uint32_t>(arena.size() - offset)};
  }
  // Appends a copy of a span of another batch with its resource and scope (shared with the span
  // before, if that came with the same ones).
  void AppendFrom(const SpanBatch& other, const SpanRow& span);

 private:
  const SpanBatch* last_source_ = nullptr;
  std::uint32_t last_source_resource_ = 0;
  std::uint32_t last_source_scope_ = 0;
};

// One event, as read from a packed event list.
struct SpanEvent {
  TimeNs time{};
  std::string_view name{};
  AttributeList attributes;
  std::uint32_t dropped_attributes = 0;
};

// A packed event list is, for each event: 8 bytes time, sized name, sized packed attributes, varint
// count of dropped attributes.
void AppendEvent(std::string& out, const SpanEvent& event);
std::vector<SpanEvent> ReadEvents(std::string_view packed);

struct SpanLink {
  TraceId trace_id{};
  SpanId span_id{};
  std::string_view trace_state{};
  AttributeList attributes;
  std::uint32_t dropped_attributes = 0;
  std::uint32_t flags = 0;
};

// A packed link list is, for each link: 16 and 8 bytes of ids, sized trace state, sized packed
// attributes, varint dropped attributes, varint flags.
void AppendLink(std::string& out, const SpanLink& link);
std::vector<SpanLink> ReadLinks(std::string_view packed);

// "server", "client", ...; "unset", "ok", "error".
std::string_view SpanKindName(SpanKind kind);
std::string_view SpanStatusName(SpanStatus status);

}  // namespace hotspan
