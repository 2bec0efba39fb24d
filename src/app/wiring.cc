#include "app/wiring.h"

#include <utility>

#include "storage/embedded/embedded_engine.h"
#include "storage/reference/reference_engine.h"
#include "symbols/elf_symbolizer.h"

namespace hotspan::app {

Core::Core(std::unique_ptr<SystemClock> clock, std::unique_ptr<storage::Engine> engine,
           const storage::RetentionPolicy& retention)
    : clock_(std::move(clock)),
      engine_(std::move(engine)),
      symbolizer_(symbols::MakeElfSymbolizer()),
      frames_(*engine_, symbolizer_.get()),
      pipeline_(*engine_, *clock_),
      explainer_(*engine_, frames_, *clock_),
      api_{*engine_,  frames_,         pipeline_, explainer_, *clock_,
           retention, clock_->NowNs(), nullptr,   nullptr} {}

Result<std::unique_ptr<Core>> Core::Open(const std::string& storage, const std::string& folder,
                                         const storage::RetentionPolicy& retention) {
  auto clock = std::make_unique<SystemClock>();
  std::unique_ptr<storage::Engine> engine;
  if (storage == "memory") {
    engine = storage::MakeReferenceEngine(*clock);
  } else {
    storage::EmbeddedOptions options;
    options.folder = folder;
    options.clock = clock.get();
    TRY_ASSIGN(engine, storage::OpenEmbeddedEngine(options));
  }
  return std::make_unique<Core>(std::move(clock), std::move(engine), retention);
}

}  // namespace hotspan::app
