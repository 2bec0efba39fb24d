#include "query/frames.h"

#include <utility>

#include "base/bytes.h"
#include "base/limits.h"

namespace hotspan::query {
namespace {

// Native, and known by its address or by the name in the object file alone.
bool MayResolveFurther(const Frame& frame) {
  return !frame.build_id.empty() && frame.address != 0 && !frame.inlined && frame.line == 0;
}

Frame FrameOf(const Frame& native, const SourceLine& source, bool inlined) {
  Frame frame = native;
  frame.inlined = inlined;
  frame.symbolized = true;
  frame.function = source.function;
  frame.file = source.file;
  frame.line = source.line;
  // Only the outermost of the chain is the function that the object file names.
  if (source.function.empty() && !inlined) {
    frame.function = native.function;
    frame.symbolized = native.symbolized;
  }
  // Debug information names functions of one file without their scope; the object file knows it.
  if (!inlined && native.function.ends_with("::" + source.function)) {
    frame.function = native.function;
  }
  return frame;
}

}  // namespace

FrameReader::FrameReader(storage::Engine& engine, Symbolizer* symbolizer)
    : engine_(engine), symbolizer_(symbolizer) {}

Result<std::shared_ptr<const FrameTable>> FrameReader::Read(std::span<const StackNumber> stacks) {
  if (stacks.empty()) return std::make_shared<const FrameTable>();
  TRY_ASSIGN(FrameTable table, engine_.ReadStacks(stacks));
  if (symbolizer_ == nullptr) return std::make_shared<const FrameTable>(std::move(table));
  return Expand(std::move(table));
}

std::size_t FrameReader::cached_addresses() const {
  const MutexLock lock(mutex_);
  return entries_.size();
}

std::shared_ptr<const std::vector<SourceLine>> FrameReader::Resolve(const Frame& frame) {
  std::string key = frame.build_id;
  AppendRaw(key, frame.address);
  {
    const MutexLock lock(mutex_);
    const auto found = by_key_.find(key);
    if (found != by_key_.end()) {
      entries_.splice(entries_.begin(), entries_, found->second);
      return found->second->chain;
    }
  }
  // Not under the lock: it may read files. Two threads may resolve one address at once.
  auto chain = std::make_shared<const std::vector<SourceLine>>(
      symbolizer_->Resolve(frame.build_id, frame.module, frame.address));
  const MutexLock lock(mutex_);
  if (by_key_.contains(key)) return chain;
  entries_.push_front({std::move(key), chain});
  by_key_.emplace(entries_.front().key, entries_.begin());
  if (entries_.size() > limits::kResolvedAddressesMax) {
    by_key_.erase(entries_.back().key);
    entries_.pop_back();
  }
  return chain;
}

std::shared_ptr<const FrameTable> FrameReader::Expand(FrameTable table) {
  // For each frame with a chain: its range in the frames appended, innermost first.
  struct Range {
    std::uint32_t first = 0;
    std::uint32_t count = 0;
  };
  const std::size_t count = table.frames.size();
  std::vector<Range> ranges(count);
  bool expanded = false;
  for (std::size_t i = 0; i < count; ++i) {
    if (!MayResolveFurther(table.frames[i])) continue;
    const auto chain = Resolve(table.frames[i]);
    if (chain->empty()) continue;
    expanded = true;
    ranges[i] = {static_cast<std::uint32_t>(table.frames.size()),
                 static_cast<std::uint32_t>(chain->size())};
    const Frame native = table.frames[i];
    for (std::size_t j = 0; j < chain->size(); ++j) {
      table.frames.push_back(FrameOf(native, (*chain)[j], j + 1 < chain->size()));
    }
  }
  if (expanded) {
    for (auto& [number, stack] : table.stacks) {
      std::vector<std::uint32_t> out;
      out.reserve(stack.size() * 2);
      for (const std::uint32_t frame : stack) {
        const Range range = ranges[frame];
        if (range.count == 0) out.push_back(frame);
        for (std::uint32_t j = 0; j < range.count; ++j) out.push_back(range.first + j);
      }
      stack = std::move(out);
    }
  }
  return std::make_shared<const FrameTable>(std::move(table));
}

}  // namespace hotspan::query
