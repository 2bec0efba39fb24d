// Writing: group commit into the log, then the head; and cutting the head into blocks.
#include <fmt/format.h>
#include <rocksdb/sst_file_writer.h>

#include <algorithm>

#include "base/log.h"
#include "storage/embedded/batch_codec.h"
#include "storage/embedded/engine_impl.h"
#include "storage/source.h"

namespace hotspan::storage::embedded {
namespace {

// A failed cut is tried again after this long; meanwhile data stays in the log and in memory.
constexpr std::chrono::seconds kCutRetry{1};
// Data that comes slowly is cut at least this often, so that the log stays short.
constexpr std::chrono::seconds kCutEvery{60};

}  // namespace

bool EmbeddedEngine::IsDuplicate(const Hash128& id, std::int64_t now) {
  if (id.IsZero()) return false;
  const auto known = batch_ids_.find(id);
  return known != batch_ids_.end() && now - known->second < limits::kBatchIdsKeptNs;
}

void EmbeddedEngine::RememberBatch(const Hash128& id, std::int64_t now) {
  if (id.IsZero()) return;
  batch_ids_[id] = now;
  batch_order_.emplace_back(id, now);
  while (batch_order_.size() > limits::kBatchIdsMax ||
         now - batch_order_.front().second >= limits::kBatchIdsKeptNs) {
    const auto& [old_id, at] = batch_order_.front();
    const auto known = batch_ids_.find(old_id);
    if (known != batch_ids_.end() && known->second == at) batch_ids_.erase(known);
    batch_order_.pop_front();
    if (batch_order_.empty()) break;
  }
}

Status EmbeddedEngine::WaitForRoom() {
  // Backpressure: when cutting can't keep up, senders wait for one attempt and then get a retryable
  // error instead of a server without memory.
  if (head_->bytes() + interner_->bytes() < options_.head_bytes_max) return {};
  const std::uint64_t attempts = cut_attempts_;
  cut_wanted_.NotifyAll();
  while (cut_attempts_ < attempts + 2 && !stopping_ &&
         head_->bytes() + interner_->bytes() >= options_.head_bytes_max) {
    cut_done_.Wait(mutex_);
  }
  if (head_->bytes() + interner_->bytes() < options_.head_bytes_max) return {};
  ++stats_.write_errors;
  return Fail(
      Code::kUnavailable,
      fmt::format("{} bytes wait to be stored, limit {}: {}", head_->bytes(),
                  options_.head_bytes_max, last_cut_ ? "try again" : last_cut_.error().message()));
}

Result<WriteOutcome> EmbeddedEngine::Write(WriteBatch batch) {
  {
    MutexLock lock(mutex_);
    if (IsDuplicate(batch.batch_id, options_.clock->NowNs())) {
      ++stats_.duplicate_batches;
      return WriteOutcome{.duplicate = true};
    }
    TRY(WaitForRoom());
  }
  Pending pending;
  {
    std::string payload;
    AppendBatch(payload, batch);
    if (payload.size() > UINT32_MAX) {
      return Fail(Code::kInvalidArgument, "batch of more than 4 GiB");
    }
    WriteLog::AppendRecord(pending.record, payload);
  }
  std::vector<std::uint32_t> stacks;
  {
    // A batch's stacks and its place in the head must fall on the same side of a freeze.
    MutexLock lock(mutex_);
    while (freezing_) group_done_.Wait(mutex_);
    ++interning_;
  }
  if (batch.samples) stacks = interner_->Intern(*batch.samples);
  pending.entry = std::make_shared<const HeadEntry>(std::move(batch), std::move(stacks));

  MutexLock lock(mutex_);
  group_.push_back(&pending);
  while (!pending.done) {
    if (!leading_) {
      LeadGroup();
    } else {
      group_done_.Wait(mutex_);
    }
  }
  --interning_;
  group_done_.NotifyAll();
  if (!pending.status) return Fail(pending.status.error());
  return WriteOutcome{.duplicate = pending.duplicate};
}

void EmbeddedEngine::LeadGroup() {
  leading_ = true;
  std::deque<Pending*> group;
  group.swap(group_);
  // Two copies of one request may be under way at once: the later is a retry.
  const std::int64_t now = options_.clock->NowNs();
  std::string records;
  std::vector<Hash128> fresh;
  for (Pending* pending : group) {
    const Hash128& id = pending->entry->batch().batch_id;
    pending->duplicate =
        IsDuplicate(id, now) || (!id.IsZero() && std::ranges::count(fresh, id) > 0);
    if (pending->duplicate) continue;
    if (!id.IsZero()) fresh.push_back(id);
    records += pending->record;
  }
  mutex_.Unlock();
  const Status written = records.empty() ? Status() : log_->Append(records);
  mutex_.Lock();
  if (!records.empty()) ++stats_.syncs;
  for (Pending* pending : group) {
    pending->status = written;
    if (written && !pending->duplicate) {
      const WriteBatch& batch = pending->entry->batch();
      RememberBatch(batch.batch_id, now);
      tenants_.insert(batch.tenant);
      ++stats_.batches_written;
      stats_.spans_written += batch.spans ? batch.spans->spans.size() : 0;
      stats_.samples_written += batch.samples ? batch.samples->samples.size() : 0;
      head_->Add(std::move(pending->entry));
    }
    if (written && pending->duplicate) ++stats_.duplicate_batches;
    if (!written) ++stats_.write_errors;
    pending->done = true;
  }
  leading_ = false;
  if (head_->bytes() >= options_.head_bytes_cut) cut_wanted_.NotifyAll();
  group_done_.NotifyAll();
}

void EmbeddedEngine::CutLoop() {
  while (true) {
    {
      MutexLock lock(mutex_);
      const bool retry = cutting_ != nullptr;
      if (!stopping_ && !flush_wanted_ && (retry || head_->bytes() < options_.head_bytes_cut)) {
        if (retry) {
          cut_wanted_.WaitFor(mutex_, kCutRetry);
        } else {
          cut_wanted_.WaitFor(mutex_, kCutEvery);
        }
      }
      if (stopping_) return;
      flush_wanted_ = false;
    }
    const Status status = CutOnce();
    if (!status) {
      LogError("can't store blocks, will try again", {{"error", status.error().message()}});
    }
    MutexLock lock(mutex_);
    last_cut_ = status;
    ++cut_attempts_;
    cut_done_.NotifyAll();
  }
}

Status EmbeddedEngine::CutOnce() {
  std::shared_ptr<const Head> head;
  std::uint64_t cut = 0;
  TypeNumbers types;
  {
    MutexLock lock(mutex_);
    if (!cutting_) {
      if (head_->empty()) return {};
      // Writers that hold stack numbers of this generation must be in this head.
      freezing_ = true;
      while (interning_ > 0 || leading_) group_done_.Wait(mutex_);
      const Result<std::uint64_t> segment = log_->Rotate();
      freezing_ = false;
      group_done_.NotifyAll();
      if (!segment) return Fail(segment.error());
      cutting_ = std::exchange(head_, std::make_shared<Head>());
      cutting_segment_ = *segment;
      cutting_stacks_ = interner_->Freeze();
    }
    head = cutting_;
    cut = cuts_ + 1;
    types = types_;
  }
  CutRows rows =
      CutHead(*head, *cutting_stacks_, cut, types, floor_.traces.load(), floor_.profiles.load());
  {
    // Readers may meet new type numbers as soon as the blocks are in.
    MutexLock lock(mutex_);
    types_ = types;
  }
  TRY(Ingest(rows, cut, cutting_segment_, *cutting_stacks_));
  {
    MutexLock lock(mutex_);
    cuts_ = cut;
    cutting_.reset();
  }
  interner_->Release();
  cutting_stacks_.reset();
  return log_->DeleteBefore(cutting_segment_);
}

Result<std::string> EmbeddedEngine::WriteTable(Family family, CutRows& rows, std::uint64_t cut) {
  auto& of_family = rows.Of(family);
  std::ranges::sort(of_family, {}, &std::pair<std::string, std::string>::first);
  const std::string path = fmt::format("{}/blocks/cut-{}-{}.tmp", options_.folder, cut,
                                       kFamilyNames[static_cast<std::size_t>(family)]);
  rocksdb::Options options = db_->GetOptions(Of(family));
  options.env = env_;
  rocksdb::SstFileWriter writer(rocksdb::EnvOptions(), options, Of(family));
  TRY(FromRocks(writer.Open(path), "block file"));
  for (auto& [key, value] : of_family) {
    TRY(FromRocks(writer.Put(key, value), "block file"));
    value = std::string();
  }
  TRY(FromRocks(writer.Finish(), "block file"));
  return path;
}

Status EmbeddedEngine::Ingest(CutRows& rows, std::uint64_t cut, std::uint64_t log_segment,
                              const StackGeneration& stacks) {
  std::string state;
  AppendRaw(state, cut);
  AppendRaw(state, static_cast<std::uint32_t>(stacks.first_stack + stacks.stacks()));
  AppendRaw(state, static_cast<std::uint32_t>(stacks.first_location + stacks.locations()));
  rows.Put(Family::kMeta, "state", std::move(state));
  std::string segment;
  AppendRaw(segment, log_segment);
  rows.Put(Family::kMeta, "log_segment", std::move(segment));
  {
    MutexLock lock(mutex_);
    std::vector<std::pair<std::uint32_t, std::string_view>> names;
    for (const auto& [name, number] : types_) names.emplace_back(number, name);
    std::ranges::sort(names);
    std::string types;
    for (const auto& [number, name] : names) AppendSized(types, name);
    rows.Put(Family::kMeta, "types", std::move(types));
    std::string ids, tenants;
    for (const auto& [id, at] : batch_order_) {
      AppendRaw(ids, id);
      AppendRaw(ids, at);
    }
    rows.Put(Family::kMeta, "batch_ids", std::move(ids));
    for (const TenantId tenant : tenants_) AppendRaw(tenants, tenant);
    rows.Put(Family::kMeta, "tenants", std::move(tenants));
  }
  std::vector<rocksdb::IngestExternalFileArg> files;
  for (std::size_t i = 0; i < kFamilies; ++i) {
    if (rows.Of(Family{i}).empty()) continue;
    TRY_ASSIGN(const std::string path, WriteTable(Family{i}, rows, cut));
    rocksdb::IngestExternalFileArg arg;
    arg.column_family = Of(Family{i});
    arg.external_files = {path};
    arg.options.move_files = true;
    files.push_back(std::move(arg));
  }
  return FromRocks(db_->IngestExternalFiles(files), "blocks");
}

Status EmbeddedEngine::Flush() {
  MutexLock lock(mutex_);
  while (!stopping_) {
    if (head_->empty() && !cutting_) return {};
    const std::uint64_t attempts = cut_attempts_;
    flush_wanted_ = true;
    cut_wanted_.NotifyAll();
    while (cut_attempts_ == attempts && !stopping_) cut_done_.Wait(mutex_);
    if (!last_cut_) return last_cut_;
  }
  return {};
}

}  // namespace hotspan::storage::embedded
