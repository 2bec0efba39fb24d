#include "agent/chunk_builder.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/limits.h"

namespace hotspan::agent {
namespace {

// Callers of a futex that are looked at for what kind of wait it is.
constexpr std::size_t kFutexCallersMax = 8;

std::uint64_t Mix(std::uint64_t hash, std::uint64_t value) {
  hash = (hash ^ value) * 0x9E3779B97F4A7C15;
  return hash ^ (hash >> 29);
}

bool StartsWithAny(std::string_view name, std::initializer_list<std::string_view> prefixes) {
  while (name.rfind("__", 0) == 0) name.remove_prefix(2);
  return std::any_of(prefixes.begin(), prefixes.end(),
                     [name](std::string_view prefix) { return name.rfind(prefix, 0) == 0; });
}

}  // namespace

const std::string& FunctionNames::Find(const std::shared_ptr<const LoadedModule>& module,
                                       std::uint64_t file_offset) {
  if (count_ >= limits::kAgentNamesMax) {
    modules_.clear();
    count_ = 0;
  }
  auto [at, is_new] = modules_.try_emplace(module.get());
  Known& known = at->second;
  if (is_new) {
    known.module = module;
    known.symbols = module->image.empty() ? ElfSymbols::Load(module->path, module->build_id)
                                          : ElfSymbols::FromImage(module->image);
  }
  auto [name, is_new_name] = known.names.try_emplace(file_offset);
  if (is_new_name && known.symbols != nullptr) {
    ++count_;
    name->second = Demangle(known.symbols->Find(file_offset));
  }
  return name->second;
}

std::size_t ChunkBuilder::LocationHash::operator()(const LocationKey& key) const {
  return Mix(Mix(0, reinterpret_cast<std::uint64_t>(key.module)), key.offset);
}

void ChunkBuilder::SetClockOffset(std::int64_t offset_ns) {
  MutexLock lock(mutex_);
  clock_offset_ns_ = offset_ns;
}

bool ChunkBuilder::HasRoom() {
  if (pending_.chunk.samples.size() < limits::kAgentSamplesMax &&
      pending_.chunk.locations.size() + raw::kFramesMax < limits::kAgentLocationsMax) {
    return true;
  }
  ++pending_.chunk.dropped;
  return false;
}

void ChunkBuilder::AddCpuSample(const RingSample& sample, const std::uint64_t* frames,
                                const CodeSnapshot& snapshot, const CodeSnapshot& current) {
  MutexLock lock(mutex_);
  if (!HasRoom()) return;
  std::vector<std::uint32_t> locations;
  locations.reserve(sample.frame_count);
  for (std::size_t i = 0; i < sample.frame_count; ++i) {
    locations.push_back(AddCode(frames[i], snapshot, current));
  }
  CollectedSample collected;
  collected.time_ns = static_cast<std::int64_t>(sample.time_ns) + clock_offset_ns_;
  collected.value_ns = static_cast<std::int64_t>(sample.weight_ns);
  if (sample.has_context != 0) {
    std::memcpy(collected.trace_id.data(), sample.trace_id, sizeof(sample.trace_id));
    std::memcpy(collected.span_id.data(), sample.span_id, sizeof(sample.span_id));
  }
  collected.thread_id = sample.thread_id;
  collected.stack = AddStack(std::move(locations));
  collected.kind = SampleKind::kOnCpu;
  pending_.chunk.samples.push_back(collected);
  ++taken_;
}

void ChunkBuilder::AddWaitSample(const WaitSample& sample, const CodeSnapshot& snapshot) {
  MutexLock lock(mutex_);
  if (!HasRoom()) return;
  std::vector<std::uint32_t> locations;
  locations.reserve(sample.frames.size() + 1);
  if (!sample.leaf.empty()) locations.push_back(AddPseudoFrame(sample.leaf));
  for (const std::uint64_t pc : sample.frames) {
    locations.push_back(AddCode(pc, snapshot, snapshot));
  }
  CollectedSample collected;
  collected.time_ns = static_cast<std::int64_t>(sample.time_ns) + clock_offset_ns_;
  collected.value_ns = static_cast<std::int64_t>(sample.value_ns);
  std::memcpy(collected.trace_id.data(), sample.context.trace_id, sizeof(sample.context.trace_id));
  std::memcpy(collected.span_id.data(), sample.context.span_id, sizeof(sample.context.span_id));
  collected.thread_id = sample.thread_id;
  collected.stack = AddStack(std::move(locations));
  collected.kind = sample.kind;
  pending_.chunk.samples.push_back(collected);
  ++taken_;
}

std::uint32_t ChunkBuilder::AddModule(const std::shared_ptr<const LoadedModule>& module) {
  for (std::size_t i = 0; i < pending_.modules.size(); ++i) {
    if (pending_.modules[i] == module) return static_cast<std::uint32_t>(i);
  }
  Module out;
  out.path = module->path;
  out.build_id = module->build_id;
  out.start = module->code.front().start;
  out.limit = module->code.back().limit;
  out.file_offset = module->code.front().file_offset;
  pending_.chunk.modules.push_back(std::move(out));
  pending_.modules.push_back(module);
  return static_cast<std::uint32_t>(pending_.modules.size() - 1);
}

std::uint32_t ChunkBuilder::AddCode(std::uint64_t pc, const CodeSnapshot& snapshot,
                                    const CodeSnapshot& current) {
  const std::shared_ptr<const LoadedModule>* module = snapshot.Find(pc);
  if (module == nullptr) module = current.Find(pc);
  LocationKey key{nullptr, pc};
  if (module != nullptr) {
    key.module = module->get();
    (*module)->FileOffset(pc, &key.offset);
  }
  const auto [at, is_new] = pending_.locations.try_emplace(
      key, static_cast<std::uint32_t>(pending_.chunk.locations.size()));
  if (!is_new) return at->second;
  CodeLocation location;
  location.file_offset = key.offset;
  if (module != nullptr) location.module = AddModule(*module);
  pending_.chunk.locations.push_back(std::move(location));
  return at->second;
}

std::uint32_t ChunkBuilder::AddPseudoFrame(std::string_view text) {
  const auto [at, is_new] = pending_.pseudo_frames.try_emplace(
      std::string(text), static_cast<std::uint32_t>(pending_.chunk.locations.size()));
  if (is_new) {
    CodeLocation location;
    location.function = text;
    pending_.chunk.locations.push_back(std::move(location));
  }
  return at->second;
}

std::uint32_t ChunkBuilder::AddStack(std::vector<std::uint32_t> locations) {
  std::uint64_t hash = locations.size();
  for (const std::uint32_t location : locations) hash = Mix(hash, location);
  auto& stacks = pending_.chunk.stacks;
  const auto [first, last] = pending_.stacks.equal_range(hash);
  for (auto at = first; at != last; ++at) {
    if (stacks[at->second] == locations) return at->second;
  }
  const std::uint32_t number = static_cast<std::uint32_t>(stacks.size());
  stacks.push_back(std::move(locations));
  pending_.stacks.emplace(hash, number);
  return number;
}

void ChunkBuilder::Name(Pending& pending, FunctionNames& names) {
  for (CodeLocation& location : pending.chunk.locations) {
    if (location.module == kNoModule) continue;
    location.function = names.Find(pending.modules[location.module], location.file_offset);
  }
}

// One system call serves locks and conditions; which one it is stands in the names of its callers.
void ChunkBuilder::TellFutexesApart(Pending& pending) {
  const auto futex = pending.pseudo_frames.find(std::string(kFutexLeaf));
  if (futex == pending.pseudo_frames.end()) return;
  ProfileChunk& chunk = pending.chunk;
  std::uint32_t wait = UINT32_MAX;
  for (std::vector<std::uint32_t>& stack : chunk.stacks) {
    if (stack.empty() || stack[0] != futex->second) continue;
    for (std::size_t i = 1; i < std::min(stack.size(), kFutexCallersMax); ++i) {
      const std::string& name = chunk.locations[stack[i]].function;
      if (StartsWithAny(name, {"pthread_mutex", "pthread_rwlock", "pthread_spin"})) break;
      if (!StartsWithAny(name, {"pthread_cond", "pthread_join", "pthread_clockjoin", "cnd_",
                                "pthread_timedjoin", "pthread_barrier", "sem_", "new_sem",
                                "std::__atomic_futex", "std::__detail::__platform_wait"})) {
        continue;
      }
      if (wait == UINT32_MAX) {
        wait = static_cast<std::uint32_t>(chunk.locations.size());
        CodeLocation location;
        location.function = kFutexWaitLeaf;
        chunk.locations.push_back(std::move(location));
      }
      stack[0] = wait;
      break;
    }
  }
}

ProfileChunk ChunkBuilder::Take(FunctionNames& names) {
  Pending taken;
  {
    MutexLock lock(mutex_);
    std::swap(taken, pending_);
  }
  Name(taken, names);
  TellFutexesApart(taken);
  return std::move(taken.chunk);
}

std::uint64_t ChunkBuilder::taken() const {
  MutexLock lock(mutex_);
  return taken_;
}

void ChunkBuilder::AfterForkInChild() {
  pending_ = Pending{};
  taken_ = 0;
  mutex_.Unlock();
}

}  // namespace hotspan::agent
