// Reads the frames of stacks from an engine and resolves native ones to functions and lines.
//
// Threads: all methods may be called from any thread.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "model/stack.h"
#include "model/symbol.h"
#include "storage/engine.h"

namespace hotspan::query {

class FrameReader {
 public:
  // Both must outlive the reader; without a symbolizer frames stay as the engine has them.
  FrameReader(storage::Engine& engine, Symbolizer* symbolizer);

  // Frames of these stacks, inline chains expanded. A native frame that can't be resolved keeps the
  // name it came with.
  Result<std::shared_ptr<const FrameTable>> Read(std::span<const StackNumber> stacks);

  std::size_t cached_addresses() const;

 private:
  struct Entry {
    std::string key;
    std::shared_ptr<const std::vector<SourceLine>> chain;
  };

  std::shared_ptr<const std::vector<SourceLine>> Resolve(const Frame& frame);
  std::shared_ptr<const FrameTable> Expand(FrameTable table);

  storage::Engine& engine_;
  Symbolizer* const symbolizer_;
  mutable Mutex mutex_;
  std::list<Entry> entries_ GUARDED_BY(mutex_);  // the last used in front
  std::unordered_map<std::string_view, std::list<Entry>::iterator> by_key_ GUARDED_BY(mutex_);
};

}  // namespace hotspan::query
