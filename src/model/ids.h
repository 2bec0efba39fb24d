// Trace and span ids: bytes as on the wire, hex in text.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

namespace hotspan {

struct TraceId {
  std::array<std::uint8_t, 16> bytes{};

  auto operator<=>(const TraceId&) const = default;
  bool IsZero() const { return *this == TraceId{}; }
  // 1 to 32 hex digits, any case; short ids are padded with zeros in front.
  static std::optional<TraceId> FromHex(std::string_view hex);
  // Exactly 16 bytes.
  static TraceId FromBytes(std::string_view bytes);
  std::string ToHex() const;
  std::string_view AsBytes() const { return {reinterpret_cast<const char*>(bytes.data()), 16}; }
};

struct SpanId {
  std::array<std::uint8_t, 8> bytes{};

  auto operator<=>(const SpanId&) const = default;
  bool IsZero() const { return *this == SpanId{}; }
  static std::optional<SpanId> FromHex(std::string_view hex);
  static SpanId FromBytes(std::string_view bytes);
  std::string ToHex() const;
  std::string_view AsBytes() const { return {reinterpret_cast<const char*>(bytes.data()), 8}; }
};

struct TraceIdHasher {
  std::size_t operator()(const TraceId& id) const {
    std::uint64_t words[2];
    std::memcpy(words, id.bytes.data(), 16);
    return (words[0] ^ (words[1] * 0x9e3779b97f4a7c15ull)) * 0xff51afd7ed558ccdull;
  }
};
struct SpanIdHasher {
  std::size_t operator()(const SpanId& id) const {
    std::uint64_t word;
    std::memcpy(&word, id.bytes.data(), 8);
    return word * 0x9e3779b97f4a7c15ull;
  }
};

// Every key of the store begins with one.
enum class TenantId : std::uint32_t { kDefault = 1 };

std::string ToHex(std::string_view bytes);

}  // namespace hotspan
