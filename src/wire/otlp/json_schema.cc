#include "wire/otlp/json_schema.h"

namespace hotspan::wire {
namespace {

constexpr std::string_view kKindNames[] = {"UNSPECIFIED", "INTERNAL", "SERVER",
                                           "CLIENT",      "PRODUCER", "CONSUMER"};
constexpr std::string_view kStatusNames[] = {"UNSET", "OK", "ERROR"};

constexpr JsonField One(std::string_view name, std::uint32_t number, JsonKind kind) {
  return {.name = name, .number = number, .kind = kind};
}
constexpr JsonField Many(std::string_view name, std::uint32_t number, JsonKind kind) {
  return {.name = name, .number = number, .kind = kind, .repeated = true};
}
constexpr JsonField One(std::string_view name, std::uint32_t number,
                        const JsonMessage& (*message)()) {
  return {.name = name, .number = number, .kind = JsonKind::kMessage, .message = message};
}
constexpr JsonField Many(std::string_view name, std::uint32_t number,
                         const JsonMessage& (*message)()) {
  return {.name = name,
          .number = number,
          .kind = JsonKind::kMessage,
          .repeated = true,
          .message = message};
}
constexpr JsonField EnumOf(std::string_view name, std::uint32_t number, std::string_view prefix,
                           std::span<const std::string_view> names) {
  return {.name = name,
          .number = number,
          .kind = JsonKind::kEnum,
          .enum_prefix = prefix,
          .enum_names = names};
}
constexpr JsonField Refused(std::string_view name) {
  return {.name = name, .kind = JsonKind::kRefused};
}

// Values nest in values.
const JsonMessage& AnyValueSchema();

const JsonMessage& KeyValueSchema() {
  static constexpr JsonField kFields[] = {
      One("key", 1, JsonKind::kString),
      One("value", 2, AnyValueSchema),
      One("keyStrindex", 3, JsonKind::kVarint),
  };
  static constexpr JsonMessage kMessage{kFields};
  return kMessage;
}

const JsonMessage& KeyValueListSchema() {
  static constexpr JsonField kFields[] = {
      Many("values", 1, KeyValueSchema),
  };
  static constexpr JsonMessage kMessage{kFields};
  return kMessage;
}

const JsonMessage& ArrayValueSchema() {
  static constexpr JsonField kFields[] = {
      Many("values", 1, AnyValueSchema),
  };
  static constexpr JsonMessage kMessage{kFields};
  return kMessage;
}

const JsonMessage& AnyValueSchema() {
  static constexpr JsonField kFields[] = {
      One("stringValue", 1, JsonKind::kString), One("boolValue", 2, JsonKind::kBool),
      One("intValue", 3, JsonKind::kVarint),    One("doubleValue", 4, JsonKind::kDouble),
      One("arrayValue", 5, ArrayValueSchema),   One("kvlistValue", 6, KeyValueListSchema),
      One("bytesValue", 7, JsonKind::kBase64),  One("stringValueStrindex", 8, JsonKind::kVarint),
  };
  static constexpr JsonMessage kMessage{kFields};
  return kMessage;
}

const JsonMessage& ResourceSchema() {
  static constexpr JsonField kFields[] = {
      Many("attributes", 1, KeyValueSchema),
      One("droppedAttributesCount", 2, JsonKind::kVarint),
  };
  static constexpr JsonMessage kMessage{kFields};
  return kMessage;
}

const JsonMessage& ScopeSchema() {
  static constexpr JsonField kFields[] = {
      One("name", 1, JsonKind::kString),
      One("version", 2, JsonKind::kString),
      Many("attributes", 3, KeyValueSchema),
      One("droppedAttributesCount", 4, JsonKind::kVarint),
  };
  static constexpr JsonMessage kMessage{kFields};
  return kMessage;
}

const JsonMessage& EventSchema() {
  static constexpr JsonField kFields[] = {
      One("timeUnixNano", 1, JsonKind::kFixed64),
      One("name", 2, JsonKind::kString),
      Many("attributes", 3, KeyValueSchema),
      One("droppedAttributesCount", 4, JsonKind::kVarint),
  };
  static constexpr JsonMessage kMessage{kFields};
  return kMessage;
}

const JsonMessage& SpanLinkSchema() {
  static constexpr JsonField kFields[] = {
      One("traceId", 1, JsonKind::kHex),
      One("spanId", 2, JsonKind::kHex),
      One("traceState", 3, JsonKind::kString),
      Many("attributes", 4, KeyValueSchema),
      One("droppedAttributesCount", 5, JsonKind::kVarint),
      One("flags", 6, JsonKind::kFixed32),
  };
  static constexpr JsonMessage kMessage{kFields};
  return kMessage;
}

const JsonMessage& StatusSchema() {
  static constexpr JsonField kFields[] = {
      One("message", 2, JsonKind::kString),
      EnumOf("code", 3, "STATUS_CODE_", kStatusNames),
  };
  static constexpr JsonMessage kMessage{kFields};
  return kMessage;
}

const JsonMessage& SpanSchema() {
  static constexpr JsonField kFields[] = {
      One("traceId", 1, JsonKind::kHex),
      One("spanId", 2, JsonKind::kHex),
      One("traceState", 3, JsonKind::kString),
      One("parentSpanId", 4, JsonKind::kHex),
      One("name", 5, JsonKind::kString),
      EnumOf("kind", 6, "SPAN_KIND_", kKindNames),
      One("startTimeUnixNano", 7, JsonKind::kFixed64),
      One("endTimeUnixNano", 8, JsonKind::kFixed64),
      Many("attributes", 9, KeyValueSchema),
      One("droppedAttributesCount", 10, JsonKind::kVarint),
      Many("events", 11, EventSchema),
      One("droppedEventsCount", 12, JsonKind::kVarint),
      Many("links", 13, SpanLinkSchema),
      One("droppedLinksCount", 14, JsonKind::kVarint),
      One("status", 15, StatusSchema),
      One("flags", 16, JsonKind::kFixed32),
  };
  static constexpr JsonMessage kMessage{kFields};
  return kMessage;
}

const JsonMessage& ScopeSpansSchema() {
  static constexpr JsonField kFields[] = {
      One("scope", 1, ScopeSchema),
      Many("spans", 2, SpanSchema),
      One("schemaUrl", 3, JsonKind::kString),
  };
  static constexpr JsonMessage kMessage{kFields};
  return kMessage;
}

const JsonMessage& ResourceSpansSchema() {
  static constexpr JsonField kFields[] = {
      One("resource", 1, ResourceSchema),
      Many("scopeSpans", 2, ScopeSpansSchema),
      One("schemaUrl", 3, JsonKind::kString),
  };
  static constexpr JsonMessage kMessage{kFields};
  return kMessage;
}

const JsonMessage& ValueTypeSchema() {
  static constexpr JsonField kFields[] = {
      One("typeStrindex", 1, JsonKind::kVarint),
      One("unitStrindex", 2, JsonKind::kVarint),
  };
  static constexpr JsonMessage kMessage{kFields};
  return kMessage;
}

const JsonMessage& SampleSchema() {
  static constexpr JsonField kFields[] = {
      One("stackIndex", 1, JsonKind::kVarint),
      Many("attributeIndices", 2, JsonKind::kVarint),
      One("linkIndex", 3, JsonKind::kVarint),
      Many("values", 4, JsonKind::kVarint),
      Many("timestampsUnixNano", 5, JsonKind::kFixed64),
      Refused("value"),
      Refused("locationsStartIndex"),
  };
  static constexpr JsonMessage kMessage{kFields};
  return kMessage;
}

const JsonMessage& ProfileSchema() {
  static constexpr JsonField kFields[] = {
      One("sampleType", 1, ValueTypeSchema),
      Many("samples", 2, SampleSchema),
      One("timeUnixNano", 3, JsonKind::kFixed64),
      One("durationNano", 4, JsonKind::kVarint),
      One("periodType", 5, ValueTypeSchema),
      One("period", 6, JsonKind::kVarint),
      One("profileId", 7, JsonKind::kProfileId),
      One("droppedAttributesCount", 8, JsonKind::kVarint),
      Many("attributeIndices", 11, JsonKind::kVarint),
      Refused("sample"),
      Refused("timeNanos"),
      Refused("stringTable"),
  };
  static constexpr JsonMessage kMessage{kFields};
  return kMessage;
}

const JsonMessage& ScopeProfilesSchema() {
  static constexpr JsonField kFields[] = {
      One("scope", 1, ScopeSchema),
      Many("profiles", 2, ProfileSchema),
      One("schemaUrl", 3, JsonKind::kString),
  };
  static constexpr JsonMessage kMessage{kFields};
  return kMessage;
}

const JsonMessage& ResourceProfilesSchema() {
  static constexpr JsonField kFields[] = {
      One("resource", 1, ResourceSchema),
      Many("scopeProfiles", 2, ScopeProfilesSchema),
      One("schemaUrl", 3, JsonKind::kString),
  };
  static constexpr JsonMessage kMessage{kFields};
  return kMessage;
}

const JsonMessage& MappingSchema() {
  static constexpr JsonField kFields[] = {
      One("memoryStart", 1, JsonKind::kVarint),       One("memoryLimit", 2, JsonKind::kVarint),
      One("fileOffset", 3, JsonKind::kVarint),        One("filenameStrindex", 4, JsonKind::kVarint),
      Many("attributeIndices", 5, JsonKind::kVarint),
  };
  static constexpr JsonMessage kMessage{kFields};
  return kMessage;
}

const JsonMessage& LineSchema() {
  static constexpr JsonField kFields[] = {
      One("functionIndex", 1, JsonKind::kVarint),
      One("line", 2, JsonKind::kVarint),
      One("column", 3, JsonKind::kVarint),
  };
  static constexpr JsonMessage kMessage{kFields};
  return kMessage;
}

const JsonMessage& LocationSchema() {
  static constexpr JsonField kFields[] = {
      One("mappingIndex", 1, JsonKind::kVarint),
      One("address", 2, JsonKind::kVarint),
      Many("lines", 3, LineSchema),
      Many("attributeIndices", 4, JsonKind::kVarint),
      Refused("line"),
  };
  static constexpr JsonMessage kMessage{kFields};
  return kMessage;
}

const JsonMessage& FunctionSchema() {
  static constexpr JsonField kFields[] = {
      One("nameStrindex", 1, JsonKind::kVarint),
      One("systemNameStrindex", 2, JsonKind::kVarint),
      One("filenameStrindex", 3, JsonKind::kVarint),
      One("startLine", 4, JsonKind::kVarint),
  };
  static constexpr JsonMessage kMessage{kFields};
  return kMessage;
}

const JsonMessage& SampleLinkSchema() {
  static constexpr JsonField kFields[] = {
      One("traceId", 1, JsonKind::kHex),
      One("spanId", 2, JsonKind::kHex),
  };
  static constexpr JsonMessage kMessage{kFields};
  return kMessage;
}

const JsonMessage& AttributeSchema() {
  static constexpr JsonField kFields[] = {
      One("keyStrindex", 1, JsonKind::kVarint),
      One("value", 2, AnyValueSchema),
      One("unitStrindex", 3, JsonKind::kVarint),
  };
  static constexpr JsonMessage kMessage{kFields};
  return kMessage;
}

const JsonMessage& StackSchema() {
  static constexpr JsonField kFields[] = {
      Many("locationIndices", 1, JsonKind::kVarint),
  };
  static constexpr JsonMessage kMessage{kFields};
  return kMessage;
}

const JsonMessage& DictionarySchema() {
  static constexpr JsonField kFields[] = {
      Many("mappingTable", 1, MappingSchema),    Many("locationTable", 2, LocationSchema),
      Many("functionTable", 3, FunctionSchema),  Many("linkTable", 4, SampleLinkSchema),
      Many("stringTable", 5, JsonKind::kString), Many("attributeTable", 6, AttributeSchema),
      Many("stackTable", 7, StackSchema),
  };
  static constexpr JsonMessage kMessage{kFields};
  return kMessage;
}

}  // namespace

const JsonMessage& TracesSchema() {
  static constexpr JsonField kFields[] = {
      Many("resourceSpans", 1, ResourceSpansSchema),
  };
  static constexpr JsonMessage kMessage{kFields};
  return kMessage;
}

const JsonMessage& ProfilesSchema() {
  static constexpr JsonField kFields[] = {
      Many("resourceProfiles", 1, ResourceProfilesSchema),
      One("dictionary", 2, DictionarySchema),
  };
  static constexpr JsonMessage kMessage{kFields};
  return kMessage;
}

}  // namespace hotspan::wire
