#include "wire/otlp/trace_encoder.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <protozero/pbf_writer.hpp>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/limits.h"

namespace hotspan::wire {
namespace {

using protozero::pbf_writer;

struct ScopeGroup {
  std::uint32_t scope = 0;
  std::vector<std::uint32_t> spans;
};
struct ResourceGroup {
  std::uint32_t resource = 0;
  std::vector<ScopeGroup> scopes;
};

std::vector<ResourceGroup> GroupSpans(const SpanBatch& batch) {
  std::vector<ResourceGroup> groups;
  std::unordered_map<std::uint32_t, std::size_t> resource_at;
  std::unordered_map<std::uint64_t, std::size_t> scope_at;
  for (std::uint32_t i = 0; i < batch.spans.size(); ++i) {
    const SpanRow& span = batch.spans[i];
    const auto [resource, new_resource] = resource_at.try_emplace(span.resource, groups.size());
    if (new_resource) groups.push_back({span.resource, {}});
    auto& scopes = groups[resource->second].scopes;
    const std::uint64_t key = std::uint64_t{span.resource} << 32 | span.scope;
    const auto [scope, new_scope] = scope_at.try_emplace(key, scopes.size());
    if (new_scope) scopes.push_back({span.scope, {}});
    scopes[scope->second].spans.push_back(i);
  }
  return groups;
}

// ---- protobuf

void PutText(pbf_writer& out, std::uint32_t field, std::string_view text) {
  if (!text.empty()) out.add_bytes(field, text.data(), text.size());
}
void PutCount(pbf_writer& out, std::uint32_t field, std::uint32_t count) {
  if (count != 0) out.add_uint32(field, count);
}

void PutAttributes(pbf_writer& out, std::uint32_t field, AttributeList attributes, int depth);

void PutValue(pbf_writer& out, const Value& value, int depth) {
  if (depth > limits::kValueDepthMax) return;
  switch (value.kind()) {
    case ValueKind::kEmpty:
      break;
    case ValueKind::kString:
      out.add_string(1, value.text().data(), value.text().size());
      break;
    case ValueKind::kBool:
      out.add_bool(2, value.AsBool());
      break;
    case ValueKind::kInt:
      out.add_int64(3, value.AsInt());
      break;
    case ValueKind::kDouble:
      out.add_double(4, value.AsDouble());
      break;
    case ValueKind::kBytes:
      out.add_bytes(7, value.text().data(), value.text().size());
      break;
    case ValueKind::kArray: {
      // The writer leaves empty messages out; here they stand for values.
      if (value.text().empty()) out.add_message(5, "", 0);
      pbf_writer array(out, 5);
      for (const Value& element : ValueList(value.text())) {
        if (element.kind() == ValueKind::kEmpty) {
          array.add_message(1, "", 0);
          continue;
        }
        pbf_writer any(array, 1);
        PutValue(any, element, depth + 1);
      }
      break;
    }
    case ValueKind::kMap: {
      if (value.text().empty()) out.add_message(6, "", 0);
      pbf_writer map(out, 6);
      PutAttributes(map, 1, AttributeList(value.text()), depth + 1);
      break;
    }
  }
}

void PutAttributes(pbf_writer& out, std::uint32_t field, AttributeList attributes, int depth) {
  for (const auto& [key, value] : attributes) {
    pbf_writer entry(out, field);
    entry.add_string(1, key.data(), key.size());
    pbf_writer any(entry, 2);
    PutValue(any, value, depth);
  }
}

void PutId(pbf_writer& out, std::uint32_t field, std::string_view id) {
  out.add_bytes(field, id.data(), id.size());
}

void PutEventsAndLinks(pbf_writer& out, const SpanBatch& batch, const SpanRow& span) {
  for (const SpanEvent& event : ReadEvents(batch.Text(span.events))) {
    pbf_writer message(out, 11);
    message.add_fixed64(1, static_cast<std::uint64_t>(event.time.ns));
    PutText(message, 2, event.name);
    PutAttributes(message, 3, event.attributes, 0);
    PutCount(message, 4, event.dropped_attributes);
  }
  for (const SpanLink& link : ReadLinks(batch.Text(span.links))) {
    pbf_writer message(out, 13);
    PutId(message, 1, link.trace_id.AsBytes());
    PutId(message, 2, link.span_id.AsBytes());
    PutText(message, 3, link.trace_state);
    PutAttributes(message, 4, link.attributes, 0);
    PutCount(message, 5, link.dropped_attributes);
    if (link.flags != 0) message.add_fixed32(6, link.flags);
  }
}

void PutSpan(pbf_writer& out, const SpanBatch& batch, const SpanRow& span) {
  pbf_writer message(out, 2);
  PutId(message, 1, span.trace_id.AsBytes());
  PutId(message, 2, span.span_id.AsBytes());
  PutText(message, 3, batch.Text(span.trace_state));
  if (!span.parent_span_id.IsZero()) PutId(message, 4, span.parent_span_id.AsBytes());
  PutText(message, 5, batch.Text(span.name));
  if (span.kind != SpanKind::kUnspecified) message.add_enum(6, static_cast<int>(span.kind));
  message.add_fixed64(7, static_cast<std::uint64_t>(span.start.ns));
  message.add_fixed64(8, static_cast<std::uint64_t>(span.end.ns));
  PutAttributes(message, 9, batch.Attributes(span.attributes), 0);
  PutCount(message, 10, span.dropped_attributes);
  PutEventsAndLinks(message, batch, span);
  PutCount(message, 12, span.dropped_events);
  PutCount(message, 14, span.dropped_links);
  {
    pbf_writer status(message, 15);
    PutText(status, 2, batch.Text(span.status_message));
    if (span.status != SpanStatus::kUnset) status.add_enum(3, static_cast<int>(span.status));
  }
  if (span.flags != 0) message.add_fixed32(16, span.flags);
}

// ---- JSON

std::string Base64(std::string_view bytes) {
  static constexpr char kDigits[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t bits = 0;
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - i);
    for (std::size_t k = 0; k < 3; ++k) {
      bits = bits << 8 | (k < count ? static_cast<unsigned char>(bytes[i + k]) : 0u);
    }
    for (std::size_t k = 0; k < 4; ++k) {
      out += k <= count ? kDigits[bits >> (18 - 6 * k) & 63] : '=';
    }
  }
  return out;
}

class JsonTraces {
 public:
  JsonTraces(JsonWriter& json, const SpanBatch& batch, JsonFlavour flavour)
      : json_(json), batch_(batch), tempo_(flavour == JsonFlavour::kTempo) {}

