// The executables and libraries that are loaded, and the unwind table compiled from them.
//
// Threads: all methods may be called from any thread; the published table is read by signal
// handlers.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "agent/cfi_compiler.h"
#include "agent/unwind/cfi_table.h"
#include "base/mutex.h"

namespace hotspan::agent {

struct CodeSegment {
  std::uint64_t start = 0;
  std::uint64_t limit = 0;
  std::uint64_t file_offset = 0;
};

// Immutable once made, and shared by the snapshots it is in.
struct LoadedModule {
  std::string path;
  std::string build_id;  // hex, or empty
  std::uint64_t bias = 0;
  std::vector<CodeSegment> code;    // executable, by address
  std::vector<std::uint8_t> image;  // of a module that has no file
  CompiledCfi cfi;

  // Where in the file the byte of an address lies; false if it is not this module's code.
  bool FileOffset(std::uint64_t pc, std::uint64_t* offset) const;
};

struct CodeSnapshot {
  CfiTable table;
  std::vector<CfiModule> views;
  std::vector<std::shared_ptr<const LoadedModule>> modules;  // by address

  // Null where no module has code.
  const std::shared_ptr<const LoadedModule>* Find(std::uint64_t pc) const;
};

class ModuleMap {
 public:
  ModuleMap() = default;
  // No handler may run any more.
  ~ModuleMap();
  ModuleMap(const ModuleMap&) = delete;
  ModuleMap& operator=(const ModuleMap&) = delete;

  // Makes and publishes a new snapshot if modules came or went. Also frees replaced snapshots that
  // no handler uses any more; to be called after rings were drained.
  void Refresh();
  void BeforeFork() HOTSPAN_THREAD_ANNOTATION(no_thread_safety_analysis) { mutex_.Lock(); }
  void AfterForkInParent() HOTSPAN_THREAD_ANNOTATION(no_thread_safety_analysis) { mutex_.Unlock(); }
  // There no other thread's handler runs. The modules stay as they were at the fork: another thread
  // may have held the loader's lock then, which nobody gives back in the child.
  void AfterForkInChild() HOTSPAN_THREAD_ANNOTATION(no_thread_safety_analysis);

  std::shared_ptr<const CodeSnapshot> Current() const;
  // The one of that number, or the current one if that is gone already.
  std::shared_ptr<const CodeSnapshot> Get(std::uint64_t id) const;
  std::size_t retired_count() const;

 private:
  struct Retired {
    std::shared_ptr<const CodeSnapshot> snapshot;
    std::vector<std::pair<std::size_t, std::uint64_t>> busy;  // slot, handler count
    int refreshes = 0;
  };

  void Publish(std::shared_ptr<CodeSnapshot> next) REQUIRES(mutex_);
  void FreeRetired() REQUIRES(mutex_);

  mutable Mutex mutex_;
  bool is_forked_ GUARDED_BY(mutex_) = false;  // in a child; never asks the loader again
  std::shared_ptr<const CodeSnapshot> current_ GUARDED_BY(mutex_);
  std::vector<Retired> retired_ GUARDED_BY(mutex_);
  std::uint64_t adds_ GUARDED_BY(mutex_) = 0;
  std::uint64_t subs_ GUARDED_BY(mutex_) = 0;
  std::uint64_t next_id_ GUARDED_BY(mutex_) = 1;
};

}  // namespace hotspan::agent
