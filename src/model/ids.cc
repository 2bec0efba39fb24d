#include "model/ids.h"

#include "base/check.h"

namespace hotspan {
namespace {

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// Fills `bytes` from its end, so that short ids are padded in front.
bool ParseHex(std::string_view hex, std::uint8_t* bytes, std::size_t size) {
  if (hex.empty() || hex.size() > size * 2) return false;
  std::size_t nibble = 0;
  for (std::size_t i = hex.size(); i > 0; --i, ++nibble) {
    const int digit = HexDigit(hex[i - 1]);
    if (digit < 0) return false;
    auto& byte = bytes[size - 1 - nibble / 2];
    byte = static_cast<std::uint8_t>(byte | (digit << (nibble % 2 == 0 ? 0 : 4)));
  }
  return true;
}

}  // namespace

std::string ToHex(std::string_view bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string hex;
  hex.reserve(bytes.size() * 2);
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    hex += kDigits[byte >> 4];
    hex += kDigits[byte & 15];
  }
  return hex;
}

std::optional<TraceId> TraceId::FromHex(std::string_view hex) {
  TraceId id;
  if (!ParseHex(hex, id.bytes.data(), id.bytes.size())) return std::nullopt;
  return id;
}

TraceId TraceId::FromBytes(std::string_view bytes) {
  CHECK(bytes.size() == 16);
  TraceId id;
  std::memcpy(id.bytes.data(), bytes.data(), 16);
  return id;
}

std::string TraceId::ToHex() const { return hotspan::ToHex(AsBytes()); }

std::optional<SpanId> SpanId::FromHex(std::string_view hex) {
  SpanId id;
  if (!ParseHex(hex, id.bytes.data(), id.bytes.size())) return std::nullopt;
  return id;
}

SpanId SpanId::FromBytes(std::string_view bytes) {
  CHECK(bytes.size() == 8);
  SpanId id;
  std::memcpy(id.bytes.data(), bytes.data(), 8);
  return id;
}

std::string SpanId::ToHex() const { return hotspan::ToHex(AsBytes()); }

}  // namespace hotspan
