// Spans to OTLP: protobuf (TracesData) and JSON, for answers to trace queries.
#pragma once

#include <string>
#include <string_view>

#include "base/json_writer.h"
#include "model/span.h"

namespace hotspan::wire {

enum class JsonFlavour {
  kOtlp,   // hex ids, enums as numbers
  kTempo,  // base64 ids, enums by name, fields of zero left out
};

// Spans are grouped by resource and scope, in the order of their first span.
std::string EncodeTracesProto(const SpanBatch& batch);

// Writes one object whose only key is `resource_spans_key` ("resourceSpans", "batches").
void WriteTracesJson(JsonWriter& json, const SpanBatch& batch, JsonFlavour flavour,
                     std::string_view resource_spans_key);

}  // namespace hotspan::wire
