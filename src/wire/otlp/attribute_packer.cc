#include "wire/otlp/attribute_packer.h"

#include "base/bytes.h"
#include "base/limits.h"
#include "model/attributes.h"
#include "wire/protobuf.h"
#include "wire/text.h"

namespace hotspan::wire {
namespace {

using limits::kAttributeKeyBytesMax;
using limits::kAttributeValueBytesMax;

// An AnyValue as far as it can be read without going into it. Of several fields the last holds.
struct FlatValue {
  ValueKind kind = ValueKind::kEmpty;
  std::uint64_t bits = 0;
  std::string_view bytes;
  bool by_index = false;
};

FlatValue ReadFlat(std::string_view any_value) {
  FlatValue flat;
  Message message(any_value);
  while (message.next()) {
    switch (message.tag_and_type()) {
      case Bytes(1):
        flat = {ValueKind::kString, 0, View(message)};
        break;
      case Varint(2):
        flat = {ValueKind::kBool, message.get_uint64() != 0 ? 1u : 0u, {}};
        break;
      case Varint(3):
        flat = {ValueKind::kInt, message.get_uint64(), {}};
        break;
      case Fixed64(4):
        flat = {ValueKind::kDouble, message.get_fixed64(), {}};
        break;
      case Bytes(5):
        flat = {ValueKind::kArray, 0, View(message)};
        break;
      case Bytes(6):
        flat = {ValueKind::kMap, 0, View(message)};
        break;
      case Bytes(7):
        flat = {ValueKind::kBytes, 0, View(message)};
        break;
      case Varint(8):
        flat = {ValueKind::kString, message.get_uint64(), {}, true};
        break;
      default:
        message.skip();
    }
  }
  return flat;
}

}  // namespace

std::string_view AttributePacker::StringAt(std::int64_t index) const {
  if (strings_ == nullptr || index < 0 || static_cast<std::size_t>(index) >= strings_->size()) {
    return {};
  }
  return (*strings_)[static_cast<std::size_t>(index)];
}

void AttributePacker::AppendKey(std::string& out, std::string_view key) {
  AppendSized(out, CleanText(key, kAttributeKeyBytesMax, scratch_, counts_));
}

bool AttributePacker::AppendEntry(std::string& out, std::string_view entry, int depth,
                                  std::string_view* key_out) {
  std::string_view key;
  std::string_view value;
  Message message(entry);
  while (message.next()) {
    switch (message.tag_and_type()) {
      case Bytes(1):
        key = View(message);
        break;
      case Bytes(2):
        value = View(message);
        break;
      case Varint(3): {
        const std::string_view named = StringAt(message.get_int32());
        if (!named.empty()) key = named;
        break;
      }
      default:
        message.skip();
    }
  }
  if (key.empty()) {
    ++counts_.dropped;
    return false;
  }
  if (key_out != nullptr) *key_out = key;
  AppendKey(out, key);
  AppendValue(out, value, depth);
  return true;
}

bool AttributePacker::AppendKeyValue(std::string& out, std::string_view message,
                                     std::string_view* key) {
  return AppendEntry(out, message, 0, key);
}

void AttributePacker::Append(std::string& out, std::string_view key, std::string_view any_value) {
  AppendKey(out, key);
  AppendValue(out, any_value, 0);
}

std::string_view AttributePacker::TextOf(std::string_view any_value) {
  const FlatValue flat = ReadFlat(any_value);
  if (flat.kind != ValueKind::kString) return {};
  return flat.by_index ? StringAt(static_cast<std::int64_t>(flat.bits)) : flat.bytes;
}

void AttributePacker::AppendValue(std::string& out, std::string_view any_value, int depth) {
  FlatValue flat = ReadFlat(any_value);
  if (flat.by_index) {
    if (strings_ == nullptr) flat.kind = ValueKind::kEmpty;
    flat.bytes = StringAt(static_cast<std::int64_t>(flat.bits));
  }
  const bool nested = flat.kind == ValueKind::kArray || flat.kind == ValueKind::kMap;
  if (nested && depth >= limits::kValueDepthMax) {
    ++counts_.truncated;
    flat.kind = ValueKind::kEmpty;
  }
  out += static_cast<char>(flat.kind);
  switch (flat.kind) {
    case ValueKind::kEmpty:
      break;
    case ValueKind::kBool:
      out += static_cast<char>(flat.bits);
      break;
    case ValueKind::kInt:
    case ValueKind::kDouble:
      AppendRaw(out, flat.bits);
      break;
    case ValueKind::kString:
      AppendSized(out, CleanText(flat.bytes, kAttributeValueBytesMax, scratch_, counts_));
      break;
    case ValueKind::kBytes:
      if (flat.bytes.size() > kAttributeValueBytesMax) ++counts_.truncated;
      AppendSized(out, flat.bytes.substr(0, kAttributeValueBytesMax));
      break;
    case ValueKind::kArray:
      AppendArray(out, flat.bytes, depth + 1);
      break;
    case ValueKind::kMap:
      AppendMap(out, flat.bytes, depth + 1);
      break;
  }
}

void AttributePacker::AppendArray(std::string& out, std::string_view array, int depth) {
  std::string content;
  Message message(array);
  while (message.next()) {
    if (message.tag_and_type() != Bytes(1)) {
      message.skip();
      continue;
    }
    const std::size_t before = content.size();
    AppendValue(content, View(message), depth);
    if (content.size() > kAttributeValueBytesMax) {
      content.resize(before);
      ++counts_.truncated;
      break;
    }
  }
  AppendSized(out, content);
}

void AttributePacker::AppendMap(std::string& out, std::string_view map, int depth) {
  std::string content;
  Message message(map);
  while (message.next()) {
    if (message.tag_and_type() != Bytes(1)) {
      message.skip();
      continue;
    }
    const std::size_t before = content.size();
    AppendEntry(content, View(message), depth, nullptr);
    if (content.size() > kAttributeValueBytesMax) {
      content.resize(before);
      ++counts_.truncated;
      break;
    }
  }
  AppendSized(out, content);
}

}  // namespace hotspan::wire
