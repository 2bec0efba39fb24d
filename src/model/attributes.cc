#include "model/attributes.h"

#include <bit>

#include "base/bytes.h"
#include "base/json_writer.h"

namespace hotspan {
namespace {

void AppendValue(std::string& out, const Value& value) {
  out += static_cast<char>(value.kind());
  switch (value.kind()) {
    case ValueKind::kEmpty:
      break;
    case ValueKind::kBool:
      out += value.AsBool() ? '\1' : '\0';
      break;
    case ValueKind::kInt:
    case ValueKind::kDouble:
      AppendRaw(out, value.AsInt());
      break;
    case ValueKind::kString:
    case ValueKind::kBytes:
    case ValueKind::kArray:
    case ValueKind::kMap:
      AppendSized(out, value.text());
      break;
  }
}

bool ReadValue(ByteReader& reader, Value& value) {
  const auto kind = static_cast<ValueKind>(reader.Raw<std::uint8_t>());
  switch (kind) {
    case ValueKind::kEmpty:
      value = Value();
      break;
    case ValueKind::kBool:
      value = Value::Bool(reader.Raw<std::uint8_t>() != 0);
      break;
    case ValueKind::kInt:
      value = Value::Int(reader.Raw<std::int64_t>());
      break;
    case ValueKind::kDouble:
      value = Value::Double(reader.Raw<double>());
      break;
    case ValueKind::kString:
      value = Value::String(reader.Sized());
      break;
    case ValueKind::kBytes:
      value = Value::Bytes(reader.Sized());
      break;
    case ValueKind::kArray:
      value = Value::Array(reader.Sized());
      break;
    case ValueKind::kMap:
      value = Value::Map(reader.Sized());
      break;
    default:
      return false;
  }
  return !reader.failed();
}

void WriteJson(JsonWriter& json, const Value& value, int depth) {
  if (depth > 64) {  // deeper than any decoder lets in
    json.Null();
    return;
  }
  switch (value.kind()) {
    case ValueKind::kEmpty:
      json.Null();
      break;
    case ValueKind::kString:
      json.String(value.text());
      break;
    case ValueKind::kBool:
      json.Bool(value.AsBool());
      break;
    case ValueKind::kInt:
      json.Number(value.AsInt());
      break;
    case ValueKind::kDouble:
      json.Number(value.AsDouble());
      break;
    case ValueKind::kBytes:
      json.String(value.ToText());
      break;
    case ValueKind::kArray:
      json.BeginArray();
      for (const Value& element : ValueList(value.text())) WriteJson(json, element, depth + 1);
      json.EndArray();
      break;
    case ValueKind::kMap:
      json.BeginObject();
      for (const auto& [key, element] : AttributeList(value.text())) {
        json.Key(key);
        WriteJson(json, element, depth + 1);
      }
      json.EndObject();
      break;
  }
}

}  // namespace

Value Value::Double(double value) {
  return Value(ValueKind::kDouble, std::bit_cast<std::int64_t>(value));
}

double Value::AsDouble() const { return std::bit_cast<double>(number_); }

std::optional<double> Value::AsNumber() const {
  if (kind_ == ValueKind::kInt) return static_cast<double>(number_);
  if (kind_ == ValueKind::kDouble) return AsDouble();
  return std::nullopt;
}

std::string Value::ToText() const {
  if (kind_ == ValueKind::kString) return std::string(text_);
  if (kind_ == ValueKind::kBytes) {
    static constexpr char kDigits[] = "0123456789abcdef";
    std::string hex;
    for (const char c : text_) {
      hex += kDigits[static_cast<unsigned char>(c) >> 4];
      hex += kDigits[static_cast<unsigned char>(c) & 15];
    }
    return hex;
  }
  if (kind_ == ValueKind::kEmpty) return "";
  JsonWriter json;
  WriteJson(json, *this, 0);
  return json.Take();
}

void ValueWriter::Add(const Value& value) { AppendValue(out_, value); }

AttributeWriter& AttributeWriter::Add(std::string_view key, const Value& value) {
  AppendSized(out_, key);
  AppendValue(out_, value);
  return *this;
}

void ValueList::Iterator::Next() {
  if (rest_.empty()) {
    done_ = true;
    return;
  }
  ByteReader reader(rest_);
  if (!ReadValue(reader, value_)) done_ = true;
  rest_.remove_prefix(rest_.size() - reader.remaining());
}

void AttributeList::Iterator::Next() {
  if (rest_.empty()) {
    done_ = true;
    return;
  }
  ByteReader reader(rest_);
  entry_.first = reader.Sized();
  if (!ReadValue(reader, entry_.second)) done_ = true;
  rest_.remove_prefix(rest_.size() - reader.remaining());
}

std::optional<Value> AttributeList::Find(std::string_view key) const {
  for (const auto& [name, value] : *this) {
    if (name == key) return value;
  }
  return std::nullopt;
}

std::string_view AttributeList::FindText(std::string_view key) const {
  const auto value = Find(key);
  return value && value->kind() == ValueKind::kString ? value->text() : std::string_view();
}

}  // namespace hotspan
