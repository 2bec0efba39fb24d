#include "base/hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace hotspan {

std::uint64_t HashOf(std::string_view bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

Hash128 Hash128Of(std::string_view bytes) {
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return {hash.low64, hash.high64};
}

}  // namespace hotspan
