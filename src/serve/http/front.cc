#include "serve/http/front.h"

#include <fmt/format.h>

#include <arpa/inet.h>

#include <algorithm>
#include <memory>

#include "base/clock.h"
#include "serve/http/gzip.h"

namespace hotspan::serve {
namespace {

constexpr std::size_t kCompressFromBytes = 1024;
constexpr int kCompressLevel = 1;

// Without the port and brackets, in lower case.
std::string HostName(std::string_view host_port) {
  if (host_port.starts_with('[')) {
    return ToLowerAscii(host_port.substr(1, host_port.find(']') - 1));
  }
  return ToLowerAscii(host_port.substr(0, host_port.find(':')));
}

bool IsCompressible(std::string_view content_type) {
  const std::string type = MediaType(content_type);
  return type.starts_with("text/") || type == "application/json" ||
         type == "application/protobuf" || type == "application/javascript" ||
         type == "image/svg+xml" || type == "application/octet-stream";
}

Response Preflight(const Request& request) {
  Response response;
  response.status = 204;
  response.headers.emplace_back("Access-Control-Allow-Origin", "*");
  response.headers.emplace_back("Access-Control-Allow-Methods", "POST");
  const std::string_view wanted = request.Header("access-control-request-headers");
  response.headers.emplace_back("Access-Control-Allow-Headers",
                                wanted.empty() ? "Content-Type" : std::string(wanted));
  response.headers.emplace_back("Access-Control-Max-Age", "7200");
  return response;
}

Response Busy() {
  Response response = TextResponse(503, "too many requests are waiting, try again\n");
  response.headers.emplace_back("Retry-After", "1");
  return response;
}

}  // namespace

bool IsLocalOrLiteralHost(std::string_view host_port) {
  const std::string name = HostName(host_port);
  if (name == "localhost" || name.ends_with(".localhost")) return true;
  unsigned char address[16];
  return inet_pton(AF_INET, name.c_str(), address) == 1 ||
         inet_pton(AF_INET6, name.c_str(), address) == 1;
}

Front::Front(Router router, FrontOptions options)
    : router_(std::move(router)),
      options_(std::move(options)),
      readers_(options_.readers, options_.queue_max),
      writers_(options_.writers, options_.queue_max) {}

bool Front::IsAllowedHost(std::string_view host_port) const {
  if (host_port.empty() || IsLocalOrLiteralHost(host_port)) return true;
  const std::string name = HostName(host_port);
  return std::any_of(
      options_.allowed_hosts.begin(), options_.allowed_hosts.end(),
      [&](const std::string& allowed) { return allowed == "*" || ToLowerAscii(allowed) == name; });
}

Response Front::Check(const Request& request, const Router::Match& match) const {
  const bool cross_origin = match.route != nullptr && match.route->options.cross_origin;
  const bool otlp = match.route != nullptr && match.route->options.otlp;
  if (cross_origin) return Response{0, {}, {}, {}};
  const std::string_view host = request.Header("host");
  if (!otlp && !IsAllowedHost(host)) {
    return TextResponse(403, "host \"" + HostName(host) +
                                 "\" is not allowed; start the server with --allowed-hosts " +
                                 HostName(host) + "\n");
  }
  const std::string_view origin = request.Header("origin");
  if (request.method != "GET" && request.method != "HEAD" && !origin.empty()) {
    const std::size_t scheme = origin.find("://");
    const bool same = scheme != std::string_view::npos && origin.substr(scheme + 3) == host;
    if (!same) return TextResponse(403, "requests of other origins are not allowed here\n");
  }
  return Response{0, {}, {}, {}};
}

Response Front::Run(const Route& route, const Request& request) {
  const std::int64_t begin_ns = MonotonicNs();
  Response response = route.handler(request);
  response.headers.emplace_back(
      "Server-Timing",
      fmt::format("app;dur={:.3f}", static_cast<double>(MonotonicNs() - begin_ns) * 1e-6));
  Finish(request, response);
  if (route.options.cross_origin) {
    response.headers.emplace_back("Access-Control-Allow-Origin", "*");
  }
  Count(route.pattern, response.status, begin_ns);
  return response;
}

void Front::Finish(const Request& request, Response& response) const {
  response.headers.emplace_back("X-Content-Type-Options", "nosniff");
  const bool encoded =
      std::any_of(response.headers.begin(), response.headers.end(),
                  [](const auto& header) { return header.first == "Content-Encoding"; });
  if (encoded || response.body.size() < kCompressFromBytes ||
      !IsCompressible(response.content_type)) {
    return;
  }
  response.headers.emplace_back("Vary", "Accept-Encoding");
  if (!AcceptsGzip(request.Header("accept-encoding"))) return;
  std::string compressed = GzipCompress(response.body, kCompressLevel);
  if (compressed.empty() || compressed.size() >= response.body.size()) return;
  response.body = std::move(compressed);
  response.headers.emplace_back("Content-Encoding", "gzip");
}

void Front::Count(const std::string& pattern, int status, std::int64_t begin_ns) {
  const auto took = static_cast<std::uint64_t>(MonotonicNs() - begin_ns);
  const MutexLock lock(mutex_);
  RouteStats& stats = stats_[{pattern, status}];
  ++stats.requests;
  stats.nanoseconds += took;
}

std::map<std::pair<std::string, int>, RouteStats> Front::Stats() const {
  const MutexLock lock(mutex_);
  return stats_;
}

void Front::Handle(Request request, Respond respond) {
  Router::Match match = router_.Find(request.method, request.path);
  if (match.route != nullptr && request.port != Port::kMain && !match.route->options.otlp) {
    match = {};
  }
  const auto refuse = [&](Response response) {
    Count(match.route != nullptr ? match.route->pattern : "(none)", response.status, MonotonicNs());
    respond(std::move(response));
  };
  if (match.route == nullptr && request.method == "OPTIONS") {
    const Router::Match post = router_.Find("POST", request.path);
    if (post.route != nullptr && post.route->options.cross_origin) {
      return refuse(Preflight(request));
    }
  }
  Response refusal = Check(request, match);
  if (refusal.status != 0) return refuse(std::move(refusal));
  if (match.route == nullptr) {
    if (match.allowed.empty()) return refuse(TextResponse(404, "not found\n"));
    Response response = TextResponse(405, "allowed here: " + match.allowed + "\n");
    response.headers.emplace_back("Allow", match.allowed);
    return refuse(std::move(response));
  }
  request.arguments = std::move(match.arguments);
  const Route* route = match.route;
  // std::function wants copies, a request's body must not be copied.
  auto shared = std::make_shared<Request>(std::move(request));
  WorkerPool& pool = route->options.writes ? writers_ : readers_;
  const bool taken = pool.Post([this, route, shared, respond] { respond(Run(*route, *shared)); });
  if (!taken) refuse(Busy());
}

Response Front::HandleNow(Request request) {
  Router::Match match = router_.Find(request.method, request.path);
  if (match.route == nullptr) {
    return TextResponse(match.allowed.empty() ? 404 : 405, "no such path or method\n");
  }
  request.arguments = std::move(match.arguments);
  return Run(*match.route, request);
}

}  // namespace hotspan::serve