  void Write(std::string_view resource_spans_key) {
    json_.BeginObject().Key(resource_spans_key).BeginArray();
    for (const ResourceGroup& group : GroupSpans(batch_)) WriteResource(group);
    json_.EndArray().EndObject();
  }

 private:
  void Text(std::string_view key, std::string_view text) {
    if (!text.empty()) json_.Key(key).String(text);
  }
  void Count(std::string_view key, std::uint32_t count) {
    if (count != 0) json_.Key(key).Number(count);
  }
  void Id(std::string_view key, std::string_view bytes) {
    json_.Key(key).String(tempo_ ? Base64(bytes) : ToHex(bytes));
  }
  void Time(std::string_view key, TimeNs time) {
    if (!tempo_ || time.ns != 0) json_.Key(key).DecimalString(time.ns);
  }

  void WriteValue(const Value& value, int depth) {
    json_.BeginObject();
    switch (value.kind()) {
      case ValueKind::kEmpty:
        break;
      case ValueKind::kString:
        json_.Key("stringValue").String(value.text());
        break;
      case ValueKind::kBool:
        json_.Key("boolValue").Bool(value.AsBool());
        break;
      case ValueKind::kInt:
        json_.Key("intValue").DecimalString(value.AsInt());
        break;
      case ValueKind::kDouble:
        WriteDouble(value.AsDouble());
        break;
      case ValueKind::kBytes:
        json_.Key("bytesValue").String(Base64(value.text()));
        break;
      case ValueKind::kArray:
        json_.Key("arrayValue").BeginObject().Key("values").BeginArray();
        if (depth < limits::kValueDepthMax) {
          for (const Value& element : ValueList(value.text())) WriteValue(element, depth + 1);
        }
        json_.EndArray().EndObject();
        break;
      case ValueKind::kMap:
        json_.Key("kvlistValue").BeginObject().Key("values").BeginArray();
        if (depth < limits::kValueDepthMax) {
          WriteEntries(AttributeList(value.text()), depth + 1);
        }
        json_.EndArray().EndObject();
        break;
    }
    json_.EndObject();
  }

