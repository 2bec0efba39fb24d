// Reading samples: of spans, merged, and the stacks they name.
#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "base/clock.h"
#include "storage/embedded/engine_impl.h"
#include "storage/embedded/sample_block.h"
#include "storage/source.h"

namespace hotspan::storage::embedded {
namespace {

// Sums by stack number: pages of counters, so that dense and sparse numbers cost alike.
class StackSums {
 public:
  void Add(std::uint32_t stack, std::int64_t sum, std::uint64_t count) {
    const std::size_t page = stack / kPage;
    if (page >= pages_.size()) pages_.resize(page + 1);
    if (!pages_[page]) pages_[page] = std::make_unique<Page>();
    Counter& counter = (*pages_[page])[stack % kPage];
    // Wraps on overflow, as sums of hostile values may.
    counter.sum = static_cast<std::int64_t>(static_cast<std::uint64_t>(counter.sum) +
                                            static_cast<std::uint64_t>(sum));
    counter.count += count;
  }
  std::vector<StackSum> Take() const {
    std::vector<StackSum> sums;
    for (std::size_t page = 0; page < pages_.size(); ++page) {
      if (!pages_[page]) continue;
      for (std::size_t i = 0; i < kPage; ++i) {
        const Counter& counter = (*pages_[page])[i];
        if (counter.count == 0) continue;
        sums.push_back({StackNumber{static_cast<std::uint32_t>(page * kPage + i)}, counter.sum,
                        counter.count});
      }
    }
    return sums;
  }

 private:
  static constexpr std::size_t kPage = 1024;
  struct Counter {
    std::int64_t sum = 0;
    std::uint64_t count = 0;
  };
  using Page = std::array<Counter, kPage>;
  std::vector<std::unique_ptr<Page>> pages_;
};

bool SameTrace(const TraceId& asked, const TraceId& recorded) {
  return asked.IsZero() || recorded.IsZero() || asked == recorded;
}

}  // namespace

std::string EmbeddedEngine::TypeName(std::uint32_t number) const {
  MutexLock lock(mutex_);
  for (const auto& [name, of_name] : types_) {
    if (of_name == number) return name;
  }
  return {};
}

// One read of samples by span: heads first, then the index.
class SpanSampleReader {
 public:
  SpanSampleReader(const EmbeddedEngine& engine, const SamplesBySpans& request)
      : engine_(engine), request_(request) {}

  Result<SpanSamples> Run() {
    const std::uint64_t cuts = ReadHeads();
    TRY(ReadBlocks(cuts));
    result_.inspected.rows = result_.samples.size();
    std::ranges::sort(result_.samples, [](const SpanSample& a, const SpanSample& b) {
      return std::tie(a.span, a.type, a.time, a.thread, a.stack, a.value) <
             std::tie(b.span, b.type, b.time, b.thread, b.stack, b.value);
    });
    return std::move(result_);
  }

 private:
  std::uint32_t TypeIndex(std::string_view type) {
    const auto known = types_.find(type);
    if (known != types_.end()) return known->second;
    const auto index = static_cast<std::uint32_t>(types_.size());
    types_.emplace(std::string(type), index);
    result_.types.emplace_back(type);
    return index;
  }

  bool Wanted(std::string_view type) const {
    return request_.type.empty() || type == request_.type;
  }

  // Returns the number of cuts that the rest is in.
  std::uint64_t ReadHeads() {
    struct Place {
      std::uint32_t span;
      std::shared_ptr<const HeadEntry> entry;
      std::uint32_t link;
    };
    std::vector<Place> places;
    std::uint64_t cuts = 0;
    {
      MutexLock lock(engine_.mutex_);
      cuts = engine_.cuts_;
      const Head* const heads[] = {engine_.cutting_.get(), engine_.head_.get()};
      for (const Head* head : heads) {
        if (head == nullptr) continue;
        for (std::uint32_t i = 0; i < request_.spans.size(); ++i) {
          for (const Head::Place& place : head->LinksOf(request_.spans[i].span_id)) {
            const auto& entry = head->entries()[place.entry];
            if (entry->batch().tenant == request_.tenant) places.push_back({i, entry, place.row});
          }
        }
      }
    }
    for (const Place& place : places) AddLink(place.span, *place.entry, place.link);
    return cuts;
  }

