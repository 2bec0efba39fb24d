#include "cli/json.h"

#include <charconv>
#include <memory>
#include <vector>

namespace hotspan::cli {
namespace {

// Parsed once and kept, with the parser that owns it.
Json Constant(std::string_view text) {
  static std::vector<std::unique_ptr<simdjson::dom::parser>> parsers;
  parsers.push_back(std::make_unique<simdjson::dom::parser>());
  return parsers.back()->parse(text.data(), text.size()).value_unsafe();
}

}  // namespace

std::int64_t IntOf(const Json& object, std::string_view key) {
  std::int64_t value = 0;
  Json found;
  if (object[key].get(found) != simdjson::SUCCESS) return 0;
  if (found.get(value) == simdjson::SUCCESS) return value;
  std::string_view text;
  if (found.get(text) == simdjson::SUCCESS) {
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
  }
  double real = 0;
  return found.get(real) == simdjson::SUCCESS ? static_cast<std::int64_t>(real) : 0;
}

simdjson::dom::array ArrayOf(const Json& object, std::string_view key) {
  static const Json empty = Constant("[]");
  simdjson::dom::array array;
  if (object[key].get(array) == simdjson::SUCCESS) return array;
  return empty.get_array().value_unsafe();
}

Json MemberOf(const Json& object, std::string_view key) {
  static const Json empty = Constant("{}");
  Json found;
  return object[key].get(found) == simdjson::SUCCESS ? found : empty;
}

bool ParseJson(simdjson::dom::parser& parser, const std::string& text, Json& out) {
  return parser.parse(text).get(out) == simdjson::SUCCESS;
}

}  // namespace hotspan::cli
