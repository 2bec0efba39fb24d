// Reading spans: traces by id and scans.
#include <algorithm>
#include <set>
#include <unordered_set>

#include "base/clock.h"
#include "storage/conditions.h"
#include "storage/embedded/engine_impl.h"
#include "storage/embedded/span_block.h"
#include "storage/source.h"

namespace hotspan::storage::embedded {
namespace {

struct IdentityHasher {
  std::size_t operator()(const SpanIdentity& identity) const {
    return TraceIdHasher()(std::get<0>(identity)) ^ SpanIdHasher()(std::get<1>(identity)) ^
           static_cast<std::size_t>(std::get<2>(identity));
  }
};

std::string_view ViewOf(const rocksdb::PinnableSlice& slice) {
  return {slice.data(), slice.size()};
}

// The hot part's conditions: those that need no attributes.
bool IsHot(const Condition& condition) {
  return condition.field != SpanField::kSpanAttribute &&
         condition.field != SpanField::kResourceAttribute &&
         condition.field != SpanField::kAnyAttribute;
}

}  // namespace

Status EmbeddedEngine::Get(Family family, const std::string& key,
                           rocksdb::PinnableSlice& value) const {
  value.Reset();
  return FromRocks(db_->Get({}, Of(family), key, &value), "block");
}

EmbeddedEngine::View EmbeddedEngine::TakeView(TenantId tenant) const {
  View view;
  MutexLock lock(mutex_);
  view.cuts = cuts_;
  for (const Head* head : {cutting_.get(), static_cast<const Head*>(head_.get())}) {
    if (head == nullptr) continue;
    for (const auto& entry : head->entries()) {
      if (entry->batch().tenant == tenant) view.entries.push_back(entry);
    }
  }
  return view;
}

Status EmbeddedEngine::ReadTraceFromHeads(TenantId tenant, const TraceId& id, SpanBatch& out,
                                          std::uint64_t& cuts) const {
  std::vector<std::pair<std::shared_ptr<const HeadEntry>, std::uint32_t>> found;
  {
    MutexLock lock(mutex_);
    cuts = cuts_;
    for (const Head* head : {cutting_.get(), static_cast<const Head*>(head_.get())}) {
      if (head == nullptr) continue;
      for (const Head::Place& place : head->SpansOf(id)) {
        const auto& entry = head->entries()[place.entry];
        if (entry->batch().tenant == tenant) found.emplace_back(entry, place.row);
      }
    }
  }
  for (const auto& [entry, row] : found) {
    const SpanRow& span = entry->batch().spans->spans[row];
    if (SliceOf(span.start) >= floor_.traces) out.AppendFrom(*entry->batch().spans, span);
  }
  return {};
}

Status EmbeddedEngine::AppendTraceRun(TenantId tenant, const TraceRun& run, std::uint64_t cut,
                                      SpanScanResult& out) const {
  rocksdb::PinnableSlice hot, wide;
  TRY(Get(Family::kSpans, SpanChunkKey(tenant, run.slice, cut, run.chunk, 0), hot));
  ++out.inspected.blocks;
  out.inspected.bytes += hot.size();
  TRY_ASSIGN(const HotSpans chunk, HotSpans::Open(ViewOf(hot)));
  HotSpans::Appender appender(chunk, out.spans);
  std::uint32_t loaded = UINT32_MAX;
  for (std::uint32_t row = run.first_row; row < run.first_row + run.count; ++row) {
    if (row >= chunk.size()) return Fail(Code::kDataLoss, "trace index beyond its chunk");
    const std::uint32_t part = row / kSpansPerWidePart;
    if (part != loaded) {
      TRY(Get(Family::kSpans,
              SpanChunkKey(tenant, run.slice, cut, run.chunk, static_cast<std::uint8_t>(1 + part)),
              wide));
      out.inspected.bytes += wide.size();
      loaded = part;
    }
    TRY(appender.Append(row, ViewOf(wide)));
    ++out.inspected.rows;
  }
  return {};
}

Result<SpanScanResult> EmbeddedEngine::ReadTrace(TenantId tenant, const TraceId& id,
                                                 const Budget& budget) {
  SpanScanResult stored, result;
  SpanBatch fresh;
  std::uint64_t cuts = 0;
  TRY(ReadTraceFromHeads(tenant, id, fresh, cuts));

  const std::string prefix = IdPrefix(tenant, id.AsBytes());
  rocksdb::ReadOptions options;
  options.prefix_same_as_start = true;
  std::unique_ptr<rocksdb::Iterator> it(db_->NewIterator(options, Of(Family::kTraces)));
  std::vector<TraceRun> runs;
  for (it->Seek(prefix); it->Valid() && it->key().starts_with(prefix); it->Next()) {
    const std::uint64_t cut = LoadBigEndian64(it->key().data() + prefix.size());
    if (cut > cuts) continue;
    runs.clear();
    if (!DecodeTraceRuns({it->value().data(), it->value().size()}, runs)) {
      CountDamage(Error(Code::kDataLoss, "damaged runs"), "trace index");
      continue;
    }
    for (const TraceRun& run : runs) {
      if (run.slice < floor_.traces) continue;
      if (stored.spans.spans.size() >= budget.rows_max) {
        stored.inspected.truncated = true;
        break;
      }
      const Status status = AppendTraceRun(tenant, run, cut, stored);
      // Gone between index and block: retention passed by.
      if (!status && status.error().code() != Code::kNotFound) {
        CountDamage(status.error(), "span chunk");
      }
    }
  }
  TRY(FromRocks(it->status(), "trace index"));

  // The copy that came first stands: blocks hold what is older than the head.
  std::vector<std::pair<const SpanBatch*, const SpanRow*>> rows;
  std::unordered_set<SpanIdentity, IdentityHasher> seen;
  for (const SpanBatch* batch : {&stored.spans, &fresh}) {
    for (const SpanRow& row : batch->spans) {
      if (seen.insert(IdentityOf(row)).second) rows.emplace_back(batch, &row);
    }
  }
  std::ranges::sort(rows, [](const auto& a, const auto& b) {
    if (a.second->start != b.second->start) return a.second->start < b.second->start;
    return IdentityOf(*a.second) < IdentityOf(*b.second);
  });
  result.inspected = stored.inspected;
  result.inspected.rows += fresh.spans.size();
  if (rows.size() > budget.rows_max) {
    rows.resize(budget.rows_max);
    result.inspected.truncated = true;
  }
  for (const auto& [batch, row] : rows) result.spans.AppendFrom(*batch, *row);
  return result;
}

// One scan: candidates by the hot columns, then the wide rows of those that stay.
class SpanScanner {
 public:
  SpanScanner(const EmbeddedEngine& engine, const SpanScan& scan)
      : engine_(engine), scan_(scan), limit_(std::min(scan.limit, scan.budget.rows_max)) {
    for (const Condition& condition : scan.conditions) {
      (IsHot(condition) ? hot_ : wide_).push_back(condition);
    }
  }

