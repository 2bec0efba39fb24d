// HTTP/2 inside of TLS: the decrypted bytes go through a socket pair to gRPC, which wants a
// descriptor. Internal to serve/http.
#pragma once

#include <boost/beast/ssl.hpp>
#include <memory>

#include "serve/http/server_state.h"

namespace hotspan::serve {

void RelayToGrpc(std::shared_ptr<ServerShared> shared, boost::beast::ssl_stream<TcpStream> stream);

}  // namespace hotspan::serve
