// XXH3 over bytes, in 64 and 128 bits. Stored hashes are of this function: never change it.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace hotspan {

struct Hash128 {
  std::uint64_t low = 0;
  std::uint64_t high = 0;

  auto operator<=>(const Hash128&) const = default;
  bool IsZero() const { return low == 0 && high == 0; }
};

std::uint64_t HashOf(std::string_view bytes);
Hash128 Hash128Of(std::string_view bytes);

// For unordered containers whose key is a hash already.
struct Hash128Hasher {
  std::size_t operator()(const Hash128& hash) const { return hash.low; }
};

}  // namespace hotspan