  void AddLink(std::uint32_t span, const HeadEntry& entry, std::uint32_t number) {
    const SampleBatch& batch = *entry.batch().samples;
    const LinkRow& link = batch.links[number];
    if (!SameTrace(request_.spans[span].trace_id, link.trace_id)) return;
    for (const std::uint32_t index : entry.SamplesOfLink(number)) {
      const SampleRow& row = batch.samples[index];
      const SeriesRow& series = batch.series[row.series];
      const std::string_view type = batch.Text(series.type);
      if (SliceOf(row.time) < engine_.floor_.profiles || !Wanted(type)) continue;
      result_.samples.push_back({span, TypeIndex(type), entry.StackOf(row), link.kind, row.value,
                                 row.time, series.period, entry.ThreadOfLabels(row.labels)});
    }
  }

  Status ReadBlocks(std::uint64_t cuts) {
    rocksdb::ReadOptions options;
    options.prefix_same_as_start = true;
    std::unique_ptr<rocksdb::Iterator> it(
        engine_.db_->NewIterator(options, engine_.Of(Family::kLinks)));
    for (std::uint32_t i = 0; i < request_.spans.size(); ++i) {
      const std::string prefix = IdPrefix(request_.tenant, request_.spans[i].span_id.AsBytes());
      for (it->Seek(prefix); it->Valid() && it->key().starts_with(prefix); it->Next()) {
        if (LoadBigEndian64(it->key().data() + prefix.size()) > cuts) continue;
        AddStored(i, {it->value().data(), it->value().size()});
      }
      TRY(FromRocks(it->status(), "span index"));
      if (result_.samples.size() > request_.budget.rows_max) {
        result_.inspected.truncated = true;
        break;
      }
    }
    return {};
  }

  void AddStored(std::uint32_t span, std::string_view bytes) {
    stored_.clear();
    ++result_.inspected.blocks;
    result_.inspected.bytes += bytes.size();
    if (!DecodeLinkSamples(bytes, stored_)) {
      engine_.CountDamage(Error(Code::kDataLoss, "damaged samples"), "span index");
    }
    for (const LinkSample& sample : stored_) {
      if (!SameTrace(request_.spans[span].trace_id, sample.trace_id)) continue;
      if (SliceOf({sample.time}) < engine_.floor_.profiles) continue;
      const auto [name, fresh] = names_.try_emplace(sample.type);
      if (fresh) name->second = engine_.TypeName(sample.type);
      if (!Wanted(name->second)) continue;
      result_.samples.push_back({span,
                                 TypeIndex(name->second),
                                 StackNumber{sample.stack},
                                 sample.link,
                                 sample.value,
                                 {sample.time},
                                 sample.period,
                                 sample.thread});
    }
  }

  const EmbeddedEngine& engine_;
  const SamplesBySpans& request_;
  std::map<std::string, std::uint32_t, std::less<>> types_;
  std::map<std::uint32_t, std::string> names_;  // of stored type numbers
  std::vector<LinkSample> stored_;
  SpanSamples result_;
};

Result<SpanSamples> EmbeddedEngine::ReadSamples(const SamplesBySpans& request) {
  return SpanSampleReader(*this, request).Run();
}

// One merge over heads and blocks.
class SampleMerger {
 public:
  SampleMerger(const EmbeddedEngine& engine, const SampleMerge& request)
      : engine_(engine), request_(request) {}

