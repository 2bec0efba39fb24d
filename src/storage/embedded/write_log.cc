#include "storage/embedded/write_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/bytes.h"
#include "base/hash.h"

namespace hotspan::storage::embedded {
namespace {

constexpr std::string_view kMagic = "HSLOG001";
constexpr std::string_view kSuffix = ".hslog";
constexpr std::size_t kFrameBytes = sizeof(std::uint32_t) + sizeof(std::uint64_t);

}  // namespace

Status FromRocks(const rocksdb::Status& status, std::string_view context) {
  if (status.ok()) return {};
  Code code = Code::kUnavailable;
  if (status.IsCorruption()) code = Code::kDataLoss;
  if (status.IsNotFound()) code = Code::kNotFound;
  return Fail(Error(code, status.ToString()).Within(context));
}

std::string WriteLog::PathOf(std::uint64_t segment) const {
  return fmt::format("{}/{:012}{}", folder_, segment, kSuffix);
}

Result<std::unique_ptr<WriteLog>> WriteLog::Open(rocksdb::Env* env, std::string folder) {
  TRY(FromRocks(env->CreateDirIfMissing(folder), "log folder"));
  std::unique_ptr<WriteLog> log(new WriteLog(env, std::move(folder)));
  TRY_ASSIGN(const auto segments, log->Segments());
  if (!segments.empty()) log->next_segment_ = segments.back() + 1;
  return log;
}

Result<std::vector<std::uint64_t>> WriteLog::Segments() const {
  std::vector<std::string> names;
  TRY(FromRocks(env_->GetChildren(folder_, &names), "log folder"));
  std::vector<std::uint64_t> segments;
  for (const std::string& name : names) {
    if (!name.ends_with(kSuffix)) continue;
    std::uint64_t number = 0;
    const auto parsed =
        std::from_chars(name.data(), name.data() + name.size() - kSuffix.size(), number);
    if (parsed.ec == std::errc()) segments.push_back(number);
  }
  std::ranges::sort(segments);
  return segments;
}

Result<WriteLog::Replayed> WriteLog::Replay(std::uint64_t first,
                                            const std::function<Status(std::string_view)>& sink) {
  // Segments before `first` may all be gone: their numbers must not come again.
  next_segment_ = std::max(next_segment_, first);
  Replayed all;
  TRY_ASSIGN(const auto segments, Segments());
  for (const std::uint64_t segment : segments) {
    if (segment < first) continue;
    TRY_ASSIGN(const Replayed one, ReplaySegment(segment, sink));
    all.records += one.records;
    all.torn_bytes += one.torn_bytes;
  }
  return all;
}

Result<WriteLog::Replayed> WriteLog::ReplaySegment(
    std::uint64_t segment, const std::function<Status(std::string_view)>& sink) {
  std::string content;
  TRY(FromRocks(rocksdb::ReadFileToString(env_, PathOf(segment), &content), "log segment"));
  Replayed replayed;
  if (!std::string_view(content).starts_with(kMagic)) {
    replayed.torn_bytes = content.size();
    return replayed;
  }
  ByteReader reader(std::string_view(content).substr(kMagic.size()));
  while (!reader.AtEnd()) {
    const std::size_t left = reader.remaining();
    const auto size = reader.Raw<std::uint32_t>();
    const auto checksum = reader.Raw<std::uint64_t>();
    const std::string_view payload = reader.Bytes(size);
    if (reader.failed() || HashOf(payload) != checksum) {
      replayed.torn_bytes += left;
      break;
    }
    TRY(sink(payload));
    ++replayed.records;
  }
  return replayed;
}

void WriteLog::AppendRecord(std::string& out, std::string_view payload) {
  AppendRaw(out, static_cast<std::uint32_t>(payload.size()));
  AppendRaw(out, HashOf(payload));
  out.append(payload);
}

Status WriteLog::Append(std::string_view records) {
  const auto fail = [&](const rocksdb::Status& status) -> Status {
    // What lies on disk now is not known: never append behind it.
    file_.reset();
    return FromRocks(status, "log");
  };
  if (!file_) {
    rocksdb::EnvOptions options;
    options.use_mmap_writes = false;
    auto status = env_->NewWritableFile(PathOf(next_segment_), &file_, options);
    ++next_segment_;
    if (!status.ok()) return fail(status);
    bytes_ = 0;
    status = file_->Append(rocksdb::Slice(kMagic.data(), kMagic.size()));
    if (!status.ok()) return fail(status);
    // The name must survive a loss of power too.
    std::unique_ptr<rocksdb::Directory> directory;
    status = env_->NewDirectory(folder_, &directory);
    if (status.ok()) status = directory->Fsync();
    if (!status.ok()) return fail(status);
  }
  auto status = file_->Append(rocksdb::Slice(records.data(), records.size()));
  if (status.ok()) status = file_->Flush();
  if (status.ok()) status = file_->Sync();
  if (!status.ok()) return fail(status);
  bytes_ += records.size();
  return {};
}

Result<std::uint64_t> WriteLog::Rotate() {
  if (file_) {
    // Everything in it is synced; what closing says changes nothing about that.
    file_->Close().PermitUncheckedError();
    file_.reset();
  }
  return next_segment_;
}

Status WriteLog::DeleteBefore(std::uint64_t segment) {
  TRY_ASSIGN(const auto segments, Segments());
  for (const std::uint64_t old : segments) {
    if (old < segment) TRY(FromRocks(env_->DeleteFile(PathOf(old)), "log segment"));
  }
  return {};
}

static_assert(kFrameBytes == 12, "as documented");

}  // namespace hotspan::storage::embedded
