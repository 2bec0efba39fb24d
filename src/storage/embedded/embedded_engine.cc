#include "storage/embedded/embedded_engine.h"

#include <fmt/format.h>
#include <rocksdb/cache.h>
#include <rocksdb/compaction_filter.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/slice_transform.h>
#include <rocksdb/table.h>

#include <algorithm>

#include "base/log.h"
#include "storage/embedded/batch_codec.h"
#include "storage/embedded/engine_impl.h"
#include "storage/source.h"

namespace hotspan::storage::embedded {
namespace {

// The newest layout of a data folder that this program reads and writes.
constexpr int kFormat = 1;
constexpr std::string_view kFormatFile = "FORMAT";

// Drops rows whose newest slice retention has passed. Such values begin with that slice.
class SliceFilter final : public rocksdb::CompactionFilter {
 public:
  explicit SliceFilter(const std::atomic<std::int64_t>& first_kept) : first_kept_(first_kept) {}
  bool Filter(int, const rocksdb::Slice&, const rocksdb::Slice& value, std::string*,
              bool*) const override {
    return value.size() >= 8 && LoadRaw<std::int64_t>(value.data()) < first_kept_.load();
  }
  const char* Name() const override { return "hotspan.SliceFilter"; }

 private:
  const std::atomic<std::int64_t>& first_kept_;
};

class SliceFilterFactory final : public rocksdb::CompactionFilterFactory {
 public:
  explicit SliceFilterFactory(const std::atomic<std::int64_t>& first_kept)
      : first_kept_(first_kept) {}
  std::unique_ptr<rocksdb::CompactionFilter> CreateCompactionFilter(
      const rocksdb::CompactionFilter::Context&) override {
    return std::make_unique<SliceFilter>(first_kept_);
  }
  const char* Name() const override { return "hotspan.SliceFilter"; }

 private:
  const std::atomic<std::int64_t>& first_kept_;
};

rocksdb::ColumnFamilyOptions FamilyOptions(Family family,
                                           const std::shared_ptr<rocksdb::Cache>& cache,
                                           const RetentionFloor& floor) {
  rocksdb::ColumnFamilyOptions options;
  rocksdb::BlockBasedTableOptions table;
  table.block_cache = cache;
  table.cache_index_and_filter_blocks = true;
  table.format_version = 5;
  options.compression = rocksdb::kLZ4Compression;
  options.write_buffer_size = 1u << 20;  // blocks come as table files, not through memtables
  options.level0_file_num_compaction_trigger = 8;
  // Cuts are taken in whole: never slow down or stop for the number of files.
  options.level0_slowdown_writes_trigger = 1000;
  options.level0_stop_writes_trigger = 2000;
  if (family == Family::kTraces || family == Family::kLinks) {
    const std::size_t prefix = family == Family::kTraces ? 4 + 16 : 4 + 8;
    options.prefix_extractor.reset(rocksdb::NewFixedPrefixTransform(prefix));
    table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
    table.whole_key_filtering = false;
    options.compaction_filter_factory = std::make_shared<SliceFilterFactory>(
        family == Family::kTraces ? floor.traces : floor.profiles);
  }
  if (family == Family::kLinks || family == Family::kStacks || family == Family::kLocations) {
    table.block_size = 8u << 10;
  }
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  return options;
}

Error OpenError(const rocksdb::Status& status, const std::string& folder) {
  const std::string text = status.ToString();
  if (text.find("lock") != std::string::npos) {
    return Error(Code::kFailedPrecondition,
                 fmt::format("data folder {} is in use by another process: stop that one or choose "
                             "another folder with --data-dir",
                             folder));
  }
  return Error(Code::kUnavailable, fmt::format("can't open data folder {}: {}", folder, text));
}

}  // namespace

EmbeddedEngine::EmbeddedEngine(EmbeddedOptions options)
    : options_(std::move(options)),
      env_(options_.env != nullptr ? options_.env : rocksdb::Env::Default()),
      head_(std::make_shared<Head>()) {}

EmbeddedEngine::~EmbeddedEngine() {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
    cut_wanted_.NotifyAll();
  }
  if (cutter_.joinable()) cutter_.join();
  for (auto* handle : handles_) db_->DestroyColumnFamilyHandle(handle).PermitUncheckedError();
  if (db_) db_->Close().PermitUncheckedError();
}

Status EmbeddedEngine::Open() {
  const auto made = env_->CreateDirIfMissing(options_.folder);
  if (!made.ok()) {
    return Fail(Code::kUnavailable,
                fmt::format("can't make data folder {}: {}", options_.folder, made.ToString()));
  }
  TRY(CheckFormat());
  TRY(OpenDatabase());
  TRY(LoadState());
  TRY_ASSIGN(log_, WriteLog::Open(env_, options_.folder + "/log"));
  TRY(ReplayLog());
  cutter_ = std::thread([this] { CutLoop(); });
  return {};
}

