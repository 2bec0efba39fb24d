#include <utility>

#include "agent/hotspan.hpp"
#include "demo/common/http_client.h"

namespace demo {

Response Peer::Send(Call call, std::source_location where) const {
  hotspan::Span span = hotspan::Span::Client(call.method + " " + name, where);
  span.Set("http.request.method", call.method)
      .Set("server.address", address.host)
      .Set("server.port", address.port)
      .Set("peer.service", name)
      .Set("url.full", "http://" + address.host + ":" + std::to_string(address.port) + call.target);
  call.traceparent = hotspan::Traceparent();
  Response response = Fetch(address, call);
  if (response.status == 0) {
    span.Error(response.body);
    return ErrorResponse(502, name + ": " + response.body);
  }
  span.Set("http.response.status_code", response.status);
  if (response.status >= 400) span.Error("status " + std::to_string(response.status));
  return response;
}

}  // namespace demo