  Result<MergedSamples> Run() {
    const auto view = engine_.TakeView(request_.tenant);
    for (const auto& entry : view.entries) {
      if (entry->batch().samples) AddEntry(*entry);
    }
    TRY(AddBlocks(view.cuts));
    merged_.stacks = sums_.Take();
    if (periods_.size() == 1) merged_.period = *periods_.begin();
    return std::move(merged_);
  }

 private:
  void AddEntry(const HeadEntry& entry) {
    const SampleBatch& batch = *entry.batch().samples;
    std::vector<char> wanted;
    bool any = false;
    for (const SeriesRow& series : batch.series) {
      const bool fits =
          batch.Text(series.type) == request_.type &&
          (request_.service.empty() ||
           batch.Text(batch.resources[series.resource].service_name) == request_.service) &&
          MatchesLabels(batch, series, request_.matchers);
      wanted.push_back(fits ? 1 : 0);
      any = any || fits;
    }
    if (!any) return;
    for (const SampleRow& row : batch.samples) {
      if (wanted[row.series] == 0 || !request_.range.Contains(row.time)) continue;
      if (SliceOf(row.time) < engine_.floor_.profiles) continue;
      sums_.Add(static_cast<std::uint32_t>(entry.StackOf(row)), row.value, 1);
      periods_.insert(batch.series[row.series].period);
      ++merged_.samples;
    }
    merged_.inspected.rows += batch.samples.size();
  }

  Status AddBlocks(std::uint64_t cuts) {
    std::int64_t slice = std::max(SliceOf(request_.range.begin), engine_.floor_.profiles.load());
    const std::int64_t last = SliceOf({request_.range.end.ns - 1});
    const std::string tenant = SlicePrefix(request_.tenant, 0).substr(0, 4);
    std::unique_ptr<rocksdb::Iterator> it(
        engine_.db_->NewIterator({}, engine_.Of(Family::kSamples)));
    while (slice <= last) {
      const std::string prefix =
          request_.service.empty()
              ? SlicePrefix(request_.tenant, slice)
              : SampleBlockPrefix(request_.tenant, slice, request_.service, request_.type);
      it->Seek(prefix);
      for (; it->Valid() && it->key().starts_with(prefix); it->Next()) {
        if (!OfType({it->key().data(), it->key().size()})) continue;
        if (CutOf(*it) > cuts) continue;
        if (MonotonicNs() > request_.budget.deadline_monotonic_ns) {
          merged_.inspected.truncated = true;
          return {};
        }
        const Status status = AddBlock({it->value().data(), it->value().size()});
        if (!status) engine_.CountDamage(status.error(), "sample block");
      }
      TRY(FromRocks(it->status(), "samples"));
      // On to the next slice that holds anything.
      it->Seek(SlicePrefix(request_.tenant, slice + 1));
      if (!it->Valid() || !it->key().starts_with(tenant)) break;
      slice = LoadSlice(it->key().data() + 4);
    }
    return {};
  }

  static std::uint64_t CutOf(const rocksdb::Iterator& it) {
    return LoadBigEndian64(it.key().data() + it.key().size() - 12);
  }

  bool OfType(std::string_view key) const {
    ByteReader reader(key.substr(kSlicePrefixBytes));
    reader.Sized();
    return reader.Sized() == request_.type;
  }

  Status AddBlock(std::string_view bytes) {
    TRY_ASSIGN(const SampleBlock block, SampleBlock::Open(bytes));
    ++merged_.inspected.blocks;
    merged_.inspected.bytes += bytes.size();
    if (!request_.range.Touches({block.min_time()}, {block.max_time()})) return {};
    std::vector<char> wanted;
    bool all =
        request_.range.Contains({block.min_time()}) && request_.range.Contains({block.max_time()});
    for (const BlockSeries& series : block.series()) {
      const bool fits = MatchesLabels(AttributeList(series.resource), AttributeList(series.labels),
                                      request_.matchers);
      wanted.push_back(fits ? 1 : 0);
      all = all && fits;
    }
    if (all) {
      for (std::uint32_t i = 0; i < block.stacks(); ++i) {
        const StackSum sum = block.Sum(i);
        sums_.Add(static_cast<std::uint32_t>(sum.stack), sum.sum, sum.count);
      }
      for (const BlockSeries& series : block.series()) periods_.insert(series.period);
      merged_.samples += block.size();
      merged_.inspected.rows += block.stacks();
      return {};
    }
    for (std::uint32_t i = 0; i < block.size(); ++i) {
      const BlockSample row = block.Row(i);
      if (wanted[row.series] == 0 || !request_.range.Contains({row.time})) continue;
      sums_.Add(row.stack, row.value, 1);
      periods_.insert(block.series()[row.series].period);
      ++merged_.samples;
    }
    merged_.inspected.rows += block.size();
    return {};
  }

