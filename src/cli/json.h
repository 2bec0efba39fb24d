// Reading the server's answers with simdjson, with defaults for what is missing.
#pragma once

#include <simdjson.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace hotspan::cli {

using Json = simdjson::dom::element;

inline std::string_view TextOf(const Json& object, std::string_view key) {
  std::string_view text;
  return object[key].get(text) == simdjson::SUCCESS ? text : std::string_view{};
}

inline double RealOf(const Json& object, std::string_view key) {
  double value = 0;
  return object[key].get(value) == simdjson::SUCCESS ? value : 0.0;
}

inline std::string_view TextIn(const Json& element) {
  std::string_view text;
  return element.get(text) == simdjson::SUCCESS ? text : std::string_view{};
}
inline std::int64_t IntIn(const Json& element) {
  std::int64_t value = 0;
  return element.get(value) == simdjson::SUCCESS ? value : 0;
}

// The member of that name; without it an empty object.
Json MemberOf(const Json& object, std::string_view key);

// A number, or a decimal string.
std::int64_t IntOf(const Json& object, std::string_view key);

// The array of that name, or an empty one.
simdjson::dom::array ArrayOf(const Json& object, std::string_view key);

// Parses; false if it is no JSON.
bool ParseJson(simdjson::dom::parser& parser, const std::string& text, Json& out);

}  // namespace hotspan::cli
