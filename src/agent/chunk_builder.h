// Gathers samples as they come out of rings and samplers, each stack and location once, and makes
// chunks of them with names.
//
// Threads: Add methods and Take may be called from any thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "agent/elf_symbols.h"
#include "agent/module_map.h"
#include "agent/profile_chunk.h"
#include "agent/signal/thread_slot.h"
#include "base/mutex.h"

namespace hotspan::agent {

// A wait that was seen from outside of the thread, or one for a lock that it measured itself.
struct WaitSample {
  std::uint64_t time_ns = 0;  // CLOCK_MONOTONIC
  std::uint64_t value_ns = 0;
  ThreadContextRecord context{};
  std::uint32_t thread_id = 0;
  // "[io] read /tmp/x"; kFutexLeaf is told apart by its callers; empty: the frames alone
  std::string_view leaf;
  std::span<const std::uint64_t> frames;
  SampleKind kind = SampleKind::kOffCpu;
};

inline constexpr std::string_view kFutexLeaf = "[lock] futex";
inline constexpr std::string_view kFutexWaitLeaf = "[wait] futex";

// Names of functions by module and file offset, remembered over chunks.
class FunctionNames {
 public:
  const std::string& Find(const std::shared_ptr<const LoadedModule>& module,
                          std::uint64_t file_offset);

 private:
  struct Known {
    std::shared_ptr<const LoadedModule> module;  // so that no other gets its address
    std::unique_ptr<ElfSymbols> symbols;         // null: there are none
    std::unordered_map<std::uint64_t, std::string> names;
  };
  std::map<const LoadedModule*, Known> modules_;
  std::size_t count_ = 0;
};

class ChunkBuilder {
 public:
  // REALTIME less MONOTONIC, for samples that are added from here on.
  void SetClockOffset(std::int64_t offset_ns);

  // `current` is asked for what came after `snapshot`, the one that the frames were found with.
  void AddCpuSample(const RingSample& sample, const std::uint64_t* frames,
                    const CodeSnapshot& snapshot, const CodeSnapshot& current);
  void AddWaitSample(const WaitSample& sample, const CodeSnapshot& snapshot);

  // All samples since the last call, with modules, locations, names and times. What it does not
  // know (sampler, period) is left to the caller.
  ProfileChunk Take(FunctionNames& names);
  std::uint64_t taken() const;

  void BeforeFork() HOTSPAN_THREAD_ANNOTATION(no_thread_safety_analysis) { mutex_.Lock(); }
  void AfterForkInParent() HOTSPAN_THREAD_ANNOTATION(no_thread_safety_analysis) { mutex_.Unlock(); }
  void AfterForkInChild() HOTSPAN_THREAD_ANNOTATION(no_thread_safety_analysis);

 private:
  struct LocationKey {
    const LoadedModule* module;  // null: an address, or a pseudo-frame
    std::uint64_t offset;
    bool operator==(const LocationKey&) const = default;
  };
  struct LocationHash {
    std::size_t operator()(const LocationKey& key) const;
  };
  struct Pending {
    ProfileChunk chunk;
    std::vector<std::shared_ptr<const LoadedModule>> modules;  // of chunk.modules
    std::unordered_map<LocationKey, std::uint32_t, LocationHash> locations;
    std::unordered_map<std::string, std::uint32_t> pseudo_frames;
    std::unordered_multimap<std::uint64_t, std::uint32_t> stacks;  // by hash
  };

  std::uint32_t AddModule(const std::shared_ptr<const LoadedModule>& module) REQUIRES(mutex_);
  std::uint32_t AddCode(std::uint64_t pc, const CodeSnapshot& snapshot, const CodeSnapshot& current)
      REQUIRES(mutex_);
  std::uint32_t AddPseudoFrame(std::string_view text) REQUIRES(mutex_);
  std::uint32_t AddStack(std::vector<std::uint32_t> locations) REQUIRES(mutex_);
  bool HasRoom() REQUIRES(mutex_);
  static void Name(Pending& pending, FunctionNames& names);
  static void TellFutexesApart(Pending& pending);

  mutable Mutex mutex_;
  Pending pending_ GUARDED_BY(mutex_);
  std::int64_t clock_offset_ns_ GUARDED_BY(mutex_) = 0;
  std::uint64_t taken_ GUARDED_BY(mutex_) = 0;
};

}  // namespace hotspan::agent
