// Reading and writing numbers in byte strings: little-endian fixed widths, big-endian for keys that
// sort, and protobuf-style varints.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>

namespace hotspan {

static_assert(std::endian::native == std::endian::little, "stored numbers are little-endian");

template <typename T>
  requires std::is_trivially_copyable_v<T>
T LoadRaw(const char* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof(T));
  return value;
}

template <typename T>
  requires std::is_trivially_copyable_v<T>
void AppendRaw(std::string& out, const T& value) {
  char bytes[sizeof(T)];
  std::memcpy(bytes, &value, sizeof(T));
  out.append(bytes, sizeof(T));
}

// The bytes of an object without padding or pointers, as a view; valid as long as the object.
template <typename T>
  requires std::is_trivially_copyable_v<T>
std::string_view BytesOf(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof(T)};
}

// The bytes of a contiguous array of such objects.
template <typename T>
  requires std::is_trivially_copyable_v<T>
std::string_view BytesOfArray(const T* values, std::size_t count) {
  return {reinterpret_cast<const char*>(values), count * sizeof(T)};
}

inline void AppendBigEndian32(std::string& out, std::uint32_t value) {
  AppendRaw(out, __builtin_bswap32(value));
}
inline void AppendBigEndian64(std::string& out, std::uint64_t value) {
  AppendRaw(out, __builtin_bswap64(value));
}
inline std::uint32_t LoadBigEndian32(const char* bytes) {
  return __builtin_bswap32(LoadRaw<std::uint32_t>(bytes));
}
inline std::uint64_t LoadBigEndian64(const char* bytes) {
  return __builtin_bswap64(LoadRaw<std::uint64_t>(bytes));
}

inline void AppendVarint(std::string& out, std::uint64_t value) {
  char bytes[10];
  std::size_t size = 0;
  while (value >= 0x80) {
    bytes[size++] = static_cast<char>(value | 0x80);
    value >>= 7;
  }
  bytes[size++] = static_cast<char>(value);
  out.append(bytes, size);
}

inline std::uint64_t ZigZag(std::int64_t value) {
  return (static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63);
}
inline std::int64_t UnZigZag(std::uint64_t value) {
  return static_cast<std::int64_t>(value >> 1) ^ -static_cast<std::int64_t>(value & 1);
}

// A cursor over bytes. Reading past the end sets `failed` and yields zeros, so a loop may check
// once.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes)
      : next_(bytes.data()), end_(bytes.data() + bytes.size()) {}

  bool failed() const { return failed_; }
  bool AtEnd() const { return next_ == end_; }
  std::size_t remaining() const { return static_cast<std::size_t>(end_ - next_); }

  template <typename T>
  T Raw() {
    if (remaining() < sizeof(T)) return SetFailed(T{});
    const T value = LoadRaw<T>(next_);
    next_ += sizeof(T);
    return value;
  }

  std::uint64_t Varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (next_ == end_) return SetFailed(std::uint64_t{0});
      const auto byte = static_cast<unsigned char>(*next_++);
      value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    return SetFailed(std::uint64_t{0});
  }

  std::int64_t SignedVarint() { return UnZigZag(Varint()); }

  std::string_view Bytes(std::size_t size) {
    if (remaining() < size) return SetFailed(std::string_view{});
    const std::string_view view(next_, size);
    next_ += size;
    return view;
  }

  // A varint length, then that many bytes.
  std::string_view Sized() {
    const std::uint64_t size = Varint();
    if (size > remaining()) return SetFailed(std::string_view{});
    return Bytes(static_cast<std::size_t>(size));
  }

 private:
  template <typename T>
  T SetFailed(T zero) {
    failed_ = true;
    next_ = end_;
    return zero;
  }

  const char* next_;
  const char* end_;
  bool failed_ = false;
};

inline void AppendSized(std::string& out, std::string_view bytes) {
  AppendVarint(out, bytes.size());
  out.append(bytes);
}

}  // namespace hotspan
