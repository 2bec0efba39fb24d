// Any text parses or is refused, and what parses prints to text of the same tree.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "query/traceql/parser.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace traceql = hotspan::query::traceql;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto filter = traceql::ParseFilter(text);
  if (!filter) {
    CHECK(!filter.error().message().empty());
    return 0;
  }
  const std::string printed = traceql::Print(*filter);
  if (printed.size() > size * 8 + 64) CHECK(false);
  const auto again = traceql::ParseFilter(printed);
  if (!again && printed.size() > 128u << 10) return 0;  // printing may pass the limit on queries
  CHECK(again.has_value());
  CHECK(again->empty == filter->empty);
  CHECK(traceql::SameExpr(again->expr, filter->expr));
  return 0;
}