  Result<SpanScanResult> Run() {
    const auto view = engine_.TakeView(scan_.tenant);
    TRY(ScanBlocks(view.cuts));
    ScanEntries(view.entries);
    return Finish();
  }

 private:
  // A match with its whole row in its own small batch.
  struct Match {
    SpanRow row;  // hot fields, for order
    std::shared_ptr<const SpanBatch> batch;
    std::uint32_t index = 0;  // of its row in `batch`
  };

  void ScanEntries(const std::vector<std::shared_ptr<const HeadEntry>>& entries) {
    for (const auto& entry : entries) {
      if (!entry->batch().spans || OutOfTime()) continue;
      const auto& batch = entry->batch().spans;
      for (std::uint32_t i = 0; i < batch->spans.size(); ++i) {
        const SpanRow& row = batch->spans[i];
        ++result_.inspected.rows;
        if (!scan_.range.Contains(row.start) || SliceOf(row.start) < engine_.floor_.traces)
          continue;
        if (TooLate(row) || !MatchesAll(*batch, row, scan_.conditions)) continue;
        Keep({row, batch, i});
      }
    }
  }

  Status ScanBlocks(std::uint64_t cuts) {
    const std::int64_t first = std::max(SliceOf(scan_.range.begin), engine_.floor_.traces.load());
    const std::int64_t last = SliceOf({scan_.range.end.ns - 1});
    const std::string tenant = SlicePrefix(scan_.tenant, 0).substr(0, 4);
    std::unique_ptr<rocksdb::Iterator> it(engine_.db_->NewIterator({}, engine_.Of(Family::kSpans)));
    // Newest first: once enough is found, older chunks can't add to the answer.
    it->SeekForPrev(SlicePrefix(scan_.tenant, last) + std::string(14, '\xff'));
    for (; it->Valid(); it->Prev()) {
      const std::string_view key(it->key().data(), it->key().size());
      if (key.size() != kSpanKeyBytes || !key.starts_with(tenant)) break;
      const std::int64_t slice = LoadSlice(key.data() + 4);
      if (slice < first || OutOfTime()) break;
      if (key.back() != 0) {
        // Wide parts of the chunk: go to its hot part.
        std::string hot(key);
        hot.back() = 0;
        it->SeekForPrev(hot);
        if (!it->Valid() || it->key() != rocksdb::Slice(hot)) break;
      }
      if (LoadBigEndian64(it->key().data() + kSlicePrefixBytes) > cuts) continue;
      if (NothingNewerThan(slice)) break;
      const Status status = ScanChunk(*it);
      if (!status && status.error().code() != Code::kNotFound) {
        engine_.CountDamage(status.error(), "span chunk");
      }
    }
    return FromRocks(it->status(), "spans");
  }

