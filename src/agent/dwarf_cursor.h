// Reads the encodings of .eh_frame from bytes that may be broken: past the end everything is zero
// and ok() is false.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace hotspan::agent {

class DwarfCursor {
 public:
  // `address` is that of the first byte in the module's memory.
  DwarfCursor(std::span<const std::uint8_t> bytes, std::uint64_t address)
      : bytes_(bytes), address_(address) {}

  bool ok() const { return ok_; }
  bool AtEnd() const { return at_ >= bytes_.size(); }
  std::uint64_t address() const { return address_ + at_; }
  std::span<const std::uint8_t> Rest() const { return bytes_.subspan(at_); }

  template <typename T>
  T Fixed() {
    T value{};
    if (bytes_.size() - at_ < sizeof(T)) {
      Break();
      return value;
    }
    std::memcpy(&value, bytes_.data() + at_, sizeof(T));
    at_ += sizeof(T);
    return value;
  }
  std::uint64_t Uleb() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const std::uint8_t byte = Fixed<std::uint8_t>();
      value |= static_cast<std::uint64_t>(byte & 127) << shift;
      if ((byte & 128) == 0) return value;
    }
    Break();
    return 0;
  }
  std::int64_t Sleb() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const std::uint8_t byte = Fixed<std::uint8_t>();
      value |= static_cast<std::uint64_t>(byte & 127) << shift;
      if ((byte & 128) != 0) continue;
      if ((byte & 64) != 0 && shift + 7 < 64) value |= ~std::uint64_t{0} << (shift + 7);
      return static_cast<std::int64_t>(value);
    }
    Break();
    return 0;
  }
  // A pointer in one of the DW_EH_PE encodings that loaders use; others break.
  std::uint64_t Encoded(std::uint8_t encoding) {
    const std::uint64_t base = (encoding & 0x70) == 0x10 ? address() : 0;
    if ((encoding & 0x70) != 0 && (encoding & 0x70) != 0x10) Break();
    return base + EncodedValue(encoding);
  }
  // The same without what it is relative to, as lengths are written.
  std::uint64_t EncodedValue(std::uint8_t encoding) {
    switch (encoding & 0x0f) {
      case 0x00:
      case 0x04:
      case 0x0c:
        return Fixed<std::uint64_t>();
      case 0x01:
        return Uleb();
      case 0x02:
        return Fixed<std::uint16_t>();
      case 0x03:
        return Fixed<std::uint32_t>();
      case 0x09:
        return static_cast<std::uint64_t>(Sleb());
      case 0x0a:
        return static_cast<std::uint64_t>(std::int64_t{Fixed<std::int16_t>()});
      case 0x0b:
        return static_cast<std::uint64_t>(std::int64_t{Fixed<std::int32_t>()});
      default:
        Break();
        return 0;
    }
  }
  std::span<const std::uint8_t> Take(std::uint64_t size) {
    if (size > bytes_.size() - at_) {
      Break();
      return {};
    }
    const auto taken = bytes_.subspan(at_, size);
    at_ += size;
    return taken;
  }

 private:
  void Break() {
    ok_ = false;
    at_ = bytes_.size();
  }

  std::span<const std::uint8_t> bytes_;
  std::uint64_t address_;
  std::size_t at_ = 0;
  bool ok_ = true;
};

}  // namespace hotspan::agent
