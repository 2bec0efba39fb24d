#include "wire/otlp/json_transcoder.h"

#include <simdjson.h>

#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <protozero/pbf_writer.hpp>
#include <utility>

#include "base/limits.h"
#include "base/utf8.h"
#include "wire/otlp/json_schema.h"

namespace hotspan::wire {
namespace {

using simdjson::dom::element;
using simdjson::dom::element_type;

// Deeper than any message whose attribute values keep to kValueDepthMax (three messages a level);
// what is below would be cut by the decoder anyway.
constexpr int kMessageDepthMax = 16 + 3 * (limits::kValueDepthMax + 1);

// Whether a key of the document is the camelCase name, spelt so or in snake_case.
bool NameMatches(std::string_view key, std::string_view camel) {
  if (key == camel) return true;
  std::size_t at = 0;
  for (std::size_t i = 0; i < key.size(); ++i, ++at) {
    char c = key[i];
    if (c == '_') {
      if (++i == key.size()) return false;
      c = key[i];
      if (c >= 'a' && c <= 'z') c = static_cast<char>(c - ('a' - 'A'));
    }
    if (at >= camel.size() || camel[at] != c) return false;
  }
  return at == camel.size();
}

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::optional<std::string> FromHex(std::string_view text) {
  if (text.size() % 2 != 0) return std::nullopt;
  std::string bytes;
  for (std::size_t i = 0; i < text.size(); i += 2) {
    const int high = HexDigit(text[i]);
    const int low = HexDigit(text[i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    bytes += static_cast<char>(high * 16 + low);
  }
  return bytes;
}

int Base64Digit(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  if (c == '+' || c == '-') return 62;
  if (c == '/' || c == '_') return 63;
  return -1;
}

std::optional<std::string> FromBase64(std::string_view text) {
  while (!text.empty() && text.back() == '=') text.remove_suffix(1);
  std::string bytes;
  unsigned bits = 0;
  int count = 0;
  for (const char c : text) {
    const int digit = Base64Digit(c);
    if (digit < 0) return std::nullopt;
    bits = (bits << 6 | static_cast<unsigned>(digit)) & 0xffffffu;
    count += 6;
    if (count >= 8) {
      count -= 8;
      bytes += static_cast<char>(bits >> count & 0xff);
    }
  }
  return bytes;
}

template <typename T>
std::optional<T> ParseNumber(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// An integer of 64 bits, signed or not, as its bits; from a number, a whole double or a string.
std::optional<std::uint64_t> AsBits(const element& json) {
  switch (json.type()) {
    case element_type::INT64:
      return static_cast<std::uint64_t>(json.get_int64().value_unsafe());
    case element_type::UINT64:
      return json.get_uint64().value_unsafe();
    case element_type::DOUBLE: {
      const double number = json.get_double().value_unsafe();
      if (number != std::floor(number) || std::fabs(number) > 9e18) return std::nullopt;
      return static_cast<std::uint64_t>(static_cast<std::int64_t>(number));
    }
    case element_type::STRING: {
      const std::string_view text = json.get_string().value_unsafe();
      if (const auto value = ParseNumber<std::int64_t>(text)) {
        return static_cast<std::uint64_t>(*value);
      }
      return ParseNumber<std::uint64_t>(text);
    }
    default:
      return std::nullopt;
  }
}

std::optional<double> AsDouble(const element& json) {
  if (json.is_number()) return json.get_double().value_unsafe();
  if (!json.is_string()) return std::nullopt;
  const std::string_view text = json.get_string().value_unsafe();
  if (text == "NaN") return std::numeric_limits<double>::quiet_NaN();
  if (text == "Infinity") return std::numeric_limits<double>::infinity();
  if (text == "-Infinity") return -std::numeric_limits<double>::infinity();
  return ParseNumber<double>(text);
}

// The number of an enum's value; names may stand without their prefix, in any case.
std::optional<std::uint64_t> AsEnum(const element& json, const JsonField& field) {
  if (!json.is_string()) return AsBits(json);
  std::string_view text = json.get_string().value_unsafe();
  if (text.substr(0, field.enum_prefix.size()) == field.enum_prefix) {
    text.remove_prefix(field.enum_prefix.size());
  }
  for (std::size_t i = 0; i < field.enum_names.size(); ++i) {
    const std::string_view name = field.enum_names[i];
    if (name.size() != text.size()) continue;
    bool equal = true;
    for (std::size_t k = 0; k < name.size(); ++k) {
      const char c = text[k] >= 'a' && text[k] <= 'z' ? static_cast<char>(text[k] - 32) : text[k];
      equal = equal && c == name[k];
    }
    if (equal) return i;
  }
  return AsBits(json);
}

tl::unexpected<Error> WrongType(const JsonField& field, std::string_view wanted) {
  return Fail(Error(Code::kInvalidArgument,
                    "json field " + std::string(field.name) + " is no " + std::string(wanted))
                  .Field(std::string(field.name)));
}

Status WriteBytes(const element& json, const JsonField& field, protozero::pbf_writer& out) {
  if (!json.is_string()) return WrongType(field, "string");
  const std::string_view text = json.get_string().value_unsafe();
  std::optional<std::string> bytes;
  // Ids that are no hex stay as they are: their wrong size lets the decoder reject that one span.
  if (field.kind == JsonKind::kHex) bytes = FromHex(text).value_or(std::string(text.substr(0, 7)));
  if (field.kind == JsonKind::kProfileId && text.size() == 32) bytes = FromHex(text);
  if (!bytes) bytes = FromBase64(text);
  if (!bytes) return WrongType(field, "base64");
  out.add_bytes(field.number, *bytes);
  return {};
}

Status WriteScalar(const element& json, const JsonField& field, protozero::pbf_writer& out) {
  switch (field.kind) {
    case JsonKind::kString:
      if (!json.is_string()) return WrongType(field, "string");
      {
        const std::string_view text = json.get_string().value_unsafe();
        out.add_string(field.number, text.data(), text.size());
      }
      return {};
    case JsonKind::kHex:
    case JsonKind::kProfileId:
    case JsonKind::kBase64:
      return WriteBytes(json, field, out);
    case JsonKind::kBool:
      if (!json.is_bool()) return WrongType(field, "boolean");
      out.add_bool(field.number, json.get_bool().value_unsafe());
      return {};
    case JsonKind::kVarint:
    case JsonKind::kFixed64:
    case JsonKind::kFixed32:
    case JsonKind::kEnum: {
      const auto bits = field.kind == JsonKind::kEnum ? AsEnum(json, field) : AsBits(json);
      if (!bits) return WrongType(field, "integer");
      if (field.kind == JsonKind::kFixed64) {
        out.add_fixed64(field.number, *bits);
      } else if (field.kind == JsonKind::kFixed32) {
        out.add_fixed32(field.number, static_cast<std::uint32_t>(*bits));
      } else {
        out.add_uint64(field.number, *bits);
      }
      return {};
    }
    case JsonKind::kDouble: {
      const auto number = AsDouble(json);
      if (!number) return WrongType(field, "number");
      out.add_double(field.number, *number);
      return {};
    }
    case JsonKind::kMessage:
    case JsonKind::kRefused:
      break;
  }
  return {};
}

class Transcoder {
 public:
  explicit Transcoder(std::string& protobuf) : protobuf_(protobuf) {}

  Status WriteMessage(const element& json, const JsonMessage& message, int depth,
                      protozero::pbf_writer& out);

 private:
  Status WriteField(const element& json, const JsonField& field, int depth,
                    protozero::pbf_writer& out);

  std::string& protobuf_;
};

Status Transcoder::WriteField(const element& json, const JsonField& field, int depth,
                              protozero::pbf_writer& out) {
  if (field.kind == JsonKind::kRefused) {
    return Fail(Code::kInvalidArgument, "field " + std::string(field.name) +
                                            " is of a profiles layout before OTLP 1.9, " +
                                            "which is not supported; send OTLP 1.9 or newer");
  }
  if (json.is_null()) return {};
  if (field.kind != JsonKind::kMessage) return WriteScalar(json, field, out);
  if (!json.is_object()) return WrongType(field, "object");
  const std::size_t before = protobuf_.size();
  {
    protozero::pbf_writer child(out, field.number);
    TRY(WriteMessage(json, field.message(), depth + 1, child));
  }
  // The writer leaves empty messages out, but an empty element of a table has its place in it.
  if (protobuf_.size() == before) out.add_message(field.number, "", 0);
  return {};
}

Status Transcoder::WriteMessage(const element& json, const JsonMessage& message, int depth,
                                protozero::pbf_writer& out) {
  if (depth > kMessageDepthMax) return {};
  const simdjson::dom::object object = json.get_object().value_unsafe();
  for (const auto& [key, value] : object) {
    const JsonField* found = nullptr;
    for (const JsonField& field : message.fields) {
      if (NameMatches(key, field.name)) found = &field;
    }
    if (found == nullptr) continue;
    if (!found->repeated || value.is_null()) {
      TRY(WriteField(value, *found, depth, out));
      continue;
    }
    if (!value.is_array()) return WrongType(*found, "array");
    const simdjson::dom::array array = value.get_array().value_unsafe();
    for (const element item : array) {
      TRY(WriteField(item, *found, depth, out));
    }
  }
  return {};
}

Result<Transcoded> Transcode(std::string_view json, const JsonMessage& root) {
  simdjson::dom::parser parser;
  simdjson::dom::element document;
  Transcoded result;
  auto error = parser.parse(json.data(), json.size()).get(document);
  std::string repaired;
  if (error == simdjson::UTF8_ERROR) {
    repaired = ReplaceInvalidUtf8(json);
    result.repaired_utf8 = true;
    error = parser.parse(repaired).get(document);
  }
  if (error != simdjson::SUCCESS) {
    return Fail(Code::kInvalidArgument,
                std::string("malformed json: ") + simdjson::error_message(error));
  }
  if (!document.is_object()) return Fail(Code::kInvalidArgument, "json is no object");
  protozero::pbf_writer writer(result.protobuf);
  TRY(Transcoder(result.protobuf).WriteMessage(document, root, 0, writer));
  return result;
}

}  // namespace

Result<Transcoded> TranscodeTracesJson(std::string_view json) {
  return Transcode(json, TracesSchema());
}

Result<Transcoded> TranscodeProfilesJson(std::string_view json) {
  return Transcode(json, ProfilesSchema());
}

}  // namespace hotspan::wire
