// A small blocking HTTP/1.1 client for one server: POST with a body, over a kept connection.
// Everything is bounded by a deadline; http:// only.
//
// Threads: a client belongs to one thread; the cut-off may be moved by another.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hotspan::agent {

struct HttpUrl {
  std::string host;  // a name or address, IPv6 without brackets
  std::string port;
  std::string path;       // begins with a slash
  std::string authority;  // for the Host header
};
// Nothing for what is not an http:// URL; user names and fragments are refused.
std::optional<HttpUrl> ParseHttpUrl(std::string_view url);

using HttpHeaders = std::vector<std::pair<std::string, std::string>>;

struct HttpResponse {
  int status = 0;  // 0: no answer, see `error`
  std::string error;
  bool connected = false;  // the server was reached
  std::string body;
  std::string retry_after;
};

class HttpClient {
 public:
  // No request lasts beyond *cut_off_ns (by SteadyNs), which is to outlive the client.
  HttpClient(HttpUrl url, const std::atomic<std::int64_t>* cut_off_ns)
      : url_(std::move(url)), cut_off_ns_(cut_off_ns) {}
  ~HttpClient() { Disconnect(); }
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  // Waits for the answer, `timeout_ms` at most. A kept connection that turns out to be closed is
  // replaced once.
  HttpResponse Post(const HttpHeaders& headers, std::string_view body, int timeout_ms);

  const HttpUrl& url() const { return url_; }

 private:
  HttpResponse Exchange(const HttpHeaders& headers, std::string_view body, bool* no_answer);
  bool Connect(std::string* error);
  bool ConnectTo(const void* address, unsigned size, int family, std::string* error);
  void Disconnect();
  bool Send(std::string_view bytes);
  // Bytes received; 0 at the end of the stream, negative on an error or timeout.
  long Receive(char* out, std::size_t size);
  // False when the deadline or the cut-off came first.
  bool WaitFor(short events) const;

  const HttpUrl url_;
  const std::atomic<std::int64_t>* cut_off_ns_;
  std::int64_t deadline_ns_ = 0;
  int socket_ = -1;
};

// The body as gzip; empty if zlib would not.
std::string Gzip(std::string_view bytes);

// Seconds of a Retry-After header: a number, or an HTTP date against `now_ns` since the epoch.
std::optional<std::int64_t> ParseRetryAfter(std::string_view value, std::int64_t now_ns);

}  // namespace hotspan::agent
