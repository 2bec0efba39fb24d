// The parts of the embedded engine that its source files share.
//
// A write is framed, joins a group, is synced with it and becomes part of the head; a background
// thread cuts the head into blocks. A reader takes a view: the growing head's matching entries, the
// head being cut, and the number of the last finished cut, so that each row is seen exactly once.
//
// Threads: all public methods from any thread. Owns: the database, the log, the cutting thread.
#pragma once

#include <rocksdb/db.h>

#include <atomic>
#include <deque>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "base/mutex.h"
#include "storage/embedded/cutter.h"
#include "storage/embedded/embedded_engine.h"
#include "storage/embedded/head.h"
#include "storage/embedded/page_cache.h"
#include "storage/embedded/stack_store.h"
#include "storage/embedded/write_log.h"

namespace hotspan::storage::embedded {

// First slices that retention has left, by signal. Read by compaction without a lock.
struct RetentionFloor {
  std::atomic<std::int64_t> traces{INT64_MIN};
  std::atomic<std::int64_t> profiles{INT64_MIN};
};

class EmbeddedEngine final : public Engine {
 public:
  explicit EmbeddedEngine(EmbeddedOptions options);
  ~EmbeddedEngine() override;
  Status Open();

  Result<WriteOutcome> Write(WriteBatch batch) override;
  Result<SpanScanResult> ReadTrace(TenantId tenant, const TraceId& id,
                                   const Budget& budget) override;
  Result<SpanScanResult> ScanSpans(const SpanScan& scan) override;
  Result<SpanSamples> ReadSamples(const SamplesBySpans& request) override;
  Result<MergedSamples> MergeSamples(const SampleMerge& request) override;
  Result<FrameTable> ReadStacks(std::span<const StackNumber> stacks) override;
  Result<Catalog> ReadCatalog(const CatalogRequest& request) override;
  Result<TagsResult> ReadTags(const TagsRequest& request) override;
  Status ApplyRetention(const RetentionPolicy& policy, TimeNs now) override;
  Status Flush() override;
  EngineStats Stats() const override;

 private:
  friend class SpanScanner;
  friend class SampleMerger;
  friend class SpanSampleReader;

  // What a reader works on: consistent, and alive as long as it is held.
  struct View {
    std::vector<std::shared_ptr<const HeadEntry>> entries;  // of both heads, oldest first
    std::uint64_t cuts = 0;                                 // finished cuts
  };

  // A write waiting for its group's sync.
  struct Pending {
    std::string record;
    std::shared_ptr<const HeadEntry> entry;
    bool done = false;
    bool duplicate = false;
    Status status;
  };

  // -- opening
  Status OpenDatabase();
  Status CheckFormat();
  Status LoadState();
  Status ReplayLog();

  // -- writing
  bool IsDuplicate(const Hash128& id, std::int64_t now) REQUIRES(mutex_);
  void RememberBatch(const Hash128& id, std::int64_t now) REQUIRES(mutex_);
  void LeadGroup() REQUIRES(mutex_);
  Status WaitForRoom() REQUIRES(mutex_);

  // -- cutting
  void CutLoop();
  Status CutOnce() EXCLUDES(mutex_);
  Status Ingest(CutRows& rows, std::uint64_t cut, std::uint64_t log_segment,
                const StackGeneration& stacks) EXCLUDES(mutex_);
  Result<std::string> WriteTable(Family family, CutRows& rows, std::uint64_t cut);

  // -- reading
  View TakeView(TenantId tenant) const EXCLUDES(mutex_);
  rocksdb::ColumnFamilyHandle* Of(Family family) const {
    return handles_[static_cast<std::size_t>(family)];
  }
  // Value of a key, pinned; kNotFound where it is not there.
  Status Get(Family family, const std::string& key, rocksdb::PinnableSlice& value) const;
  void CountDamage(const Error& error, std::string_view what) const;
  Status ReadTraceFromHeads(TenantId tenant, const TraceId& id, SpanBatch& out,
                            std::uint64_t& cuts) const EXCLUDES(mutex_);
  Status AppendTraceRun(TenantId tenant, const TraceRun& run, std::uint64_t cut,
                        SpanScanResult& out) const;
  Result<bool> FindStack(std::uint32_t stack, std::vector<std::uint32_t>& locations) const;
  Status FindLocation(std::uint32_t location, std::vector<Frame>& frames) const;
  std::string TypeName(std::uint32_t number) const EXCLUDES(mutex_);

  const EmbeddedOptions options_;
  rocksdb::Env* env_;
  RetentionFloor floor_;
  std::unique_ptr<rocksdb::DB> db_;
  std::vector<rocksdb::ColumnFamilyHandle*> handles_;
  std::unique_ptr<WriteLog> log_;
  std::unique_ptr<StackInterner> interner_;
  mutable PageCache pages_;

  mutable Mutex mutex_;
  CondVar group_done_, cut_wanted_, cut_done_;
  std::shared_ptr<Head> head_ GUARDED_BY(mutex_);
  std::shared_ptr<const Head> cutting_ GUARDED_BY(mutex_);
  std::deque<Pending*> group_ GUARDED_BY(mutex_);
  bool leading_ GUARDED_BY(mutex_) = false;
  bool freezing_ GUARDED_BY(mutex_) = false;
  std::size_t interning_ GUARDED_BY(mutex_) = 0;  // writers between numbering stacks and the head
  bool stopping_ GUARDED_BY(mutex_) = false;
  bool flush_wanted_ GUARDED_BY(mutex_) = false;
  std::uint64_t cuts_ GUARDED_BY(mutex_) = 0;
  std::uint64_t cut_attempts_ GUARDED_BY(mutex_) = 0;
  Status last_cut_ GUARDED_BY(mutex_);
  TypeNumbers types_ GUARDED_BY(mutex_);
  std::unordered_map<Hash128, std::int64_t, Hash128Hasher> batch_ids_ GUARDED_BY(mutex_);
  std::deque<std::pair<Hash128, std::int64_t>> batch_order_ GUARDED_BY(mutex_);
  std::set<TenantId> tenants_ GUARDED_BY(mutex_);
  EngineStats stats_ GUARDED_BY(mutex_);
  mutable std::atomic<std::uint64_t> damaged_blocks_{0};

  // Of the head being cut; the cutting thread's own.
  std::uint64_t cutting_segment_ = 0;
  std::shared_ptr<const StackGeneration> cutting_stacks_;
  std::thread cutter_;
};

}  // namespace hotspan::storage::embedded
