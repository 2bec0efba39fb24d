// Feeds bytes to every decompressor, with a limit that must hold.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "wire/inflate/inflate.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t kLimit = 1u << 20;
  const std::string_view body(reinterpret_cast<const char*>(data), size);
  for (const std::string_view encoding : {"identity", "gzip", "deflate", "zstd"}) {
    const auto result = hotspan::wire::Inflate(body, encoding, kLimit);
    if (result) CHECK(result->size() <= kLimit);
  }
  return 0;
}
