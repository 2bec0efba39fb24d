// Names, numbers and types of the fields of OTLP's JSON messages. Internal to wire/otlp.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace hotspan::wire {

enum class JsonKind {
  kString,
  kHex,        // bytes in hex
  kBase64,     // bytes in base64
  kProfileId,  // bytes in hex if of 32 digits, else in base64
  kBool,
  kVarint,
  kFixed64,
  kFixed32,
  kDouble,
  kEnum,
  kMessage,
  kRefused,  // a field of a layout that is not supported
};

struct JsonMessage;

struct JsonField {
  std::string_view name;
  std::uint32_t number = 0;
  JsonKind kind = JsonKind::kString;
  bool repeated = false;
  const JsonMessage& (*message)() = nullptr;
  std::string_view enum_prefix = {};
  std::span<const std::string_view> enum_names = {};
};

struct JsonMessage {
  std::span<const JsonField> fields;
};

const JsonMessage& TracesSchema();
const JsonMessage& ProfilesSchema();

}  // namespace hotspan::wire
