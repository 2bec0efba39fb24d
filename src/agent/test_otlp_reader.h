// Reads OTLP requests back for tests of this folder: any message as a tree of its fields.
//
// Threads: a value.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <protozero/pbf_reader.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace hotspan::agent {

// A protobuf message whose meaning the reader of a field knows.
class Pbf {
 public:
  explicit Pbf(std::string bytes = {}) : bytes_(std::move(bytes)) {}

  std::vector<std::string> All(unsigned tag) const {
    std::vector<std::string> found;
    protozero::pbf_reader reader(bytes_);
    while (reader.next()) {
      if (reader.tag() == tag) {
        found.push_back(reader.get_string());
      } else {
        reader.skip();
      }
    }
    return found;
  }
  std::vector<Pbf> Messages(unsigned tag) const {
    std::vector<Pbf> found;
    for (std::string& bytes : All(tag)) found.emplace_back(std::move(bytes));
    return found;
  }
  bool Has(unsigned tag) const {
    protozero::pbf_reader reader(bytes_);
    return reader.next(tag);
  }
  Pbf Message(unsigned tag) const { return Pbf(Text(tag)); }
  std::string Text(unsigned tag) const {
    const std::vector<std::string> found = All(tag);
    return found.empty() ? std::string() : found.back();
  }
  std::int64_t Int(unsigned tag) const {
    protozero::pbf_reader reader(bytes_);
    return reader.next(tag) ? reader.get_int64() : 0;
  }
  std::uint64_t Fixed64(unsigned tag) const {
    protozero::pbf_reader reader(bytes_);
    return reader.next(tag) ? reader.get_fixed64() : 0;
  }
  std::uint32_t Fixed32(unsigned tag) const {
    protozero::pbf_reader reader(bytes_);
    return reader.next(tag) ? reader.get_fixed32() : 0;
  }
  std::vector<std::int64_t> PackedInts(unsigned tag) const {
    protozero::pbf_reader reader(bytes_);
    if (!reader.next(tag)) return {};
    const auto range = reader.get_packed_int64();
    return {range.begin(), range.end()};
  }
  std::vector<std::uint64_t> PackedFixed64(unsigned tag) const {
    protozero::pbf_reader reader(bytes_);
    if (!reader.next(tag)) return {};
    const auto range = reader.get_packed_fixed64();
    return {range.begin(), range.end()};
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

// An AnyValue as text.
inline std::string AnyText(const Pbf& any) {
  if (any.Has(1)) return any.Text(1);
  if (any.Has(2)) return any.Int(2) != 0 ? "true" : "false";
  if (any.Has(3)) return std::to_string(any.Int(3));
  if (any.Has(4)) {
    protozero::pbf_reader reader(any.bytes());
    reader.next(4);
    return std::to_string(reader.get_double());
  }
  return "?";
}

// KeyValues of field `tag`; a key that stands twice fails the test.
inline std::map<std::string, std::string> Attributes(const Pbf& message, unsigned tag) {
  std::map<std::string, std::string> found;
  for (const Pbf& pair : message.Messages(tag)) {
    EXPECT_TRUE(found.emplace(pair.Text(1), AnyText(pair.Message(2))).second) << pair.Text(1);
  }
  return found;
}

inline std::string Hex(std::string_view bytes) {
  std::string hex;
  for (const char byte : bytes) {
    hex += "0123456789abcdef"[(byte >> 4) & 15];
    hex += "0123456789abcdef"[byte & 15];
  }
  return hex;
}

// A Span of an ExportTraceServiceRequest.
struct ReadSpan {
  std::string trace_id, span_id, parent_id, name, trace_state, status_message;
  std::int64_t kind = 0, status = 0, dropped_attributes = 0, dropped_events = 0;
  std::uint64_t start = 0, end = 0;
  std::uint32_t flags = 0;
  std::map<std::string, std::string> attributes;
  std::vector<std::string> events;
  std::vector<std::uint64_t> event_times;
  std::vector<std::map<std::string, std::string>> event_attributes;
};

inline std::vector<ReadSpan> ReadSpans(const std::string& request) {
  std::vector<ReadSpan> spans;
  for (const Pbf& resource_spans : Pbf(request).Messages(1)) {
    for (const Pbf& scope_spans : resource_spans.Messages(2)) {
      for (const Pbf& span : scope_spans.Messages(2)) {
        ReadSpan read;
        read.trace_id = Hex(span.Text(1));
        read.span_id = Hex(span.Text(2));
        read.trace_state = span.Text(3);
        read.parent_id = Hex(span.Text(4));
        read.name = span.Text(5);
        read.kind = span.Int(6);
        read.start = span.Fixed64(7);
        read.end = span.Fixed64(8);
        read.attributes = Attributes(span, 9);
        read.dropped_attributes = span.Int(10);
        for (const Pbf& event : span.Messages(11)) {
          read.event_times.push_back(event.Fixed64(1));
          read.events.push_back(event.Text(2));
          read.event_attributes.push_back(Attributes(event, 3));
        }
        read.dropped_events = span.Int(12);
        read.status_message = span.Message(15).Text(2);
        read.status = span.Message(15).Int(3);
        read.flags = span.Fixed32(16);
        spans.push_back(read);
      }
    }
  }
  return spans;
}

// The attributes of the one Resource of a request.
inline std::map<std::string, std::string> ReadResource(const std::string& request) {
  return Attributes(Pbf(request).Message(1).Message(1), 1);
}

}  // namespace hotspan::agent
