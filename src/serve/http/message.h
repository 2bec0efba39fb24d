// Requests and responses of the HTTP API as plain values, so that handlers need no socket.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hotspan::serve {

// Which listener a connection came in by: OTLP ports answer OTLP paths alone.
enum class Port { kMain, kOtlpGrpc, kOtlpHttp };

using TextPairs = std::vector<std::pair<std::string, std::string>>;

struct Request {
  std::string method;
  std::string path;   // percent-encoded still, without the query
  TextPairs query;    // decoded, in order
  TextPairs headers;  // names in lower case
  std::string body;
  std::vector<std::string> arguments;  // of the route's {…}, decoded, in order
  Port port = Port::kMain;

  // The first header of that (lower-case) name, or "".
  std::string_view Header(std::string_view name) const;
};

struct Response {
  int status = 200;
  std::string content_type;
  std::string body;
  TextPairs headers;
};

Response TextResponse(int status, std::string text);
Response JsonResponse(std::string json);

// Splits "/path?a=1&b=%20" into request.path and request.query. False if percent-encoding is
// broken.
bool SetTarget(Request& request, std::string_view target);

// Percent-decodes; '+' becomes a space in queries only. False on a broken escape.
bool DecodePercent(std::string_view text, bool plus_is_space, std::string& out);
std::string EncodePercent(std::string_view text);

// A media type without its parameters, in lower case: "application/json".
std::string MediaType(std::string_view content_type);

std::string_view TrimSpace(std::string_view text);
std::string ToLowerAscii(std::string_view text);

}  // namespace hotspan::serve
