// Puts the parts together: engine, symbols, ingest, correlate and the handlers above them.
//
// Threads: made and destroyed on one thread; Handle from any.
#pragma once

#include <memory>
#include <string>

#include "base/clock.h"
#include "correlate/explain.h"
#include "ingest/pipeline.h"
#include "model/symbol.h"
#include "query/frames.h"
#include "serve/api/api.h"
#include "storage/engine.h"

namespace hotspan::app {

// Everything but listeners.
class Core {
 public:
  // `storage` is "embedded" or "memory".
  static Result<std::unique_ptr<Core>> Open(const std::string& storage, const std::string& folder,
                                            const storage::RetentionPolicy& retention);
  explicit Core(std::unique_ptr<SystemClock> clock, std::unique_ptr<storage::Engine> engine,
                const storage::RetentionPolicy& retention);

  storage::Engine& engine() { return *engine_; }
  const Clock& clock() const { return *clock_; }
  serve::Api& api() { return api_; }

 private:
  // In the order in which each needs those before it.
  const std::unique_ptr<SystemClock> clock_;
  const std::unique_ptr<storage::Engine> engine_;
  const std::unique_ptr<Symbolizer> symbolizer_;
  query::FrameReader frames_;
  ingest::Pipeline pipeline_;
  correlate::Explainer explainer_;
  serve::Api api_;
};

}  // namespace hotspan::app