  Status ScanChunk(const rocksdb::Iterator& it) {
    const std::string key = it.key().ToString();
    TRY_ASSIGN(const HotSpans chunk, HotSpans::Open({it.value().data(), it.value().size()}));
    ++result_.inspected.blocks;
    result_.inspected.rows += chunk.size();
    result_.inspected.bytes += it.value().size();
    if (!scan_.range.Touches(chunk.min_start(), chunk.max_start())) return {};
    // Names and services are compared once for the chunk, not for each row.
    std::vector<char> name_fits(chunk.names().size(), 1), service_fits(chunk.services().size(), 1);
    std::vector<Condition> of_row;
    for (const Condition& condition : hot_) {
      if (condition.field == SpanField::kName) {
        for (std::size_t i = 0; i < name_fits.size(); ++i) {
          name_fits[i] &= static_cast<char>(CompareText(chunk.names()[i], condition));
        }
      } else if (condition.field == SpanField::kService) {
        for (std::size_t i = 0; i < service_fits.size(); ++i) {
          service_fits[i] &= static_cast<char>(CompareText(chunk.services()[i], condition));
        }
      } else {
        of_row.push_back(condition);
      }
    }
    if (std::ranges::count(name_fits, 1) == 0 || std::ranges::count(service_fits, 1) == 0) {
      return {};
    }
    std::vector<std::uint32_t> rows;
    static const SpanBatch kNoText;
    for (std::uint32_t i = 0; i < chunk.size(); ++i) {
      if (name_fits[chunk.name(i)] == 0 || service_fits[chunk.resource(i)] == 0) continue;
      if (!scan_.range.Contains({chunk.start_ns(i)})) continue;
      const SpanRow row = chunk.Row(i);
      if (TooLate(row) || !MatchesAll(kNoText, row, of_row)) continue;
      rows.push_back(i);
    }
    return Materialize(chunk, key, rows);
  }

  // Whole rows of a chunk's candidates, and their remaining conditions.
  Status Materialize(const HotSpans& chunk, const std::string& hot_key,
                     const std::vector<std::uint32_t>& rows) {
    if (rows.empty()) return {};
    auto batch = std::make_shared<SpanBatch>();
    HotSpans::Appender appender(chunk, *batch);
    rocksdb::PinnableSlice wide;
    std::uint32_t loaded = UINT32_MAX;
    std::vector<std::uint32_t> kept;
    for (const std::uint32_t row : rows) {
      std::string_view part;
      if (scan_.wide || !wide_.empty()) {
        if (row / kSpansPerWidePart != loaded) {
          loaded = row / kSpansPerWidePart;
          std::string key = hot_key;
          key.back() = static_cast<char>(1 + loaded);
          TRY(engine_.Get(Family::kSpans, key, wide));
          result_.inspected.bytes += wide.size();
        }
        part = ViewOf(wide);
      }
      TRY(appender.Append(row, part));
      if (!MatchesAll(*batch, batch->spans.back(), wide_)) batch->spans.pop_back();
    }
    const std::shared_ptr<const SpanBatch> shared = batch;
    for (std::uint32_t i = 0; i < shared->spans.size(); ++i) Keep({shared->spans[i], shared, i});
    return {};
  }

  // Whether the answer is full of rows that all come before this one.
  bool TooLate(const SpanRow& row) const {
    return matches_.size() >= limit_ && bound_known_ && ComesBefore(bound_, row, scan_.order);
  }
  bool NothingNewerThan(std::int64_t slice) const {
    return scan_.order == SpanOrder::kNewestFirst && matches_.size() >= limit_ && bound_known_ &&
           SliceOf(bound_.start) > slice;
  }
  bool OutOfTime() {
    if (scan_.budget.deadline_monotonic_ns == INT64_MAX) return false;
    if (MonotonicNs() < scan_.budget.deadline_monotonic_ns) return false;
    return result_.inspected.truncated = true;
  }

  void Keep(Match match) {
    if (limit_ == 0) return;
    matches_.push_back(std::move(match));
    // Twice the limit before sorting: each row is sorted a few times at most.
    if (matches_.size() >= 2 * limit_ + 64) Shrink();
  }

  // Sorts, drops later copies of a span and what is beyond the limit.
  void Shrink() {
    std::ranges::sort(matches_, [&](const Match& a, const Match& b) {
      return ComesBefore(a.row, b.row, scan_.order);
    });
    std::unordered_set<SpanIdentity, IdentityHasher> seen;
    std::erase_if(matches_,
                  [&](const Match& match) { return !seen.insert(IdentityOf(match.row)).second; });
    if (matches_.size() > limit_) {
      matches_.resize(limit_);
      cut_ = true;
    }
    if (matches_.size() == limit_) {
      bound_ = matches_.back().row;
      bound_known_ = true;
    }
  }

  Result<SpanScanResult> Finish() {
    Shrink();
    result_.inspected.truncated |= cut_;
    for (const Match& match : matches_) {
      result_.spans.AppendFrom(*match.batch, match.batch->spans[match.index]);
    }
    return std::move(result_);
  }

  const EmbeddedEngine& engine_;
  const SpanScan& scan_;
  const std::size_t limit_;
  std::vector<Condition> hot_, wide_;
  std::vector<Match> matches_;
  SpanRow bound_;  // the last row of a full answer
  bool bound_known_ = false;
  bool cut_ = false;
  SpanScanResult result_;
};

Result<SpanScanResult> EmbeddedEngine::ScanSpans(const SpanScan& scan) {
  return SpanScanner(*this, scan).Run();
}

}  // namespace hotspan::storage::embedded
