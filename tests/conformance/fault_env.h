// An environment below RocksDB and the log that fails on purpose: at the Nth operation, for want of
// space, or by forgetting everything not synced.
//
// Threads: all methods from any thread.
#pragma once

#include <rocksdb/env.h>

#include <atomic>
#include <map>
#include <string>

#include "base/mutex.h"

namespace hotspan::conformance {

class FaultEnv final : public rocksdb::EnvWrapper {
 public:
  FaultEnv() : rocksdb::EnvWrapper(rocksdb::Env::Default()) {}

  // The Nth changing operation from now on fails, and all after it until Heal.
  void FailFrom(std::uint64_t operation) {
    operations_ = 0;
    fail_from_ = operation;
  }
  void Heal() { fail_from_ = UINT64_MAX; }
  std::uint64_t operations() const { return operations_; }

  // Cuts every file back to what was synced, as a loss of power does. `torn`: leaves a part of the
  // unsynced bytes; `rubbish`: writes noise there. Call with nothing open.
  void LoseUnsynced(bool torn, bool rubbish);

  rocksdb::Status NewWritableFile(const std::string& name,
                                  std::unique_ptr<rocksdb::WritableFile>* file,
                                  const rocksdb::EnvOptions& options) override;
  rocksdb::Status RenameFile(const std::string& from, const std::string& to) override;
  rocksdb::Status LinkFile(const std::string& from, const std::string& to) override;
  rocksdb::Status DeleteFile(const std::string& name) override;

  // For the files: whether this operation fails.
  bool Fails();
  void Wrote(const std::string& name, std::uint64_t size);
  void Synced(const std::string& name);

 private:
  struct FileState {
    std::uint64_t size = 0;
    std::uint64_t synced = 0;
  };
  std::atomic<std::uint64_t> operations_{0};
  std::atomic<std::uint64_t> fail_from_{UINT64_MAX};
  Mutex mutex_;
  std::map<std::string, FileState> files_ GUARDED_BY(mutex_);
};

}  // namespace hotspan::conformance
