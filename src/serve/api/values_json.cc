#include "serve/api/values_json.h"

#include "base/limits.h"
#include "model/ids.h"

namespace hotspan::serve {
namespace {

constexpr std::int64_t kExactMax = std::int64_t{1} << 53;

void WriteValueAt(JsonWriter& json, const Value& value, int depth);

void WriteMap(JsonWriter& json, const AttributeList& attributes, int depth) {
  json.BeginObject();
  for (const auto& [key, value] : attributes) {
    json.Key(key);
    WriteValueAt(json, value, depth + 1);
  }
  json.EndObject();
}

void WriteValueAt(JsonWriter& json, const Value& value, int depth) {
  if (depth > limits::kValueDepthMax) {
    json.Null();
    return;
  }
  switch (value.kind()) {
    case ValueKind::kEmpty:
      json.Null();
      return;
    case ValueKind::kString:
      json.String(value.text());
      return;
    case ValueKind::kBool:
      json.Bool(value.AsBool());
      return;
    case ValueKind::kInt:
      if (value.AsInt() > kExactMax || value.AsInt() < -kExactMax) {
        json.DecimalString(value.AsInt());
      } else {
        json.Number(value.AsInt());
      }
      return;
    case ValueKind::kDouble:
      json.Number(value.AsDouble());
      return;
    case ValueKind::kBytes:
      json.String(ToHex(value.text()));
      return;
    case ValueKind::kArray:
      json.BeginArray();
      for (const Value& element : ValueList(value.text())) WriteValueAt(json, element, depth + 1);
      json.EndArray();
      return;
    case ValueKind::kMap:
      WriteMap(json, AttributeList(value.text()), depth);
      return;
  }
}

}  // namespace

void WriteAttributes(JsonWriter& json, const AttributeList& attributes) {
  WriteMap(json, attributes, 0);
}

void WriteValue(JsonWriter& json, const Value& value) { WriteValueAt(json, value, 0); }

void WriteWindow(JsonWriter& json, const TimeRange& range) {
  json.BeginObject().Key("start_ns").DecimalString(range.begin.ns);
  json.Key("end_ns").DecimalString(range.end.ns).EndObject();
}

}  // namespace hotspan::serve
