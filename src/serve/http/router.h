// The table of routes: method and path pattern to handler. Built once, then read only.
//
// A pattern is segments, each literal or {name}; a last segment "{*}" takes the rest of the path,
// slashes included. The first route that matches wins; "/{*}" takes only paths that no other route
// has.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "serve/http/message.h"

namespace hotspan::serve {

using Handler = std::function<Response(const Request&)>;

struct RouteOptions {
  bool writes = false;        // runs among the writers, who may wait for the disk
  bool otlp = false;          // answers on the OTLP ports too
  bool cross_origin = false;  // any web page may call it
};

struct Route {
  std::string method;  // HEAD is answered by GET routes
  std::string pattern;
  Handler handler;
  RouteOptions options;
  std::vector<std::string> segments;
};

class Router {
 public:
  void Add(std::string method, std::string pattern, Handler handler, RouteOptions options = {});

  struct Match {
    const Route* route = nullptr;
    std::vector<std::string> arguments;
    // Without a route: methods that the path has; empty if there is no such path.
    std::string allowed;
  };
  Match Find(std::string_view method, std::string_view path) const;

  const std::vector<Route>& routes() const { return routes_; }

 private:
  std::vector<Route> routes_;
};

}  // namespace hotspan::serve
