// A column of 64-bit integers packed to as few bytes each as their span needs, readable in place.
//
// Bytes: minimum (8), maximum (8), bytes per value (1, 0 to 8), count (4), then count values less
// the minimum, little-endian, then 8 bytes of padding so that each can be loaded as a word.
//
// Threads: values and views.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/bytes.h"

namespace hotspan::storage::embedded {

void AppendColumn(std::string& out, std::span<const std::int64_t> values);

class ColumnView {
 public:
  ColumnView() = default;
  // Takes the column from the reader; a damaged one marks the reader failed.
  explicit ColumnView(ByteReader& reader);

  std::uint32_t size() const { return count_; }
  std::int64_t min() const { return static_cast<std::int64_t>(min_); }
  // As written; no value read is above it, so that an index is checked once for a whole column.
  std::int64_t max() const { return static_cast<std::int64_t>(min_ + spread_); }
  std::int64_t operator[](std::size_t i) const {
    std::uint64_t word;
    std::memcpy(&word, data_ + i * width_, sizeof(word));
    return static_cast<std::int64_t>(min_ + std::min(word & mask_, spread_));
  }

 private:
  std::uint64_t min_ = 0;
  std::uint64_t mask_ = 0;
  std::uint64_t spread_ = 0;
  const char* data_ = nullptr;
  std::uint32_t count_ = 0;
  std::uint32_t width_ = 0;
};

}  // namespace hotspan::storage::embedded
