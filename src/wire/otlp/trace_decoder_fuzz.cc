// Whatever decodes as OTLP traces is a batch without damage.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "wire/otlp/trace_decoder.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view body(reinterpret_cast<const char*>(data), size);
  const auto decoded = hotspan::wire::DecodeTraces(body, hotspan::wire::Encoding::kProtobuf);
  if (decoded) CHECK(hotspan::FindDamage(decoded->batch).empty());
  return 0;
}
