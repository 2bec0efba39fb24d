#include "tests/conformance/fault_env.h"

#include <filesystem>
#include <fstream>

namespace hotspan::conformance {
namespace {

rocksdb::Status Injected() { return rocksdb::Status::IOError("injected fault"); }

class FaultFile final : public rocksdb::WritableFileWrapper {
 public:
  FaultFile(std::unique_ptr<rocksdb::WritableFile> file, std::string name, FaultEnv& env)
      : rocksdb::WritableFileWrapper(file.get()),
        file_(std::move(file)),
        name_(std::move(name)),
        env_(env) {}

  rocksdb::Status Append(const rocksdb::Slice& data) override {
    if (env_.Fails()) return Injected();
    const auto status = file_->Append(data);
    if (status.ok()) env_.Wrote(name_, size_ += data.size());
    return status;
  }
  rocksdb::Status Append(const rocksdb::Slice& data,
                         const rocksdb::DataVerificationInfo&) override {
    return Append(data);
  }
  rocksdb::Status Sync() override {
    if (env_.Fails()) return Injected();
    const auto status = file_->Sync();
    if (status.ok()) env_.Synced(name_);
    return status;
  }
  rocksdb::Status Fsync() override { return Sync(); }
  rocksdb::Status Close() override { return file_->Close(); }

 private:
  std::unique_ptr<rocksdb::WritableFile> file_;
  std::string name_;
  FaultEnv& env_;
  std::uint64_t size_ = 0;
};

}  // namespace

bool FaultEnv::Fails() { return ++operations_ >= fail_from_; }

void FaultEnv::Wrote(const std::string& name, std::uint64_t size) {
  MutexLock lock(mutex_);
  files_[name].size = size;
}

void FaultEnv::Synced(const std::string& name) {
  MutexLock lock(mutex_);
  files_[name].synced = files_[name].size;
}

rocksdb::Status FaultEnv::NewWritableFile(const std::string& name,
                                          std::unique_ptr<rocksdb::WritableFile>* file,
                                          const rocksdb::EnvOptions& options) {
  if (Fails()) return Injected();
  rocksdb::EnvOptions plain = options;
  plain.use_mmap_writes = false;
  std::unique_ptr<rocksdb::WritableFile> base;
  auto status = rocksdb::EnvWrapper::NewWritableFile(name, &base, plain);
  if (!status.ok()) return status;
  {
    MutexLock lock(mutex_);
    files_[name] = {};
  }
  *file = std::make_unique<FaultFile>(std::move(base), name, *this);
  return status;
}

rocksdb::Status FaultEnv::RenameFile(const std::string& from, const std::string& to) {
  if (Fails()) return Injected();
  auto status = rocksdb::EnvWrapper::RenameFile(from, to);
  MutexLock lock(mutex_);
  const auto known = files_.find(from);
  if (status.ok() && known != files_.end()) {
    files_[to] = known->second;
    files_.erase(known);
  }
  return status;
}

rocksdb::Status FaultEnv::LinkFile(const std::string& from, const std::string& to) {
  if (Fails()) return Injected();
  auto status = rocksdb::EnvWrapper::LinkFile(from, to);
  MutexLock lock(mutex_);
  const auto known = files_.find(from);
  if (status.ok() && known != files_.end()) files_[to] = known->second;
  return status;
}

rocksdb::Status FaultEnv::DeleteFile(const std::string& name) {
  if (Fails()) return Injected();
  MutexLock lock(mutex_);
  files_.erase(name);
  return rocksdb::EnvWrapper::DeleteFile(name);
}

void FaultEnv::LoseUnsynced(bool torn, bool rubbish) {
  MutexLock lock(mutex_);
  for (auto& [name, state] : files_) {
    if (state.synced >= state.size || !std::filesystem::exists(name)) continue;
    const std::uint64_t kept = torn ? state.synced + (state.size - state.synced) / 2 : state.synced;
    std::filesystem::resize_file(name, kept);
    if (rubbish && kept > state.synced) {
      std::fstream file(name, std::ios::in | std::ios::out | std::ios::binary);
      file.seekp(static_cast<std::streamoff>(state.synced));
      for (std::uint64_t i = state.synced; i < kept; ++i) file.put(static_cast<char>(i * 37));
    }
    state.size = state.synced = kept;
  }
}

}  // namespace hotspan::conformance
