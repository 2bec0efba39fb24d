// gRPC over connections that others accepted: one generic service with raw bytes, so that the same
// decoders read HTTP and gRPC. The only place that knows gRPC's headers.
//
// Threads: the handler is called on gRPC's threads and must not block; its answer may come from any
// thread. Adopt may be called from any thread between Start and Stop.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "base/limits.h"
#include "base/result.h"

namespace hotspan::serve {

struct GrpcCall {
  std::string method;    // "/package.Service/Method"
  std::string message;   // as sent: compressed still, if `encoding` says so
  std::string encoding;  // "", "gzip" or "deflate"
};

struct GrpcAnswer {
  int code = 0;  // gRPC's numbers; 0: fine
  std::string error;
  std::string message;  // the response
  // For retryable refusals: RetryInfo of so many seconds; 0: none.
  int retry_after_seconds = 0;
};

using GrpcRespond = std::function<void(GrpcAnswer)>;
using GrpcHandler = std::function<void(GrpcCall, GrpcRespond)>;

class GrpcServer {
 public:
  explicit GrpcServer(GrpcHandler handler, std::size_t message_bytes_max = limits::kBodyBytesMax);
  ~GrpcServer();
  GrpcServer(const GrpcServer&) = delete;
  GrpcServer& operator=(const GrpcServer&) = delete;

  [[nodiscard]] Status Start();
  // Takes over a connected, non-blocking socket.
  void Adopt(int descriptor);
  // Lets running calls finish for a while.
  void Stop();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hotspan::serve
