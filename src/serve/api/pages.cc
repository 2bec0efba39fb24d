// The web page: embedded files, and index.html for every address of the page's own router.
#include "serve/api/routes.h"
#include "serve/assets/assets.h"
#include "serve/http/gzip.h"

namespace hotspan::serve {
namespace {

constexpr std::string_view kContentSecurityPolicy =
    "default-src 'self'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; frame-ancestors 'none'; base-uri 'none'";

constexpr std::string_view kNoPage =
    "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Hotspan</title>"
    "<h1>Hotspan</h1><p>This build has no web page. Build it with <code>npm ci &amp;&amp; npm run "
    "build</code> in <code>ui/</code>, then build the server again.</p>"
    "<p>The HTTP API answers under <code>/api/hotspan/v1</code>.</p></html>";

void AddSecurityHeaders(Response& response) {
  response.headers.emplace_back("Content-Security-Policy", kContentSecurityPolicy);
  response.headers.emplace_back("Referrer-Policy", "no-referrer");
}

Response AssetResponse(const Request& request, const Asset& asset) {
  Response response;
  response.content_type = std::string(asset.content_type);
  response.headers.emplace_back("ETag", std::string(asset.etag));
  response.headers.emplace_back(
      "Cache-Control", asset.immutable ? "public, max-age=31536000, immutable" : "no-cache");
  response.headers.emplace_back("Vary", "Accept-Encoding");
  AddSecurityHeaders(response);
  if (request.Header("if-none-match") == asset.etag) {
    response.status = 304;
    return response;
  }
  if (!asset.gzip.empty() && AcceptsGzip(request.Header("accept-encoding"))) {
    response.headers.emplace_back("Content-Encoding", "gzip");
    response.body = std::string(asset.gzip);
  } else {
    response.body = std::string(asset.bytes);
  }
  return response;
}

Response Index(const Request& request) {
  const Asset* index = FindAsset("index.html");
  if (index != nullptr) return AssetResponse(request, *index);
  Response response{200, "text/html; charset=utf-8", std::string(kNoPage), {}};
  AddSecurityHeaders(response);
  return response;
}

Response File(const Request& request) {
  const Asset* asset = FindAsset(request.arguments[0]);
  if (asset != nullptr) return AssetResponse(request, *asset);
  return TextResponse(404, "not found\n");
}

}  // namespace

void AddPageRoutes(Router& router, Api&) {
  for (const char* path :
       {"/", "/services", "/services/{*}", "/traces", "/traces/{*}", "/trace/{*}", "/index.html"}) {
    router.Add("GET", path, &Index);
  }
  router.Add("GET", "/{*}", &File);
}

}  // namespace hotspan::serve