Status EmbeddedEngine::CheckFormat() {
  const std::string path = fmt::format("{}/{}", options_.folder, kFormatFile);
  std::string text;
  const bool there = env_->FileExists(path).ok();
  const auto read = there ? rocksdb::ReadFileToString(env_, path, &text) : rocksdb::Status::OK();
  if (read.ok() && text.empty()) {
    const auto written = rocksdb::WriteStringToFile(
        env_, rocksdb::Slice(fmt::format("hotspan {}\n", kFormat)), path, /*should_sync=*/true);
    if (!written.ok()) {
      return Fail(Code::kUnavailable,
                  fmt::format("can't write data folder {}: {}; give a folder this user may write "
                              "with --data-dir",
                              options_.folder, written.ToString()));
    }
    return {};
  }
  TRY(FromRocks(read, fmt::format("data folder {}", options_.folder)));
  int format = 0;
  if (std::sscanf(text.c_str(), "hotspan %d", &format) != 1) {
    return Fail(Code::kFailedPrecondition,
                fmt::format("{} is no data folder of hotspan: its {} file says something else",
                            options_.folder, kFormatFile));
  }
  if (format > kFormat) {
    return Fail(
        Code::kFailedPrecondition,
        fmt::format("data folder {} has format {}, this version reads up to {}: use a newer "
                    "hotspan or another folder",
                    options_.folder, format, kFormat));
  }
  return {};
}

Status EmbeddedEngine::OpenDatabase() {
  rocksdb::DBOptions options;
  options.env = env_;
  options.create_if_missing = true;
  options.create_missing_column_families = true;
  options.max_background_jobs = 2;
  options.max_open_files = 256;
  options.keep_log_file_num = 2;
  options.info_log_level = rocksdb::InfoLogLevel::ERROR_LEVEL;
  options.stats_dump_period_sec = 0;
  const auto cache = rocksdb::NewLRUCache(options_.block_cache_bytes);
  std::vector<rocksdb::ColumnFamilyDescriptor> families;
  for (std::size_t i = 0; i < kFamilies; ++i) {
    families.emplace_back(kFamilyNames[i], FamilyOptions(Family{i}, cache, floor_));
  }
  rocksdb::DB* db = nullptr;
  const auto status =
      rocksdb::DB::Open(options, options_.folder + "/blocks", families, &handles_, &db);
  if (!status.ok()) return Fail(OpenError(status, options_.folder));
  db_.reset(db);
  return {};
}

Status EmbeddedEngine::ReplayLog() {
  const std::int64_t now = options_.clock->NowNs();
  TRY_ASSIGN(const std::uint64_t first, [&]() -> Result<std::uint64_t> {
    std::string text;
    const auto status = db_->Get({}, Of(Family::kMeta), "log_segment", &text);
    if (status.IsNotFound()) return std::uint64_t{0};
    TRY(FromRocks(status, "metadata"));
    return ByteReader(text).Raw<std::uint64_t>();
  }());
  const auto take = [&](std::string_view payload) -> Status {
    Result<WriteBatch> batch = ReadBatch(payload);
    if (!batch) {
      CountDamage(batch.error(), "log record");
      return {};
    }
    std::vector<std::uint32_t> stacks;
    if (batch->samples) stacks = interner_->Intern(*batch->samples);
    MutexLock lock(mutex_);
    tenants_.insert(batch->tenant);
    if (!batch->batch_id.IsZero() && now - batch->received.ns < limits::kBatchIdsKeptNs) {
      RememberBatch(batch->batch_id, batch->received.ns);
    }
    head_->Add(std::make_shared<const HeadEntry>(std::move(*batch), std::move(stacks)));
    return {};
  };
  TRY_ASSIGN(const auto replayed, log_->Replay(first, take));
  if (replayed.torn_bytes > 0) {
    LogWarning("log ended in a torn record that was never acknowledged",
               {{"bytes", std::to_string(replayed.torn_bytes)}});
  }
  return log_->DeleteBefore(first);
}

EngineStats EmbeddedEngine::Stats() const {
  EngineStats stats;
  {
    MutexLock lock(mutex_);
    stats = stats_;
    stats.head_bytes = head_->bytes() + (cutting_ ? cutting_->bytes() : 0);
    stats.log_bytes = log_->bytes();
    stats.cuts = cuts_;
  }
  stats.stacks = interner_->next_stack();
  stats.damaged_blocks = damaged_blocks_.load();
  for (auto* handle : handles_) {
    std::uint64_t bytes = 0;
    if (db_->GetIntProperty(handle, rocksdb::DB::Properties::kTotalSstFilesSize, &bytes)) {
      stats.disk_bytes += bytes;
    }
  }
  return stats;
}

void EmbeddedEngine::CountDamage(const Error& error, std::string_view what) const {
  damaged_blocks_.fetch_add(1);
  LogError("damaged data skipped", {{"what", std::string(what)}, {"error", error.message()}});
}

}  // namespace hotspan::storage::embedded

namespace hotspan::storage {

Result<std::unique_ptr<Engine>> OpenEmbeddedEngine(const EmbeddedOptions& options) {
  auto engine = std::make_unique<embedded::EmbeddedEngine>(options);
  TRY(engine->Open());
  return engine;
}

}  // namespace hotspan::storage
