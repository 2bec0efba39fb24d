#include "agent/span_record.h"

#include <protozero/pbf_writer.hpp>

#include "agent/otlp_fields.h"
#include "base/bytes.h"
#include "base/limits.h"
#include "base/utf8.h"

namespace hotspan::agent {
namespace {

// Takes the attribute of that key out of encoded ones; false if there is none.
bool RemoveKey(std::string& attributes, std::string_view key) {
  ByteReader reader(attributes);
  while (!reader.AtEnd() && !reader.failed()) {
    const std::size_t start = attributes.size() - reader.remaining();
    reader.Varint();  // the tag, always field 9
    ByteReader pair(reader.Sized());
    const std::size_t end = attributes.size() - reader.remaining();
    pair.Varint();  // the tag, always field 1 first
    if (pair.Sized() == key) {
      attributes.erase(start, end - start);
      return true;
    }
  }
  return false;
}

template <std::size_t kSize>
std::string HexText(const std::array<std::uint8_t, kSize>& bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string hex;
  for (const std::uint8_t byte : bytes) {
    hex += kDigits[byte >> 4];
    hex += kDigits[byte & 15];
  }
  return hex;
}

std::string_view LockKindName(LockKind kind) {
  switch (kind) {
    case LockKind::kMutex:
      return "mutex";
    case LockKind::kReadLock:
      return "rwlock read";
    case LockKind::kWriteLock:
      return "rwlock write";
  }
  return "";
}

}  // namespace

std::string CleanText(std::string_view text) {
  std::string_view kept = text.substr(0, limits::kAgentTextBytesMax);
  // A cut within a character leaves its first bytes, at most three, which belong to nothing.
  if (kept.size() < text.size()) {
    while (!kept.empty() && (static_cast<unsigned char>(text[kept.size()]) & 0xc0u) == 0x80u) {
      kept.remove_suffix(1);
    }
  }
  return IsValidUtf8(kept) ? std::string(kept) : ReplaceInvalidUtf8(kept);
}

template <typename WriteValue>
void SpanRecord::Put(std::string_view key, WriteValue&& write_value) {
  if (key.empty()) return;
  const std::string clean_key = CleanText(key);
  if (RemoveKey(attributes, clean_key)) {
    --attribute_count;
  } else if (attribute_count >= limits::kAgentAttributesPerSpanMax) {
    ++dropped_attributes;
    return;
  }
  ++attribute_count;
  protozero::pbf_writer span(attributes);
  protozero::pbf_writer pair(span, otlp::kSpanAttributes);
  pair.add_string(otlp::kKeyValueKey, clean_key);
  protozero::pbf_writer any(pair, otlp::kKeyValueValue);
  write_value(any);
}

void SpanRecord::Set(std::string_view key, std::string_view value) {
  Put(key, [&](protozero::pbf_writer& any) { any.add_string(otlp::kAnyString, CleanText(value)); });
}

void SpanRecord::Set(std::string_view key, std::int64_t value) {
  Put(key, [&](protozero::pbf_writer& any) { any.add_int64(otlp::kAnyInt, value); });
}

void SpanRecord::Set(std::string_view key, double value) {
  Put(key, [&](protozero::pbf_writer& any) { any.add_double(otlp::kAnyDouble, value); });
}

void SpanRecord::Set(std::string_view key, bool value) {
  Put(key, [&](protozero::pbf_writer& any) { any.add_bool(otlp::kAnyBool, value); });
}

bool SpanRecord::HasRoomForEvent() {
  if (event_count >= limits::kAgentEventsPerSpanMax) {
    ++dropped_events;
    return false;
  }
  ++event_count;
  return true;
}

void SpanRecord::AddEvent(std::string_view event_name, std::int64_t time_ns) {
  if (!HasRoomForEvent()) return;
  protozero::pbf_writer span(events);
  protozero::pbf_writer event(span, otlp::kSpanEvents);
  event.add_fixed64(otlp::kEventTime, static_cast<std::uint64_t>(time_ns));
  event.add_string(otlp::kEventName, CleanText(event_name));
}

void SpanRecord::AddLockWait(const LockWait& wait) {
  if (!HasRoomForEvent()) return;
  protozero::pbf_writer span(events);
  protozero::pbf_writer event(span, otlp::kSpanEvents);
  // By the clock of the span's own duration, so that it lies within it.
  event.add_fixed64(otlp::kEventTime,
                    static_cast<std::uint64_t>(start_ns + (wait.begin_ns - start_steady_ns)));
  event.add_string(otlp::kEventName, "lock.wait");
  const auto text = [&](std::string_view key, std::string_view value) {
    protozero::pbf_writer pair(event, otlp::kEventAttributes);
    pair.add_string(otlp::kKeyValueKey, key.data(), key.size());
    protozero::pbf_writer any(pair, otlp::kKeyValueValue);
    any.add_string(otlp::kAnyString, value.data(), value.size());
  };
  {
    protozero::pbf_writer pair(event, otlp::kEventAttributes);
    pair.add_string(otlp::kKeyValueKey, "lock.wait_ns");
    protozero::pbf_writer any(pair, otlp::kKeyValueValue);
    any.add_int64(otlp::kAnyInt, wait.wait_ns);
  }
  text("lock.kind", LockKindName(wait.kind));
  if (wait.holder_span_id == decltype(wait.holder_span_id){}) return;
  text("lock.holder.trace_id", HexText(wait.holder_trace_id));
  text("lock.holder.span_id", HexText(wait.holder_span_id));
}

}  // namespace hotspan::agent
