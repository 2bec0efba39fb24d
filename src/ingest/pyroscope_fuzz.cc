// A query line, a content type line, then a body: whatever decodes is a batch without damage.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "ingest/pyroscope.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  const auto take_line = [&rest] {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    return line;
  };
  const hotspan::TimeNs now{1'700'000'000'000'000'000};
  const auto query = hotspan::ingest::ParseIngestQuery(take_line(), now);
  if (!query) return 0;
  const std::string_view content_type = take_line();
  const auto decoded = hotspan::ingest::DecodeIngestBody(*query, content_type, rest, now);
  if (decoded) CHECK(hotspan::FindDamage(decoded->batch).empty());
  return 0;
}
