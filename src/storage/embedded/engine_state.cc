// What the engine remembers between runs, retention, and the catalog.
#include <fmt/format.h>
#include <rocksdb/convenience.h>

#include <algorithm>

#include "base/log.h"
#include "storage/embedded/engine_impl.h"
#include "storage/source.h"

namespace hotspan::storage::embedded {

Status EmbeddedEngine::LoadState() {
  const auto read = [&](const char* key) -> Result<std::string> {
    std::string text;
    const auto status = db_->Get({}, Of(Family::kMeta), key, &text);
    if (!status.ok() && !status.IsNotFound()) TRY(FromRocks(status, "metadata"));
    return text;
  };
  TRY_ASSIGN(const std::string state, read("state"));
  TRY_ASSIGN(const std::string types, read("types"));
  TRY_ASSIGN(const std::string ids, read("batch_ids"));
  TRY_ASSIGN(const std::string tenants, read("tenants"));
  TRY_ASSIGN(const std::string retention, read("retention"));

  ByteReader state_reader(state);
  const auto cuts = state_reader.Raw<std::uint64_t>();
  const auto next_stack = state_reader.Raw<std::uint32_t>();
  const auto next_location = state_reader.Raw<std::uint32_t>();
  interner_ = std::make_unique<StackInterner>(next_stack, next_location);
  if (retention.size() == 16) {
    floor_.traces = LoadRaw<std::int64_t>(retention.data());
    floor_.profiles = LoadRaw<std::int64_t>(retention.data() + 8);
  }
  MutexLock lock(mutex_);
  cuts_ = cuts;
  for (ByteReader reader(types); !reader.AtEnd();) {
    const auto number = static_cast<std::uint32_t>(types_.size());
    types_.emplace(std::string(reader.Sized()), number);
  }
  const std::int64_t now = options_.clock->NowNs();
  for (ByteReader reader(ids); !reader.AtEnd();) {
    const auto id = reader.Raw<Hash128>();
    const auto at = reader.Raw<std::int64_t>();
    if (!reader.failed() && now - at < limits::kBatchIdsKeptNs) RememberBatch(id, at);
  }
  for (ByteReader reader(tenants); !reader.AtEnd();) tenants_.insert(reader.Raw<TenantId>());
  // Tables of a cut that was interrupted before they were taken in.
  std::vector<std::string> names;
  const std::string folder = options_.folder + "/blocks";
  TRY(FromRocks(env_->GetChildren(folder, &names), "data folder"));
  for (const std::string& name : names) {
    if (name.ends_with(".tmp") && name.starts_with("cut-")) {
      TRY(FromRocks(env_->DeleteFile(folder + "/" + name), "data folder"));
    }
  }
  return {};
}

Status EmbeddedEngine::ApplyRetention(const RetentionPolicy& policy, TimeNs now) {
  const std::int64_t traces = std::max(floor_.traces.load(), FirstSliceKept(now, policy.traces));
  const std::int64_t profiles =
      std::max(floor_.profiles.load(), FirstSliceKept(now, policy.profiles));
  std::set<TenantId> tenants;
  {
    MutexLock lock(mutex_);
    tenants = tenants_;
  }
  rocksdb::WriteBatch batch;
  std::string floor;
  AppendRaw(floor, traces);
  AppendRaw(floor, profiles);
  TRY(FromRocks(batch.Put(Of(Family::kMeta), "retention", floor), "retention"));
  for (const TenantId tenant : tenants) {
    const std::string begin = SlicePrefix(tenant, INT64_MIN);
    const auto drop = [&](Family family, std::int64_t first_kept) {
      return FromRocks(batch.DeleteRange(Of(family), begin, SlicePrefix(tenant, first_kept)),
                       "retention");
    };
    TRY(drop(Family::kSpans, traces));
    TRY(drop(Family::kSamples, profiles));
    TRY(drop(Family::kCatalog, std::min(traces, profiles)));
  }
  rocksdb::WriteOptions options;
  options.sync = true;
  TRY(FromRocks(db_->Write(options, &batch), "retention"));
  // From here on readers pass over older rows and compaction drops index entries.
  floor_.traces = traces;
  floor_.profiles = profiles;
  for (const TenantId tenant : tenants) {
    const std::string begin = SlicePrefix(tenant, INT64_MIN);
    for (const auto& [family, first_kept] :
         {std::pair(Family::kSpans, traces), std::pair(Family::kSamples, profiles)}) {
      const std::string end = SlicePrefix(tenant, first_kept);
      const rocksdb::Slice from(begin), to(end);
      const rocksdb::RangePtr range(&from, &to);
      // Gives disk back at once where whole files fall into the range.
      TRY(FromRocks(rocksdb::DeleteFilesInRanges(db_.get(), Of(family), &range, 1, false),
                    "retention"));
    }
  }
  return {};
}

Result<Catalog> EmbeddedEngine::ReadCatalog(const CatalogRequest& request) {
  const View view = TakeView(request.tenant);
  CatalogCounter sum;
  const auto add = [&](std::int64_t slice, const auto& stats, std::int64_t first_kept) {
    if (slice >= first_kept && (request.service.empty() || stats.service == request.service)) {
      sum.Add(slice, stats);
    }
  };
  const std::string from = SlicePrefix(request.tenant, SliceOf(request.range.begin));
  std::unique_ptr<rocksdb::Iterator> it(db_->NewIterator({}, Of(Family::kCatalog)));
  for (it->Seek(from); it->Valid(); it->Next()) {
    const std::string_view key(it->key().data(), it->key().size());
    if (key.size() != kSlicePrefixBytes + 9 || !key.starts_with(from.substr(0, 4))) break;
    const std::int64_t slice = LoadSlice(key.data() + 4);
    if (slice > SliceOf(request.range.end)) break;
    if (key.back() != kCatalogCounts) continue;
    if (LoadBigEndian64(key.data() + kSlicePrefixBytes) > view.cuts) continue;
    std::vector<OperationStats> operations;
    std::vector<ProfileStats> profiles;
    if (!DecodeCounts({it->value().data(), it->value().size()}, operations, profiles)) {
      CountDamage(Error(Code::kDataLoss, "damaged counts"), "catalog");
      continue;
    }
    for (const auto& stats : operations) add(slice, stats, floor_.traces);
    for (const auto& stats : profiles) add(slice, stats, floor_.profiles);
  }
  TRY(FromRocks(it->status(), "catalog"));
  for (const auto& entry : view.entries) {
    for (const auto& [key, stats] : entry->catalog().operations()) {
      add(std::get<0>(key), stats, floor_.traces);
    }
    for (const auto& [key, stats] : entry->catalog().profiles()) {
      add(std::get<0>(key), stats, floor_.profiles);
    }
  }
  return sum.Answer(request);
}

Result<TagsResult> EmbeddedEngine::ReadTags(const TagsRequest& request) {
  const View view = TakeView(request.tenant);
  SliceTags sum;
  const std::int64_t first = std::max(SliceOf(request.range.begin), floor_.traces.load());
  // The range's end is not part of it.
  const std::int64_t last = SliceOf({request.range.end.ns - 1});
  const std::string from = SlicePrefix(request.tenant, first);
  std::unique_ptr<rocksdb::Iterator> it(db_->NewIterator({}, Of(Family::kCatalog)));
  for (it->Seek(from); it->Valid(); it->Next()) {
    const std::string_view key(it->key().data(), it->key().size());
    if (key.size() != kSlicePrefixBytes + 9 || !key.starts_with(from.substr(0, 4))) break;
    if (LoadSlice(key.data() + 4) > last) break;
    if (key.back() != kCatalogTags) continue;
    if (LoadBigEndian64(key.data() + kSlicePrefixBytes) > view.cuts) continue;
    if (!DecodeTags({it->value().data(), it->value().size()}, sum)) {
      CountDamage(Error(Code::kDataLoss, "damaged tags"), "catalog");
    }
  }
  TRY(FromRocks(it->status(), "catalog"));
  for (const auto& entry : view.entries) {
    for (const auto& [slice, tags] : entry->tags()) {
      if (slice < first || slice > last) continue;
      sum.resource.AddAll(tags.resource);
      sum.span.AddAll(tags.span);
    }
  }
  return AnswerTags(request, sum.resource, sum.span);
}

}  // namespace hotspan::storage::embedded
