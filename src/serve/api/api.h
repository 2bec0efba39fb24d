// The handlers of the HTTP and gRPC APIs: parse, call the layers below, encode.
//
// Threads: handlers run on any worker thread; everything in Api is set before the server starts.
#pragma once

#include <cstdint>
#include <string>

#include "base/clock.h"
#include "correlate/explain.h"
#include "ingest/pipeline.h"
#include "query/frames.h"
#include "serve/grpc/grpc_server.h"
#include "serve/http/front.h"
#include "serve/http/router.h"
#include "storage/engine.h"

namespace hotspan::serve {

inline constexpr std::string_view kVersion = HOTSPAN_VERSION;

struct Api {
  storage::Engine& engine;
  query::FrameReader& frames;
  ingest::Pipeline& pipeline;
  correlate::Explainer& explainer;
  const Clock& clock;
  storage::RetentionPolicy retention;
  std::int64_t started_ns = 0;
  // For /metrics; null before they exist, and in a process without listeners.
  const Front* front = nullptr;
  const Server* server = nullptr;

  TimeNs Now() const { return {clock.NowNs()}; }
};

// All routes. The Api must outlive the router.
Router MakeRouter(Api& api);

// OTLP over gRPC; calls run on `workers`.
GrpcHandler MakeGrpcHandler(Api& api, WorkerPool& workers);

}  // namespace hotspan::serve