  void WriteDouble(double number) {
    json_.Key("doubleValue");
    if (std::isnan(number)) {
      json_.String("NaN");
    } else if (std::isinf(number)) {
      json_.String(number > 0 ? "Infinity" : "-Infinity");
    } else {
      json_.Number(number);
    }
  }

  void WriteEntries(AttributeList attributes, int depth) {
    for (const auto& [key, value] : attributes) {
      json_.BeginObject().Key("key").String(key).Key("value");
      WriteValue(value, depth);
      json_.EndObject();
    }
  }

  void WriteAttributes(AttributeList attributes) {
    if (attributes.empty()) return;
    json_.Key("attributes").BeginArray();
    WriteEntries(attributes, 0);
    json_.EndArray();
  }

  void WriteResource(const ResourceGroup& group) {
    const ResourceRow& row = batch_.resources[group.resource];
    json_.BeginObject().Key("resource").BeginObject();
    WriteAttributes(batch_.Attributes(row.attributes));
    Count("droppedAttributesCount", row.dropped_attributes);
    json_.EndObject().Key("scopeSpans").BeginArray();
    for (const ScopeGroup& scope : group.scopes) WriteScope(scope);
    json_.EndArray();
    Text("schemaUrl", batch_.Text(row.schema_url));
    json_.EndObject();
  }

  void WriteScope(const ScopeGroup& group) {
    const ScopeRow& row = batch_.scopes[group.scope];
    json_.BeginObject().Key("scope").BeginObject();
    Text("name", batch_.Text(row.name));
    Text("version", batch_.Text(row.version));
    WriteAttributes(batch_.Attributes(row.attributes));
    Count("droppedAttributesCount", row.dropped_attributes);
    json_.EndObject().Key("spans").BeginArray();
    for (const std::uint32_t span : group.spans) WriteSpan(batch_.spans[span]);
    json_.EndArray();
    Text("schemaUrl", batch_.Text(row.schema_url));
    json_.EndObject();
  }

  void WriteSpan(const SpanRow& span) {
    json_.BeginObject();
    Id("traceId", span.trace_id.AsBytes());
    Id("spanId", span.span_id.AsBytes());
    Text("traceState", batch_.Text(span.trace_state));
    if (!span.parent_span_id.IsZero()) Id("parentSpanId", span.parent_span_id.AsBytes());
    Count("flags", span.flags);
    Text("name", batch_.Text(span.name));
    WriteKind(span.kind);
    Time("startTimeUnixNano", span.start);
    Time("endTimeUnixNano", span.end);
    WriteAttributes(batch_.Attributes(span.attributes));
    Count("droppedAttributesCount", span.dropped_attributes);
    WriteEvents(ReadEvents(batch_.Text(span.events)));
    Count("droppedEventsCount", span.dropped_events);
    WriteLinks(ReadLinks(batch_.Text(span.links)));
    Count("droppedLinksCount", span.dropped_links);
    WriteStatus(span);
    json_.EndObject();
  }

