// A recorded span from its start to its encoding. Attributes and events are kept as the protobuf
// bytes they will be sent as, so that encoding later is a copy.
//
// Threads: owned by one at a time: the one that works on the span, then the queue, then the
// exporter.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "agent/lock_wait.h"
#include "agent/span_context.h"

namespace hotspan::agent {

class Tracer;

struct SpanRecord {
  SpanRecord* next = nullptr;      // in the queue
  const Tracer* tracer = nullptr;  // which takes it when it ends
  std::uint64_t fork_generation = 0;
  TraceIdBytes trace_id{};
  SpanIdBytes span_id{};
  SpanIdBytes parent_span_id{};  // zero: a root
  std::uint32_t flags = 0;       // as in OTLP
  std::uint32_t kind = 0;
  std::int64_t start_ns = 0;  // since the epoch
  std::int64_t end_ns = 0;
  std::int64_t start_steady_ns = 0;  // the duration is by the clock that nobody sets
  std::string trace_state;
  std::string name;
  std::string attributes;  // encoded fields 9 of a Span
  std::string events;      // encoded fields 11
  std::string status_message;
  std::uint32_t attribute_count = 0;
  std::uint32_t dropped_attributes = 0;
  std::uint32_t event_count = 0;
  std::uint32_t dropped_events = 0;
  bool error = false;

  // A key that is set again takes the new value.
  void Set(std::string_view key, std::string_view value);
  void Set(std::string_view key, std::int64_t value);
  void Set(std::string_view key, double value);
  void Set(std::string_view key, bool value);
  void AddEvent(std::string_view event_name, std::int64_t time_ns);
  // An event "lock.wait" at the beginning of the wait.
  void AddLockWait(const LockWait& wait);

 private:
  bool HasRoomForEvent();
  template <typename WriteValue>
  void Put(std::string_view key, WriteValue&& write_value);
};

// `text` in valid UTF-8, which protobuf demands, of at most limits::kAgentTextBytesMax bytes.
std::string CleanText(std::string_view text);

}  // namespace hotspan::agent
