// The embedded engine: a log, an in-memory head, and blocks in RocksDB, in one folder of one
// process.
#pragma once

#include <memory>
#include <string>

#include "base/clock.h"
#include "base/limits.h"
#include "storage/engine.h"

namespace rocksdb {
class Env;
}

namespace hotspan::storage {

struct EmbeddedOptions {
  std::string folder{};          // made if it is not there
  const Clock* clock = nullptr;  // must outlive the engine
  rocksdb::Env* env = nullptr;   // null: the operating system; tests inject faults here
  std::size_t head_bytes_cut = limits::kHeadBytesCut;
  std::size_t head_bytes_max = limits::kHeadBytesMax;
  std::size_t block_cache_bytes = std::size_t{96} << 20;
};

// Fails with kFailedPrecondition where another process holds the folder or its format is too new,
// and with kUnavailable where it can't be written; the message names the folder and how to mend it.
Result<std::unique_ptr<Engine>> OpenEmbeddedEngine(const EmbeddedOptions& options);

}  // namespace hotspan::storage
