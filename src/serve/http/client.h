// A small blocking HTTP/1.1 client for the command line and tests: one request on one connection.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "base/result.h"
#include "serve/http/message.h"

namespace hotspan::serve {

struct ClientRequest {
  std::string method = "GET";
  std::string target = "/";
  TextPairs headers{};
  std::string body{};
  std::chrono::seconds timeout{60};
};

// `server` is http://HOST[:PORT]. kUnavailable if it can't be reached; any status is an answer.
Result<Response> HttpCall(std::string_view server, const ClientRequest& request);

}  // namespace hotspan::serve
