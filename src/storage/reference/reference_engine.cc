#include "storage/reference/reference_engine.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/mutex.h"
#include "storage/catalog.h"
#include "storage/conditions.h"
#include "storage/source.h"
#include "storage/tags.h"

namespace hotspan::storage {
namespace {

class ReferenceEngine final : public Engine {
 public:
  explicit ReferenceEngine(const Clock& clock) : clock_(clock) {}

  Result<WriteOutcome> Write(WriteBatch batch) override {
    MutexLock lock(mutex_);
    const std::int64_t now = clock_.NowNs();
    if (!batch.batch_id.IsZero()) {
      const auto known = batch_ids_.find(batch.batch_id);
      if (known != batch_ids_.end() && now - known->second < limits::kBatchIdsKeptNs) {
        ++stats_.duplicate_batches;
        return WriteOutcome{.duplicate = true};
      }
      batch_ids_[batch.batch_id] = now;
    }
    if (batch.samples) NumberStacks(*batch.samples);
    stats_.spans_written += batch.spans ? batch.spans->spans.size() : 0;
    stats_.samples_written += batch.samples ? batch.samples->samples.size() : 0;
    ++stats_.batches_written;
    batches_.push_back(std::move(batch));
    return WriteOutcome{};
  }

  Result<SpanScanResult> ReadTrace(TenantId tenant, const TraceId& id,
                                   const Budget& budget) override {
    SpanScan scan{.tenant = tenant,
                  .range = {},
                  .conditions = {},
                  .limit = budget.rows_max,
                  .budget = budget};
    TRY_ASSIGN(SpanScanResult found, Scan(scan, &id));
    std::ranges::reverse(found.spans.spans);
    std::ranges::sort(found.spans.spans, [](const SpanRow& a, const SpanRow& b) {
      if (a.start != b.start) return a.start < b.start;
      return IdentityOf(a) < IdentityOf(b);
    });
    return found;
  }

  Result<SpanScanResult> ScanSpans(const SpanScan& scan) override { return Scan(scan, nullptr); }

  Result<SpanSamples> ReadSamples(const SamplesBySpans& request) override {
    MutexLock lock(mutex_);
    SpanSamples result;
    std::map<std::string, std::uint32_t, std::less<>> types;
    for (const auto& written : batches_) {
      if (!written.samples || written.tenant != request.tenant) continue;
      const SampleBatch& batch = *written.samples;
      for (const SampleRow& row : batch.samples) {
        if (row.link == 0 || Dropped(row)) continue;
        const SeriesRow& series = batch.series[row.series];
        const std::string_view type = batch.Text(series.type);
        if (!request.type.empty() && type != request.type) continue;
        const LinkRow& link = batch.links[row.link];
        for (std::uint32_t i = 0; i < request.spans.size(); ++i) {
          const SpanKey& key = request.spans[i];
          if (key.span_id != link.span_id) continue;
          if (!key.trace_id.IsZero() && !link.trace_id.IsZero() && key.trace_id != link.trace_id) {
            continue;
          }
          const auto known =
              types.try_emplace(std::string(type), static_cast<std::uint32_t>(result.types.size()));
          if (known.second) result.types.emplace_back(type);
          result.samples.push_back({i, known.first->second, NumberOf(batch, row.stack), link.kind,
                                    row.value, row.time, series.period,
                                    ThreadOf(batch.Attributes(batch.label_sets[row.labels]))});
        }
      }
    }
    std::ranges::sort(result.samples, [](const SpanSample& a, const SpanSample& b) {
      return std::tie(a.span, a.type, a.time, a.thread, a.stack, a.value) <
             std::tie(b.span, b.type, b.time, b.thread, b.stack, b.value);
    });
    return result;
  }

  Result<MergedSamples> MergeSamples(const SampleMerge& request) override {
    MutexLock lock(mutex_);
    MergedSamples merged;
    std::map<StackNumber, StackSum> sums;
    std::set<std::int64_t> periods;
    for (const auto& written : batches_) {
      if (!written.samples || written.tenant != request.tenant) continue;
      const SampleBatch& batch = *written.samples;
      for (const SampleRow& row : batch.samples) {
        const SeriesRow& series = batch.series[row.series];
        if (Dropped(row) || !request.range.Contains(row.time)) continue;
        if (batch.Text(series.type) != request.type) continue;
        if (!request.service.empty() &&
            batch.Text(batch.resources[series.resource].service_name) != request.service) {
          continue;
        }
        if (!MatchesLabels(batch, series, request.matchers)) continue;
        const StackNumber stack = NumberOf(batch, row.stack);
        StackSum& sum = sums[stack];
        sum.stack = stack;
        sum.sum += row.value;
        ++sum.count;
        ++merged.samples;
        periods.insert(series.period);
      }
    }
    for (const auto& [stack, sum] : sums) merged.stacks.push_back(sum);
    if (periods.size() == 1) merged.period = *periods.begin();
    return merged;
  }

  Result<FrameTable> ReadStacks(std::span<const StackNumber> stacks) override {
    MutexLock lock(mutex_);
    FrameTable table;
    for (const StackNumber number : stacks) {
      const auto index = static_cast<std::size_t>(number);
      if (index >= stacks_.size() || table.stacks.contains(number)) continue;
      auto& frames = table.stacks[number];
      for (const Frame& frame : stacks_[index]) {
        frames.push_back(static_cast<std::uint32_t>(table.frames.size()));
        table.frames.push_back(frame);
      }
    }
    return table;
  }

