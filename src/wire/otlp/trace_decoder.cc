#include "wire/otlp/trace_decoder.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/limits.h"
#include "wire/otlp/attribute_packer.h"
#include "wire/otlp/json_transcoder.h"
#include "wire/protobuf.h"
#include "wire/text.h"

namespace hotspan::wire {
namespace {

// A span as on the wire, before it is checked.
struct RawSpan {
  std::string_view trace_id, span_id, parent_span_id;
  std::string_view trace_state, name, status;
  std::uint64_t start = 0, end = 0;
  std::uint32_t kind = 0, flags = 0;
  std::uint32_t dropped_attributes = 0, dropped_events = 0, dropped_links = 0;
  std::size_t attribute_count = 0, event_count = 0, link_count = 0;
};

// What is over the limit of a list counts as dropped.
std::uint32_t Dropped(std::uint32_t by_sender, std::size_t count, std::size_t max,
                      DecodeCounts& counts) {
  if (count <= max) [[likely]]
    return by_sender;
  counts.dropped += count - max;
  const std::uint64_t total = std::uint64_t{by_sender} + (count - max);
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(total, UINT32_MAX));
}

// One pass over a message, appending to the arena of the batch. Throws protozero::exception.
class TraceReader {
 public:
  TraceDecode Read(std::string_view body);

 private:
  void ReadResourceSpans(std::string_view message);
  void AddResource();
  void ReadScopeSpans(std::string_view message);
  void AddScope();
  void ReadSpan(std::string_view message);
  void ReadSpanFields(Message message, RawSpan& raw);
  void ReadEvent(std::string_view message);
  bool ReadLink(std::string_view message);
  void ReadStatus(std::string_view message, SpanRow& row);
  std::string FindFault(const RawSpan& raw) const;
  Slice AddText(std::string_view text, std::size_t max);

