#include "serve/http/router.h"

#include <optional>

namespace hotspan::serve {
namespace {

std::vector<std::string> SplitPath(std::string_view path) {
  std::vector<std::string> segments;
  std::size_t begin = path.starts_with('/') ? 1 : 0;
  while (begin <= path.size()) {
    std::size_t end = path.find('/', begin);
    if (end == std::string_view::npos) end = path.size();
    segments.emplace_back(path.substr(begin, end - begin));
    begin = end + 1;
  }
  return segments;
}

std::optional<std::vector<std::string>> MatchSegments(const std::vector<std::string>& pattern,
                                                      const std::vector<std::string>& path) {
  std::vector<std::string> arguments;
  for (std::size_t at = 0; at < pattern.size(); ++at) {
    const std::string& want = pattern[at];
    if (want == "{*}") {
      std::string rest;
      for (std::size_t i = at; i < path.size(); ++i) {
        std::string part;
        if (!DecodePercent(path[i], false, part)) return std::nullopt;
        if (i > at) rest.push_back('/');
        rest += part;
      }
      arguments.push_back(std::move(rest));
      return arguments;
    }
    if (at >= path.size()) return std::nullopt;
    std::string part;
    if (!DecodePercent(path[at], false, part)) return std::nullopt;
    if (want.starts_with('{')) {
      if (part.empty()) return std::nullopt;
      arguments.push_back(std::move(part));
    } else if (want != part) {
      return std::nullopt;
    }
  }
  if (path.size() != pattern.size()) return std::nullopt;
  return arguments;
}

}  // namespace

void Router::Add(std::string method, std::string pattern, Handler handler, RouteOptions options) {
  std::vector<std::string> segments = SplitPath(pattern);
  routes_.push_back(
      {std::move(method), std::move(pattern), std::move(handler), options, std::move(segments)});
}

namespace {
constexpr std::string_view kCatchAll = "/{*}";
}  // namespace

Router::Match Router::Find(std::string_view method, std::string_view path) const {
  const std::vector<std::string> segments = SplitPath(path);
  Match match;
  for (const Route& route : routes_) {
    auto arguments = MatchSegments(route.segments, segments);
    if (!arguments) continue;
    // A route for everything else is not for a path that other methods have.
    if (route.pattern == kCatchAll && !match.allowed.empty()) continue;
    if (route.method == method || (method == "HEAD" && route.method == "GET")) {
      match.route = &route;
      match.arguments = std::move(*arguments);
      return match;
    }
    if (match.allowed.find(route.method) == std::string::npos) {
      if (!match.allowed.empty()) match.allowed += ", ";
      match.allowed += route.method;
    }
  }
  return match;
}

}  // namespace hotspan::serve
