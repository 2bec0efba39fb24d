// Undoes the Content-Encoding of a body with an upper bound on what comes out.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"

namespace hotspan::wire {

// `content_encoding` is "", "identity", "gzip" (several members are fine), "deflate" (zlib or raw)
// or "zstd", in any case; others are kInvalidArgument with the field "content-encoding". More than
// `limit` bytes are kResourceExhausted.
Result<std::string> Inflate(std::string_view body, std::string_view content_encoding,
                            std::size_t limit);

bool IsGzip(std::string_view body);

}  // namespace hotspan::wire
