// A writer of protobuf for tests, independent of the decoders and of protozero.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "base/bytes.h"

namespace hotspan::wire {

class Pb {
 public:
  Pb& Int(std::uint32_t field, std::uint64_t value) {
    AppendVarint(text_, field << 3 | 0u);
    AppendVarint(text_, value);
    return *this;
  }
  Pb& Signed(std::uint32_t field, std::int64_t value) {
    return Int(field, static_cast<std::uint64_t>(value));
  }
  Pb& Fixed64(std::uint32_t field, std::uint64_t value) {
    AppendVarint(text_, field << 3 | 1u);
    AppendRaw(text_, value);
    return *this;
  }
  Pb& Double(std::uint32_t field, double value) {
    AppendVarint(text_, field << 3 | 1u);
    AppendRaw(text_, value);
    return *this;
  }
  Pb& Fixed32(std::uint32_t field, std::uint32_t value) {
    AppendVarint(text_, field << 3 | 5u);
    AppendRaw(text_, value);
    return *this;
  }
  Pb& Text(std::uint32_t field, std::string_view value) {
    AppendVarint(text_, field << 3 | 2u);
    AppendSized(text_, value);
    return *this;
  }
  Pb& Sub(std::uint32_t field, const Pb& message) { return Text(field, message.text_); }
  Pb& Packed(std::uint32_t field, std::initializer_list<std::uint64_t> values) {
    std::string packed;
    for (const std::uint64_t value : values) AppendVarint(packed, value);
    return Text(field, packed);
  }
  Pb& PackedFixed64(std::uint32_t field, std::initializer_list<std::uint64_t> values) {
    std::string packed;
    for (const std::uint64_t value : values) AppendRaw(packed, value);
    return Text(field, packed);
  }

  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

// AnyValue and KeyValue of a string and of an integer.
inline Pb AnyText(std::string_view text) { return Pb().Text(1, text); }
inline Pb AnyInt(std::int64_t number) { return Pb().Signed(3, number); }
inline Pb KeyValue(std::string_view key, const Pb& value) {
  return Pb().Text(1, key).Sub(2, value);
}

}  // namespace hotspan::wire