  Result<Catalog> ReadCatalog(const CatalogRequest& request) override {
    MutexLock lock(mutex_);
    CatalogCounter counter;
    for (const auto& written : batches_) {
      if (written.tenant != request.tenant) continue;
      if (written.spans) counter.Add(*written.spans);
      if (written.samples) counter.Add(*written.samples);
    }
    CatalogCounter kept;
    for (const auto& [key, stats] : counter.operations()) {
      if (std::get<0>(key) >= first_trace_slice_) kept.Add(std::get<0>(key), stats);
    }
    for (const auto& [key, stats] : counter.profiles()) {
      if (std::get<0>(key) >= first_profile_slice_) kept.Add(std::get<0>(key), stats);
    }
    return kept.Answer(request);
  }

  Result<TagsResult> ReadTags(const TagsRequest& request) override {
    MutexLock lock(mutex_);
    TagSet resource, span;
    for (const auto& written : batches_) {
      if (!written.spans || written.tenant != request.tenant) continue;
      for (const SpanRow& row : written.spans->spans) {
        const std::int64_t slice = SliceOf(row.start);
        // By whole slices, as maintained indexes have it.
        const TimeNs first{slice * kSlice.ns};
        if (slice < first_trace_slice_ ||
            !request.range.Touches(first, first + DurationNs{kSlice.ns - 1})) {
          continue;
        }
        resource.AddAll(
            written.spans->Attributes(written.spans->resources[row.resource].attributes));
        span.AddAll(written.spans->Attributes(row.attributes));
      }
    }
    return AnswerTags(request, resource, span);
  }

  Status ApplyRetention(const RetentionPolicy& policy, TimeNs now) override {
    MutexLock lock(mutex_);
    first_trace_slice_ = std::max(first_trace_slice_, FirstSliceKept(now, policy.traces));
    first_profile_slice_ = std::max(first_profile_slice_, FirstSliceKept(now, policy.profiles));
    return {};
  }

  Status Flush() override { return {}; }

  EngineStats Stats() const override {
    MutexLock lock(mutex_);
    EngineStats stats = stats_;
    stats.stacks = stacks_.size();
    return stats;
  }

 private:
  bool Dropped(const SampleRow& row) const REQUIRES(mutex_) {
    return SliceOf(row.time) < first_profile_slice_;
  }

  void NumberStacks(const SampleBatch& batch) REQUIRES(mutex_) {
    for (const StackRow& stack : batch.stacks) {
      const Hash128 identity = Identity(batch, stack);
      if (numbers_.contains(identity)) continue;
      numbers_[identity] = static_cast<std::uint32_t>(stacks_.size());
      std::vector<Frame> frames;
      for (std::uint32_t i = 0; i < stack.location_count; ++i) {
        AppendFrames(batch, batch.locations[batch.stack_locations[stack.first_location + i]],
                     frames);
      }
      stacks_.push_back(std::move(frames));
    }
  }

  static Hash128 Identity(const SampleBatch& batch, const StackRow& stack) {
    std::vector<Hash128> locations(batch.locations.size());
    for (std::uint32_t i = 0; i < stack.location_count; ++i) {
      const std::uint32_t location = batch.stack_locations[stack.first_location + i];
      locations[location] = LocationIdentity(batch, batch.locations[location]);
    }
    std::vector<Hash128> scratch;
    return StackIdentity(locations, batch, stack, scratch);
  }

  StackNumber NumberOf(const SampleBatch& batch, std::uint32_t stack) REQUIRES(mutex_) {
    return StackNumber{numbers_.at(Identity(batch, batch.stacks[stack]))};
  }

  Result<SpanScanResult> Scan(const SpanScan& scan, const TraceId* trace) {
    MutexLock lock(mutex_);
    std::vector<std::pair<const SpanBatch*, const SpanRow*>> found;
    std::set<SpanIdentity> seen;
    SpanScanResult result;
    for (const auto& written : batches_) {
      if (!written.spans || written.tenant != scan.tenant) continue;
      for (const SpanRow& row : written.spans->spans) {
        ++result.inspected.rows;
        if (SliceOf(row.start) < first_trace_slice_ || !scan.range.Contains(row.start)) continue;
        if (trace != nullptr && row.trace_id != *trace) continue;
        if (!seen.insert(IdentityOf(row)).second) continue;
        if (!MatchesAll(*written.spans, row, scan.conditions)) continue;
        found.emplace_back(written.spans.get(), &row);
      }
    }
    std::ranges::sort(found, [&](const auto& a, const auto& b) {
      return ComesBefore(*a.second, *b.second, scan.order);
    });
    const std::size_t limit = std::min(scan.limit, scan.budget.rows_max);
    if (found.size() > limit) {
      found.resize(limit);
      result.inspected.truncated = true;
    }
    for (const auto& [batch, row] : found) result.spans.AppendFrom(*batch, *row);
    return result;
  }

  const Clock& clock_;
  mutable Mutex mutex_;
  std::vector<WriteBatch> batches_ GUARDED_BY(mutex_);
  std::map<Hash128, std::int64_t> batch_ids_ GUARDED_BY(mutex_);
  std::map<Hash128, std::uint32_t> numbers_ GUARDED_BY(mutex_);
  std::vector<std::vector<Frame>> stacks_ GUARDED_BY(mutex_);
  std::int64_t first_trace_slice_ GUARDED_BY(mutex_) = INT64_MIN;
  std::int64_t first_profile_slice_ GUARDED_BY(mutex_) = INT64_MIN;
  EngineStats stats_ GUARDED_BY(mutex_);
};

}  // namespace

std::unique_ptr<Engine> MakeReferenceEngine(const Clock& clock) {
  return std::make_unique<ReferenceEngine>(clock);
}

}  // namespace hotspan::storage
