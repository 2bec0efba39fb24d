// What a connection speaks, told by its first bytes.
#pragma once

#include <string_view>

namespace hotspan::serve {

enum class Protocol { kNeedMore, kHttp1, kHttp2, kTls };

// HTTP/2 by its preface, TLS by its client hello; everything else is taken for HTTP/1.1.
Protocol DetectProtocol(std::string_view first_bytes);

}  // namespace hotspan::serve
