// Attributes and times as our own API writes them.
#pragma once

#include "base/json_writer.h"
#include "model/attributes.h"
#include "model/time.h"

namespace hotspan::serve {

// {"key":value}; numbers that a double can't hold are decimal strings, bytes are hex.
void WriteAttributes(JsonWriter& json, const AttributeList& attributes);
void WriteValue(JsonWriter& json, const Value& value);

// {"start_ns":"…","end_ns":"…"}
void WriteWindow(JsonWriter& json, const TimeRange& range);

}  // namespace hotspan::serve
