// gzip for responses.
#pragma once

#include <string>
#include <string_view>

namespace hotspan::serve {

// Empty if compressing failed.
std::string GzipCompress(std::string_view bytes, int level);

// Whether an Accept-Encoding header takes gzip (its q is not 0).
bool AcceptsGzip(std::string_view accept_encoding);

}  // namespace hotspan::serve
