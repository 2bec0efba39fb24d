#include "model/span.h"

namespace hotspan {

void SpanBatch::AppendFrom(const SpanBatch& other, const SpanRow& span) {
  SpanRow copy = span;
  if (last_source_ != &other || last_source_resource_ != span.resource || resources.empty()) {
    const ResourceRow& from = other.resources[span.resource];
    ResourceRow resource = from;
    resource.service_name = Add(other.Text(from.service_name));
    resource.attributes = Add(other.Text(from.attributes));
    resource.schema_url = Add(other.Text(from.schema_url));
    resources.push_back(resource);
    last_source_scope_ = UINT32_MAX;
  }
  if (last_source_ != &other || last_source_scope_ != span.scope || scopes.empty()) {
    const ScopeRow& from = other.scopes[span.scope];
    ScopeRow scope = from;
    scope.name = Add(other.Text(from.name));
    scope.version = Add(other.Text(from.version));
    scope.attributes = Add(other.Text(from.attributes));
    scope.schema_url = Add(other.Text(from.schema_url));
    scopes.push_back(scope);
  }
  last_source_ = &other;
  last_source_resource_ = span.resource;
  last_source_scope_ = span.scope;
  copy.resource = static_cast<std::uint32_t>(resources.size() - 1);
  copy.scope = static_cast<std::uint32_t>(scopes.size() - 1);
  copy.name = Add(other.Text(span.name));
  copy.attributes = Add(other.Text(span.attributes));
  copy.events = Add(other.Text(span.events));
  copy.links = Add(other.Text(span.links));
  copy.trace_state = Add(other.Text(span.trace_state));
  copy.status_message = Add(other.Text(span.status_message));
  spans.push_back(copy);
}

void AppendEvent(std::string& out, const SpanEvent& event) {
  AppendRaw(out, event.time.ns);
  AppendSized(out, event.name);
  AppendSized(out, event.attributes.packed());
  AppendVarint(out, event.dropped_attributes);
}

std::vector<SpanEvent> ReadEvents(std::string_view packed) {
  std::vector<SpanEvent> events;
  ByteReader reader(packed);
  while (!reader.AtEnd()) {
    SpanEvent event;
    event.time = {reader.Raw<std::int64_t>()};
    event.name = reader.Sized();
    event.attributes = AttributeList(reader.Sized());
    event.dropped_attributes = static_cast<std::uint32_t>(reader.Varint());
    if (reader.failed()) break;
    events.push_back(event);
  }
  return events;
}

void AppendLink(std::string& out, const SpanLink& link) {
  out.append(link.trace_id.AsBytes());
  out.append(link.span_id.AsBytes());
  AppendSized(out, link.trace_state);
  AppendSized(out, link.attributes.packed());
  AppendVarint(out, link.dropped_attributes);
  AppendVarint(out, link.flags);
}

std::vector<SpanLink> ReadLinks(std::string_view packed) {
  std::vector<SpanLink> links;
  ByteReader reader(packed);
  while (!reader.AtEnd()) {
    SpanLink link;
    const std::string_view trace_id = reader.Bytes(16);
    const std::string_view span_id = reader.Bytes(8);
    link.trace_state = reader.Sized();
    link.attributes = AttributeList(reader.Sized());
    link.dropped_attributes = static_cast<std::uint32_t>(reader.Varint());
    link.flags = static_cast<std::uint32_t>(reader.Varint());
    if (reader.failed()) break;
    link.trace_id = TraceId::FromBytes(trace_id);
    link.span_id = SpanId::FromBytes(span_id);
    links.push_back(link);
  }
  return links;
}

std::string_view SpanKindName(SpanKind kind) {
  switch (kind) {
    case SpanKind::kUnspecified:
      return "unspecified";
    case SpanKind::kInternal:
      return "internal";
    case SpanKind::kServer:
      return "server";
    case SpanKind::kClient:
      return "client";
    case SpanKind::kProducer:
      return "producer";
    case SpanKind::kConsumer:
      return "consumer";
  }
  return "unspecified";
}

std::string_view SpanStatusName(SpanStatus status) {
  switch (status) {
    case SpanStatus::kUnset:
      return "unset";
    case SpanStatus::kOk:
      return "ok";
    case SpanStatus::kError:
      return "error";
  }
  return "unset";
}

}  // namespace hotspan