  const EmbeddedEngine& engine_;
  const SampleMerge& request_;
  StackSums sums_;
  std::set<std::int64_t> periods_;
  MergedSamples merged_;
};

Result<MergedSamples> EmbeddedEngine::MergeSamples(const SampleMerge& request) {
  return SampleMerger(*this, request).Run();
}

Result<FrameTable> EmbeddedEngine::ReadStacks(std::span<const StackNumber> stacks) {
  FrameTable table;
  // Frames of a location stand once in the table.
  std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> frames_of_location;
  std::vector<std::uint32_t> locations;
  std::vector<Frame> frames;
  for (const StackNumber number : stacks) {
    const auto stack = static_cast<std::uint32_t>(number);
    if (table.stacks.contains(number)) continue;
    locations.clear();
    TRY_ASSIGN(const bool found, FindStack(stack, locations));
    if (!found) continue;
    auto& indices = table.stacks[number];
    for (const std::uint32_t location : locations) {
      auto known = frames_of_location.find(location);
      if (known == frames_of_location.end()) {
        frames.clear();
        TRY(FindLocation(location, frames));
        known = frames_of_location.emplace(location, std::vector<std::uint32_t>()).first;
        for (Frame& frame : frames) {
          known->second.push_back(static_cast<std::uint32_t>(table.frames.size()));
          table.frames.push_back(std::move(frame));
        }
      }
      indices.insert(indices.end(), known->second.begin(), known->second.end());
    }
  }
  return table;
}

Result<bool> EmbeddedEngine::FindStack(std::uint32_t stack,
                                       std::vector<std::uint32_t>& locations) const {
  const std::uint32_t number = stack / kStacksPerPage;
  auto page = pages_.stacks.Find(number);
  if (!page) {
    if (interner_->FindStack(stack, locations)) return true;
    rocksdb::PinnableSlice bytes;
    const Status status = Get(Family::kStacks, PageKey(number), bytes);
    if (!status && status.error().code() == Code::kNotFound) return false;
    TRY(status);
    page = std::make_shared<const StackPage>(DecodeStackPage({bytes.data(), bytes.size()}));
    pages_.stacks.Put(number, page);
  }
  const std::uint32_t index = stack % kStacksPerPage;
  if (index >= page->size()) return false;
  locations = (*page)[index];
  return true;
}

Status EmbeddedEngine::FindLocation(std::uint32_t location, std::vector<Frame>& frames) const {
  const std::uint32_t number = location / kLocationsPerPage;
  auto page = pages_.locations.Find(number);
  if (!page) {
    if (interner_->FindLocation(location, frames)) return {};
    rocksdb::PinnableSlice bytes;
    TRY(Get(Family::kLocations, PageKey(number), bytes));
    page = std::make_shared<const LocationPage>(DecodeLocationPage({bytes.data(), bytes.size()}));
    pages_.locations.Put(number, page);
  }
  const std::uint32_t index = location % kLocationsPerPage;
  if (index >= page->size())
    return Fail(Code::kDataLoss, "stack names a location that is not there");
  frames.insert(frames.end(), (*page)[index].begin(), (*page)[index].end());
  return {};
}

}  // namespace hotspan::storage::embedded