  TraceDecode result_;
  SpanBatch& batch_ = result_.batch;
  DecodeCounts& counts_ = result_.counts;
  AttributePacker packer_{counts_};
  Rejections rejections_;
  // Of the spans being read; stored with the first one that is kept, so that empty messages cost
  // nothing.
  std::string_view resource_, resource_schema_, scope_, scope_schema_;
  bool resource_stored_ = false;
  bool scope_stored_ = false;
  std::string attributes_, events_, links_, nested_, scratch_;
};

TraceDecode TraceReader::Read(std::string_view body) {
  batch_.arena.reserve(body.size() + body.size() / 4);
  Message message(body);
  while (message.next()) {
    if (message.tag_and_type() == Bytes(1)) {
      ReadResourceSpans(View(message));
    } else {
      message.skip();
    }
  }
  result_.rejected = rejections_.count();
  result_.message = rejections_.Message("span");
  return std::move(result_);
}

Slice TraceReader::AddText(std::string_view text, std::size_t max) {
  return batch_.Add(CleanText(text, max, scratch_, counts_));
}

void TraceReader::ReadResourceSpans(std::string_view bytes) {
  resource_ = {};
  resource_schema_ = {};
  resource_stored_ = false;
  // The resource may stand after the spans that need it, so it is looked for first.
  for (Message message(bytes); message.next();) {
    switch (message.tag_and_type()) {
      case Bytes(1):
        resource_ = View(message);
        break;
      case Bytes(3):
        resource_schema_ = View(message);
        break;
      default:
        message.skip();
    }
  }
  for (Message message(bytes); message.next();) {
    if (message.tag_and_type() == Bytes(2)) {
      ReadScopeSpans(View(message));
    } else {
      message.skip();
    }
  }
}

void TraceReader::AddResource() {
  ResourceRow row;
  const std::size_t begin = batch_.arena.size();
  std::size_t count = 0;
  for (Message message(resource_); message.next();) {
    switch (message.tag_and_type()) {
      case Bytes(1): {
        const std::string_view attribute = View(message);
        if (++count <= limits::kAttributesPerSpanMax) {
          packer_.AppendKeyValue(batch_.arena, attribute);
        }
        break;
      }
      case Varint(2):
        row.dropped_attributes = message.get_uint32();
        break;
      default:
        message.skip();
    }
  }
  row.attributes = batch_.Since(begin);
  row.dropped_attributes =
      Dropped(row.dropped_attributes, count, limits::kAttributesPerSpanMax, counts_);
  row.schema_url = AddText(resource_schema_, limits::kNameBytesMax);
  std::string service(batch_.Attributes(row.attributes).FindText("service.name"));
  if (service.empty()) service = "unknown_service";
  row.service_name = AddText(service, limits::kAttributeKeyBytesMax);
  batch_.resources.push_back(row);
  resource_stored_ = true;
}

void TraceReader::ReadScopeSpans(std::string_view bytes) {
  scope_ = {};
  scope_schema_ = {};
  scope_stored_ = false;
  for (Message message(bytes); message.next();) {
    switch (message.tag_and_type()) {
      case Bytes(1):
        scope_ = View(message);
        break;
      case Bytes(3):
        scope_schema_ = View(message);
        break;
      default:
        message.skip();
    }
  }
  for (Message message(bytes); message.next();) {
    if (message.tag_and_type() == Bytes(2)) {
      ReadSpan(View(message));
    } else {
      message.skip();
    }
  }
}

void TraceReader::AddScope() {
  ScopeRow row;
  nested_.clear();
  std::size_t count = 0;
  for (Message message(scope_); message.next();) {
    switch (message.tag_and_type()) {
      case Bytes(1):
        row.name = AddText(View(message), limits::kNameBytesMax);
        break;
      case Bytes(2):
        row.version = AddText(View(message), limits::kNameBytesMax);
        break;
      case Bytes(3): {
        const std::string_view attribute = View(message);
        if (++count <= limits::kAttributesPerSpanMax) packer_.AppendKeyValue(nested_, attribute);
        break;
      }
      case Varint(4):
        row.dropped_attributes = message.get_uint32();
        break;
      default:
        message.skip();
    }
  }
  row.attributes = batch_.Add(nested_);
  row.dropped_attributes =
      Dropped(row.dropped_attributes, count, limits::kAttributesPerSpanMax, counts_);
  row.schema_url = AddText(scope_schema_, limits::kNameBytesMax);
  batch_.scopes.push_back(row);
  scope_stored_ = true;
}

void TraceReader::ReadSpanFields(Message message, RawSpan& raw) {
  while (message.next()) {
    switch (message.tag_and_type()) {
      case Bytes(1):
        raw.trace_id = View(message);
        break;
      case Bytes(2):
        raw.span_id = View(message);
        break;
      case Bytes(3):
        raw.trace_state = View(message);
        break;
      case Bytes(4):
        raw.parent_span_id = View(message);
        break;
      case Bytes(5):
        raw.name = View(message);
        break;
      case Varint(6):
        raw.kind = message.get_uint32();
        break;
      case Fixed64(7):
        raw.start = message.get_fixed64();
        break;
      case Fixed64(8):
        raw.end = message.get_fixed64();
        break;
      case Bytes(9): {
        const std::string_view attribute = View(message);
        if (++raw.attribute_count <= limits::kAttributesPerSpanMax) {
          packer_.AppendKeyValue(attributes_, attribute);
        }
        break;
      }
      case Varint(10):
        raw.dropped_attributes = message.get_uint32();
        break;
      case Bytes(11): {
        const std::string_view event = View(message);
        if (++raw.event_count <= limits::kEventsPerSpanMax) ReadEvent(event);
        break;
      }
      case Varint(12):
        raw.dropped_events = message.get_uint32();
        break;
      case Bytes(13): {
        const std::string_view link = View(message);
        if (++raw.link_count > limits::kLinksPerSpanMax) break;
        if (!ReadLink(link)) ++raw.dropped_links;
        break;
      }
      case Varint(14):
        raw.dropped_links += message.get_uint32();
        break;
      case Bytes(15):
        raw.status = View(message);
        break;
      case Fixed32(16):
        raw.flags = message.get_fixed32();
        break;
      default:
        message.skip();
    }
  }
}

std::string TraceReader::FindFault(const RawSpan& raw) const {
  const auto is_zero = [](std::string_view id) { return id.find_first_not_of('\0') == id.npos; };
  if (raw.trace_id.size() != 16) {
    return "trace id has " + std::to_string(raw.trace_id.size()) + " bytes, not 16";
  }
  if (is_zero(raw.trace_id)) return "trace id is all zeros";
  if (raw.span_id.size() != 8) {
    return "span id has " + std::to_string(raw.span_id.size()) + " bytes, not 8";
  }
  if (is_zero(raw.span_id)) return "span id is all zeros";
  if (!raw.parent_span_id.empty() && raw.parent_span_id.size() != 8) {
    return "parent span id has " + std::to_string(raw.parent_span_id.size()) + " bytes, not 8";
  }
  if (raw.start > INT64_MAX || raw.end > INT64_MAX) return "time is after the year 2262";
  if (raw.end < raw.start) {
    return "end is " + std::to_string(raw.start - raw.end) + " ns before start";
  }
  return "";
}

void TraceReader::ReadSpan(std::string_view bytes) {
  attributes_.clear();
  events_.clear();
  links_.clear();
  RawSpan raw;
  ReadSpanFields(Message(bytes), raw);
  if (const std::string fault = FindFault(raw); !fault.empty()) [[unlikely]] {
    std::string reason = "span \"" + Quotable(raw.name) + "\"";
    if (raw.span_id.size() == 8) reason += " (" + ToHex(raw.span_id) + ")";
    rejections_.Add(reason + ": " + fault);
    return;
  }
  if (!resource_stored_) AddResource();
  if (!scope_stored_) AddScope();
  SpanRow row;
  row.trace_id = TraceId::FromBytes(raw.trace_id);
  row.span_id = SpanId::FromBytes(raw.span_id);
  if (!raw.parent_span_id.empty()) row.parent_span_id = SpanId::FromBytes(raw.parent_span_id);
  row.start = {static_cast<std::int64_t>(raw.start)};
  row.end = {static_cast<std::int64_t>(raw.end)};
  row.name = AddText(raw.name, limits::kNameBytesMax);
  row.attributes = batch_.Add(attributes_);
  row.events = batch_.Add(events_);
  row.links = batch_.Add(links_);
  row.trace_state = AddText(raw.trace_state, limits::kAttributeValueBytesMax);
  row.resource = static_cast<std::uint32_t>(batch_.resources.size() - 1);
  row.scope = static_cast<std::uint32_t>(batch_.scopes.size() - 1);
  row.flags = raw.flags;
  row.dropped_attributes =
      Dropped(raw.dropped_attributes, raw.attribute_count, limits::kAttributesPerSpanMax, counts_);
  row.dropped_events =
      Dropped(raw.dropped_events, raw.event_count, limits::kEventsPerSpanMax, counts_);
  row.dropped_links = Dropped(raw.dropped_links, raw.link_count, limits::kLinksPerSpanMax, counts_);
  if (raw.kind <= 5) row.kind = static_cast<SpanKind>(raw.kind);
  ReadStatus(raw.status, row);
  batch_.spans.push_back(row);
}

void TraceReader::ReadStatus(std::string_view bytes, SpanRow& row) {
  for (Message message(bytes); message.next();) {
    switch (message.tag_and_type()) {
      case Bytes(2):
        row.status_message = AddText(View(message), limits::kAttributeValueBytesMax);
        break;
      case Varint(3): {
        const std::uint32_t code = message.get_uint32();
        if (code <= 2) row.status = static_cast<SpanStatus>(code);
        break;
      }
      default:
        message.skip();
    }
  }
}

void TraceReader::ReadEvent(std::string_view bytes) {
  SpanEvent event;
  std::string_view name;
  nested_.clear();
  std::size_t count = 0;
  for (Message message(bytes); message.next();) {
    switch (message.tag_and_type()) {
      case Fixed64(1): {
        const std::uint64_t time = message.get_fixed64();
        event.time = {static_cast<std::int64_t>(std::min<std::uint64_t>(time, INT64_MAX))};
        break;
      }
      case Bytes(2):
        name = View(message);
        break;
      case Bytes(3): {
        const std::string_view attribute = View(message);
        if (++count <= limits::kAttributesPerSpanMax) packer_.AppendKeyValue(nested_, attribute);
        break;
      }
      case Varint(4):
        event.dropped_attributes = message.get_uint32();
        break;
      default:
        message.skip();
    }
  }
  event.name = CleanText(name, limits::kNameBytesMax, scratch_, counts_);
  event.attributes = AttributeList(nested_);
  event.dropped_attributes =
      Dropped(event.dropped_attributes, count, limits::kAttributesPerSpanMax, counts_);
  AppendEvent(events_, event);
}

bool TraceReader::ReadLink(std::string_view bytes) {
  SpanLink link;
  std::string_view trace_id, span_id, trace_state;
  nested_.clear();
  std::size_t count = 0;
  for (Message message(bytes); message.next();) {
    switch (message.tag_and_type()) {
      case Bytes(1):
        trace_id = View(message);
        break;
      case Bytes(2):
        span_id = View(message);
        break;
      case Bytes(3):
        trace_state = View(message);
        break;
      case Bytes(4): {
        const std::string_view attribute = View(message);
        if (++count <= limits::kAttributesPerSpanMax) packer_.AppendKeyValue(nested_, attribute);
        break;
      }
      case Varint(5):
        link.dropped_attributes = message.get_uint32();
        break;
      case Fixed32(6):
        link.flags = message.get_fixed32();
        break;
      default:
        message.skip();
    }
  }
  if (trace_id.size() != 16 || span_id.size() != 8) {
    ++counts_.dropped;
    return false;
  }
  link.trace_id = TraceId::FromBytes(trace_id);
  link.span_id = SpanId::FromBytes(span_id);
  link.trace_state = CleanText(trace_state, limits::kAttributeValueBytesMax, scratch_, counts_);
  link.attributes = AttributeList(nested_);
  link.dropped_attributes =
      Dropped(link.dropped_attributes, count, limits::kAttributesPerSpanMax, counts_);
  AppendLink(links_, link);
  return true;
}

Result<TraceDecode> DecodeProtobuf(std::string_view body) {
  try {
    return TraceReader().Read(body);
  } catch (const protozero::exception& error) {
    return Fail(Code::kInvalidArgument,
                std::string("otlp trace: malformed protobuf: ") + error.what());
  }
}

}  // namespace

Result<TraceDecode> DecodeTraces(std::string_view body, Encoding encoding) {
  if (body.size() > limits::kMessageBytesMax) {
    return Fail(Code::kResourceExhausted, "otlp trace: body is larger than the limit of " +
                                              std::to_string(limits::kMessageBytesMax) + " bytes");
  }
  if (encoding == Encoding::kProtobuf) return DecodeProtobuf(body);
  auto transcoded = TranscodeTracesJson(body);
  if (!transcoded) return Fail(std::move(transcoded.error()).Within("otlp trace"));
  auto decoded = DecodeProtobuf(transcoded->protobuf);
  if (decoded && transcoded->repaired_utf8) ++decoded->counts.invalid_utf8;
  return decoded;
}

}  // namespace hotspan::wire
