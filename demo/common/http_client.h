// Calls to other HTTP services: plain ones for the load generator, and traced ones that make a
// client span and hand the trace on.
#pragma once

#include <chrono>
#include <source_location>
#include <string>

#include "demo/common/http_message.h"

namespace demo {

struct Call {
  std::string method = "GET";
  std::string target = "/";
  std::string body = {};
  std::string authorization = {};
  std::string traceparent = {};
};

inline constexpr std::chrono::seconds kCallTimeout{60};

// Sends one request on a connection of its own. Status 0 where there was no answer; the body then
// says why.
Response Fetch(const Address& address, const Call& call);

// A service that this one depends on.
struct Peer {
  std::string name;
  Address address;

  // The same in a client span, which records the place of the call.
  Response Send(Call call, std::source_location where = std::source_location::current()) const;
};

}  // namespace demo
