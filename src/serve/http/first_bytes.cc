#include "serve/http/first_bytes.h"

namespace hotspan::serve {

Protocol DetectProtocol(std::string_view first_bytes) {
  // Four bytes decide: no HTTP/1 method begins "PRI ", and a TLS record begins 22, 3.
  constexpr std::string_view kPreface = "PRI ";
  if (first_bytes.empty()) return Protocol::kNeedMore;
  if (first_bytes[0] == '\x16') {
    if (first_bytes.size() < 2) return Protocol::kNeedMore;
    return first_bytes[1] == '\x03' ? Protocol::kTls : Protocol::kHttp1;
  }
  if (first_bytes.size() < kPreface.size()) {
    return kPreface.starts_with(first_bytes) ? Protocol::kNeedMore : Protocol::kHttp1;
  }
  return first_bytes.starts_with(kPreface) ? Protocol::kHttp2 : Protocol::kHttp1;
}

}  // namespace hotspan::serve