  void WriteKind(SpanKind kind) {
    static constexpr std::string_view kNames[] = {"SPAN_KIND_UNSPECIFIED", "SPAN_KIND_INTERNAL",
                                                  "SPAN_KIND_SERVER",      "SPAN_KIND_CLIENT",
                                                  "SPAN_KIND_PRODUCER",    "SPAN_KIND_CONSUMER"};
    if (!tempo_) {
      json_.Key("kind").Number(static_cast<int>(kind));
    } else if (kind != SpanKind::kUnspecified) {
      json_.Key("kind").String(kNames[static_cast<std::size_t>(kind)]);
    }
  }

  void WriteStatus(const SpanRow& span) {
    json_.Key("status").BeginObject();
    if (span.status != SpanStatus::kUnset) {
      json_.Key("code");
      if (tempo_) {
        json_.String(span.status == SpanStatus::kOk ? "STATUS_CODE_OK" : "STATUS_CODE_ERROR");
      } else {
        json_.Number(static_cast<int>(span.status));
      }
    }
    Text("message", batch_.Text(span.status_message));
    json_.EndObject();
  }

  void WriteEvents(const std::vector<SpanEvent>& events) {
    if (events.empty()) return;
    json_.Key("events").BeginArray();
    for (const SpanEvent& event : events) {
      json_.BeginObject();
      Time("timeUnixNano", event.time);
      Text("name", event.name);
      WriteAttributes(event.attributes);
      Count("droppedAttributesCount", event.dropped_attributes);
      json_.EndObject();
    }
    json_.EndArray();
  }

  void WriteLinks(const std::vector<SpanLink>& links) {
    if (links.empty()) return;
    json_.Key("links").BeginArray();
    for (const SpanLink& link : links) {
      json_.BeginObject();
      Id("traceId", link.trace_id.AsBytes());
      Id("spanId", link.span_id.AsBytes());
      Text("traceState", link.trace_state);
      WriteAttributes(link.attributes);
      Count("droppedAttributesCount", link.dropped_attributes);
      Count("flags", link.flags);
      json_.EndObject();
    }
    json_.EndArray();
  }

  JsonWriter& json_;
  const SpanBatch& batch_;
  bool tempo_;
};

}  // namespace

std::string EncodeTracesProto(const SpanBatch& batch) {
  std::string out;
  out.reserve(batch.arena.size() + batch.spans.size() * 128);
  pbf_writer root(out);
  for (const ResourceGroup& group : GroupSpans(batch)) {
    const ResourceRow& resource = batch.resources[group.resource];
    pbf_writer resource_spans(root, 1);
    {
      pbf_writer message(resource_spans, 1);
      PutAttributes(message, 1, batch.Attributes(resource.attributes), 0);
      PutCount(message, 2, resource.dropped_attributes);
    }
    for (const ScopeGroup& scope_group : group.scopes) {
      const ScopeRow& scope = batch.scopes[scope_group.scope];
      pbf_writer scope_spans(resource_spans, 2);
      {
        pbf_writer message(scope_spans, 1);
        PutText(message, 1, batch.Text(scope.name));
        PutText(message, 2, batch.Text(scope.version));
        PutAttributes(message, 3, batch.Attributes(scope.attributes), 0);
        PutCount(message, 4, scope.dropped_attributes);
      }
      for (const std::uint32_t span : scope_group.spans) {
        PutSpan(scope_spans, batch, batch.spans[span]);
      }
      PutText(scope_spans, 3, batch.Text(scope.schema_url));
    }
    PutText(resource_spans, 3, batch.Text(resource.schema_url));
  }
  return out;
}

void WriteTracesJson(JsonWriter& json, const SpanBatch& batch, JsonFlavour flavour,
                     std::string_view resource_spans_key) {
  JsonTraces(json, batch, flavour).Write(resource_spans_key);
}

}  // namespace hotspan::wire
