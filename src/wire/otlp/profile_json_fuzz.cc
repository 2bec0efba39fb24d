// Whatever decodes as OTLP/JSON profiles is a batch without damage.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "wire/otlp/profile_decoder.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view body(reinterpret_cast<const char*>(data), size);
  const auto decoded = hotspan::wire::DecodeProfiles(body, hotspan::wire::Encoding::kJson);
  if (decoded) CHECK(hotspan::FindDamage(decoded->batch).empty());
  return 0;
}
