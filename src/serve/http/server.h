// The listeners: accepts connections, tells HTTP/1.1, gRPC and TLS apart by their first bytes, and
// serves HTTP/1.1 itself. gRPC connections are handed on as descriptors.
//
// Threads: Listen, Start and Stop from one thread; the handler is called on network threads and
// must not block; its answer may come from any thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/limits.h"
#include "base/result.h"
#include "serve/http/message.h"

namespace hotspan::serve {

using Respond = std::function<void(Response)>;
using AsyncHandler = std::function<void(Request, Respond)>;
// Takes over a connected, non-blocking socket whose first bytes are HTTP/2's preface.
using TakeHttp2 = std::function<void(int descriptor)>;

struct ServerOptions {
  std::size_t threads = 2;
  std::size_t connections_max = limits::kConnectionsMax;
  std::size_t body_bytes_max = limits::kBodyBytesMax;
  std::size_t in_flight_bytes_max = limits::kIngestInFlightBytesMax;
  std::chrono::milliseconds idle_timeout{75'000};    // between requests
  std::chrono::milliseconds header_timeout{10'000};  // from the first byte to the last header
  std::chrono::milliseconds body_timeout{120'000};   // for all of a body, and for writing an answer
  std::string tls_certificate;                       // PEM files; empty: no TLS
  std::string tls_key;
  bool tls_only = false;
};

struct ServerStats {
  std::uint64_t connections = 0;  // accepted so far
  std::uint64_t open = 0;
  std::uint64_t refused = 0;  // over the limit of connections
  std::uint64_t in_flight_bytes = 0;
};

class Server {
 public:
  Server(ServerOptions options, AsyncHandler handler, TakeHttp2 take_http2);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Binds "host:port" (port 0: a free one) and yields the address as bound. Call before Start.
  [[nodiscard]] Result<std::string> Listen(std::string_view address, Port port);
  // Reads the certificate, if any, and begins to accept.
  [[nodiscard]] Status Start();
  // Accepts no more, lets running requests finish for a while, then closes everything.
  void Stop();

  ServerStats Stats() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

// "host:port", "[::1]:port" or ":port" (all interfaces) to its parts.
struct HostPort {
  std::string host;
  std::uint16_t port = 0;
};
Result<HostPort> ParseHostPort(std::string_view address);

}  // namespace hotspan::serve
