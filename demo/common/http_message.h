// Requests and answers of the demo services, and the small parsers around them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace demo {

// A request target cut into its path and its decoded query parameters.
struct Target {
  std::string path;
  std::map<std::string, std::string> query;
};

// None for a target that does not start with '/', or whose percent escapes are broken.
std::optional<Target> ParseTarget(std::string_view target);

// The text with %XX and '+' resolved; none for a broken escape.
std::optional<std::string> PercentDecode(std::string_view text);

// The text fit to stand in a query: all but letters, digits and "-._~" as %XX.
std::string PercentEncode(std::string_view text);

struct Request {
  std::string method;
  Target target;
  std::string authorization;
  std::string traceparent;
  std::string tracestate;
  std::string body;

  // The query parameter, or `otherwise` where it is missing.
  std::string Query(const std::string& key, const std::string& otherwise = {}) const;
  // The token of "Authorization: Bearer TOKEN", or "".
  std::string BearerToken() const;
};

struct Response {
  int status = 200;
  std::string body;
  std::string content_type = "application/json";
};

Response ErrorResponse(int status, std::string_view message);

// Where another service listens.
struct Address {
  std::string host;
  std::uint16_t port = 0;

  friend bool operator==(const Address&, const Address&) = default;
};

// Reads "host:port", with a port from 1 to 65535.
std::optional<Address> ParseAddress(std::string_view text);

// Reads a whole decimal number from `low` to `high`.
std::optional<std::int64_t> ParseNumber(std::string_view text, std::int64_t low, std::int64_t high);

}  // namespace demo
