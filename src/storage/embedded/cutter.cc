#include "storage/embedded/cutter.h"

#include <algorithm>
#include <tuple>

#include "storage/embedded/sample_block.h"
#include "storage/embedded/span_block.h"
#include "storage/source.h"

namespace hotspan::storage::embedded {
namespace {

using TenantSlice = std::pair<TenantId, std::int64_t>;

std::string CutSuffix(std::string key, std::uint64_t cut) {
  AppendBigEndian64(key, cut);
  return key;
}

// Orders spans so that those of a trace stand together and traces stand by their first start: a
// trace is a run or two, and a range of time few chunks.
void SortForChunks(std::vector<SpanRef>& spans) {
  std::ranges::sort(spans, [](const SpanRef& a, const SpanRef& b) {
    return std::tie(a.row->trace_id, a.row->start) < std::tie(b.row->trace_id, b.row->start);
  });
  struct Trace {
    std::int64_t start;
    std::size_t begin, end;
  };
  std::vector<Trace> traces;
  for (std::size_t begin = 0; begin < spans.size();) {
    std::size_t end = begin;
    while (end < spans.size() && spans[end].row->trace_id == spans[begin].row->trace_id) ++end;
    traces.push_back({spans[begin].row->start.ns, begin, end});
    begin = end;
  }
  std::ranges::sort(traces, [](const Trace& a, const Trace& b) {
    return std::tie(a.start, a.begin) < std::tie(b.start, b.begin);
  });
  std::vector<SpanRef> sorted;
  sorted.reserve(spans.size());
  for (const Trace& trace : traces) {
    sorted.insert(sorted.end(), spans.begin() + static_cast<std::ptrdiff_t>(trace.begin),
                  spans.begin() + static_cast<std::ptrdiff_t>(trace.end));
  }
  spans.swap(sorted);
}

void CutSpans(const Head& head, std::uint64_t cut, std::int64_t first_slice, CutRows& rows) {
  std::map<TenantSlice, std::vector<SpanRef>> by_slice;
  for (const auto& entry : head.entries()) {
    if (!entry->batch().spans) continue;
    const SpanBatch& batch = *entry->batch().spans;
    std::vector<SpanRef>* refs = nullptr;
    std::int64_t current = INT64_MIN;
    for (const SpanRow& row : batch.spans) {
      const std::int64_t slice = SliceOf(row.start);
      if (slice < first_slice) continue;
      if (refs == nullptr || slice != current) refs = &by_slice[{entry->batch().tenant, slice}];
      current = slice;
      refs->push_back({&batch, &row});
    }
  }
  std::map<TenantId, std::unordered_map<TraceId, std::vector<TraceRun>, TraceIdHasher>> traces;
  for (auto& [key, spans] : by_slice) {
    const auto& [tenant, slice] = key;
    SortForChunks(spans);
    auto& runs = traces[tenant];
    std::vector<SpanRef> chunk_spans;
    for (std::size_t begin = 0; begin < spans.size(); begin += kSpansPerChunk) {
      const auto chunk = static_cast<std::uint32_t>(begin / kSpansPerChunk);
      const std::size_t end = std::min<std::size_t>(begin + kSpansPerChunk, spans.size());
      chunk_spans.assign(spans.begin() + static_cast<std::ptrdiff_t>(begin),
                         spans.begin() + static_cast<std::ptrdiff_t>(end));
      for (std::uint32_t i = 0; i < chunk_spans.size(); ++i) {
        auto& of_trace = runs[chunk_spans[i].row->trace_id];
        if (!of_trace.empty() && of_trace.back().slice == slice && of_trace.back().chunk == chunk &&
            of_trace.back().first_row + of_trace.back().count == i) {
          ++of_trace.back().count;
        } else {
          of_trace.push_back({slice, chunk, i, 1});
        }
      }
      EncodedSpanChunk encoded = EncodeSpanChunk(chunk_spans);
      rows.Put(Family::kSpans, SpanChunkKey(tenant, slice, cut, chunk, 0), std::move(encoded.hot));
      for (std::size_t part = 0; part < encoded.wide.size(); ++part) {
        rows.Put(Family::kSpans,
                 SpanChunkKey(tenant, slice, cut, chunk, static_cast<std::uint8_t>(1 + part)),
                 std::move(encoded.wide[part]));
      }
    }
  }
  for (const auto& [tenant, runs] : traces) {
    for (const auto& [id, of_trace] : runs) {
      rows.Put(Family::kTraces, CutSuffix(IdPrefix(tenant, id.AsBytes()), cut),
               EncodeTraceRuns(of_trace));
    }
  }
}

// Samples of one (tenant, slice, service, type) on their way into blocks.
struct OpenBlock {
  std::vector<BlockSample> samples;
  std::vector<BlockSeries> series;
  std::uint32_t blocks = 0;
  std::string prefix;

  void Close(std::uint64_t cut, CutRows& rows) {
    if (samples.empty()) return;
    std::string key = CutSuffix(prefix, cut);
    AppendBigEndian32(key, blocks++);
    rows.Put(Family::kSamples, std::move(key), EncodeSampleBlock(samples, series));
    samples.clear();
    series.clear();
  }
};

using LinkKey = std::pair<TenantId, SpanId>;
struct LinkKeyHasher {
  std::size_t operator()(const LinkKey& key) const { return SpanIdHasher()(key.second); }
};
using Links = std::unordered_map<LinkKey, std::vector<LinkSample>, LinkKeyHasher>;

std::uint32_t TypeNumber(TypeNumbers& types, std::string_view type) {
  const auto known = types.find(type);
  if (known != types.end()) return known->second;
  const auto number = static_cast<std::uint32_t>(types.size());
  types.emplace(type, number);
  return number;
}

// Rows of blocks of one head entry. A block is looked up once for a run of rows of one series.
void CutEntrySamples(const HeadEntry& entry, std::int64_t first_slice, std::uint64_t cut,
                     std::map<std::string, OpenBlock>& blocks, CutRows& rows) {
  const SampleBatch& batch = *entry.batch().samples;
  struct Target {
    std::int64_t slice = INT64_MIN;
    OpenBlock* block = nullptr;
    std::uint32_t opened = UINT32_MAX;  // value of block->blocks when `series` was added
    std::uint32_t series = 0;
  };
  std::vector<Target> targets(batch.series.size());
  for (const SampleRow& row : batch.samples) {
    const std::int64_t slice = SliceOf(row.time);
    if (slice < first_slice) continue;
    Target& target = targets[row.series];
    const SeriesRow& series = batch.series[row.series];
    const ResourceRow& resource = batch.resources[series.resource];
    if (target.block == nullptr || target.slice != slice) {
      std::string prefix = SampleBlockPrefix(
          entry.batch().tenant, slice, batch.Text(resource.service_name), batch.Text(series.type));
      OpenBlock& block = blocks[prefix];
      if (block.prefix.empty()) block.prefix = std::move(prefix);
      target = {slice, &block, UINT32_MAX, 0};
    }
    OpenBlock& block = *target.block;
    if (block.samples.size() >= kSamplesPerBlock) block.Close(cut, rows);
    if (target.opened != block.blocks) {
      const BlockSeries described{batch.Text(resource.attributes), batch.Text(series.attributes),
                                  series.period};
      const auto known = std::ranges::find_if(block.series, [&](const BlockSeries& other) {
        return other.period == described.period && other.labels == described.labels &&
               other.resource == described.resource;
      });
      target.series = static_cast<std::uint32_t>(known - block.series.begin());
      if (known == block.series.end()) block.series.push_back(described);
      target.opened = block.blocks;
    }
    block.samples.push_back(
        {row.time.ns, row.value, static_cast<std::uint32_t>(entry.StackOf(row)), target.series});
  }
}

void CutEntryLinks(const HeadEntry& entry, std::int64_t first_slice, TypeNumbers& types,
                   Links& links) {
  const SampleBatch& batch = *entry.batch().samples;
  std::vector<std::uint32_t> type_numbers;
  for (const SeriesRow& series : batch.series) {
    type_numbers.push_back(TypeNumber(types, batch.Text(series.type)));
  }
  for (std::uint32_t number = 1; number < batch.links.size(); ++number) {
    const auto samples = entry.SamplesOfLink(number);
    if (samples.empty()) continue;
    const LinkRow& link = batch.links[number];
    auto& out = links[{entry.batch().tenant, link.span_id}];
    for (const std::uint32_t index : samples) {
      const SampleRow& row = batch.samples[index];
      if (SliceOf(row.time) < first_slice) continue;
      out.push_back({link.trace_id, link.kind, type_numbers[row.series],
                     batch.series[row.series].period,
                     static_cast<std::uint32_t>(entry.StackOf(row)), row.value, row.time.ns,
                     entry.ThreadOfLabels(row.labels)});
    }
  }
}

void CutSamples(const Head& head, std::uint64_t cut, TypeNumbers& types, std::int64_t first_slice,
                CutRows& rows) {
  std::map<std::string, OpenBlock> blocks;
  Links links;
  for (const auto& entry : head.entries()) {
    if (!entry->batch().samples) continue;
    CutEntrySamples(*entry, first_slice, cut, blocks, rows);
    CutEntryLinks(*entry, first_slice, types, links);
  }
  for (auto& [prefix, block] : blocks) block.Close(cut, rows);
  for (auto& [key, samples] : links) {
    if (samples.empty()) continue;
    rows.Put(Family::kLinks, CutSuffix(IdPrefix(key.first, key.second.AsBytes()), cut),
             EncodeLinkSamples(samples));
  }
}

void CutStacks(const StackGeneration& stacks, CutRows& rows) {
  const auto end_stack = static_cast<std::uint32_t>(stacks.first_stack + stacks.stacks());
  for (std::uint32_t page = stacks.first_stack / kStacksPerPage; page * kStacksPerPage < end_stack;
       ++page) {
    rows.Put(Family::kStacks, PageKey(page), EncodeStackPage(stacks, page));
  }
  const auto end_location = static_cast<std::uint32_t>(stacks.first_location + stacks.locations());
  for (std::uint32_t page = stacks.first_location / kLocationsPerPage;
       page * kLocationsPerPage < end_location; ++page) {
    rows.Put(Family::kLocations, PageKey(page), EncodeLocationPage(stacks, page));
  }
}

void CutCatalog(const Head& head, std::uint64_t cut, std::int64_t first_trace_slice,
                std::int64_t first_profile_slice, CutRows& rows) {
  std::map<TenantId, CatalogCounter> counters;
  std::map<TenantSlice, SliceTags> tags;
  for (const auto& entry : head.entries()) {
    const TenantId tenant = entry->batch().tenant;
    CatalogCounter& counter = counters[tenant];
    for (const auto& [key, stats] : entry->catalog().operations()) {
      if (std::get<0>(key) >= first_trace_slice) counter.Add(std::get<0>(key), stats);
    }
    for (const auto& [key, stats] : entry->catalog().profiles()) {
      if (std::get<0>(key) >= first_profile_slice) counter.Add(std::get<0>(key), stats);
    }
    for (const auto& [slice, of_entry] : entry->tags()) {
      if (slice < first_trace_slice) continue;
      SliceTags& sum = tags[{tenant, slice}];
      sum.resource.AddAll(of_entry.resource);
      sum.span.AddAll(of_entry.span);
    }
  }
  for (const auto& [tenant, counter] : counters) {
    std::map<std::int64_t, std::pair<std::vector<OperationStats>, std::vector<ProfileStats>>> sums;
    for (const auto& [key, stats] : counter.operations())
      sums[std::get<0>(key)].first.push_back(stats);
    for (const auto& [key, stats] : counter.profiles())
      sums[std::get<0>(key)].second.push_back(stats);
    for (const auto& [slice, counts] : sums) {
      rows.Put(Family::kCatalog, CutSuffix(SlicePrefix(tenant, slice), cut) + kCatalogCounts,
               EncodeCounts(counts.first, counts.second));
    }
  }
  for (const auto& [key, of_slice] : tags) {
    rows.Put(Family::kCatalog, CutSuffix(SlicePrefix(key.first, key.second), cut) + kCatalogTags,
             EncodeTags(of_slice));
  }
}

}  // namespace

CutRows CutHead(const Head& head, const StackGeneration& stacks, std::uint64_t cut,
                TypeNumbers& types, std::int64_t first_trace_slice,
                std::int64_t first_profile_slice) {
  CutRows rows;
  CutSpans(head, cut, first_trace_slice, rows);
  CutSamples(head, cut, types, first_profile_slice, rows);
  CutStacks(stacks, rows);
  CutCatalog(head, cut, first_trace_slice, first_profile_slice, rows);
  return rows;
}

std::string EncodeCounts(const std::vector<OperationStats>& operations,
                         const std::vector<ProfileStats>& profiles) {
  std::string out;
  AppendVarint(out, operations.size());
  for (const OperationStats& stats : operations) {
    AppendSized(out, stats.service);
    AppendSized(out, stats.name);
    out += static_cast<char>(stats.kind);
    AppendRaw(out, stats.first);
    AppendRaw(out, stats.last);
    AppendVarint(out, stats.spans);
    AppendVarint(out, stats.errors);
  }
  AppendVarint(out, profiles.size());
  for (const ProfileStats& stats : profiles) {
    for (const auto* text :
         {&stats.service, &stats.type, &stats.version, &stats.instance, &stats.agent}) {
      AppendSized(out, *text);
    }
    AppendRaw(out, stats.first);
    AppendRaw(out, stats.last);
    AppendVarint(out, stats.samples);
    AppendVarint(out, stats.span_linked);
    AppendVarint(out, stats.local_root_linked);
    AppendVarint(out, ZigZag(stats.period));
  }
  return out;
}

bool DecodeCounts(std::string_view bytes, std::vector<OperationStats>& operations,
                  std::vector<ProfileStats>& profiles) {
  ByteReader reader(bytes);
  for (std::uint64_t left = reader.Varint(); left > 0 && !reader.failed(); --left) {
    OperationStats& stats = operations.emplace_back();
    stats.service = reader.Sized();
    stats.name = reader.Sized();
    stats.kind = static_cast<SpanKind>(reader.Raw<std::uint8_t>());
    stats.first = reader.Raw<TimeNs>();
    stats.last = reader.Raw<TimeNs>();
    stats.spans = reader.Varint();
    stats.errors = reader.Varint();
  }
  for (std::uint64_t left = reader.Varint(); left > 0 && !reader.failed(); --left) {
    ProfileStats& stats = profiles.emplace_back();
    for (auto* text :
         {&stats.service, &stats.type, &stats.version, &stats.instance, &stats.agent}) {
      *text = reader.Sized();
    }
    stats.first = reader.Raw<TimeNs>();
    stats.last = reader.Raw<TimeNs>();
    stats.samples = reader.Varint();
    stats.span_linked = reader.Varint();
    stats.local_root_linked = reader.Varint();
    stats.period = reader.SignedVarint();
  }
  return !reader.failed();
}

std::string EncodeTags(const SliceTags& tags) {
  std::string out;
  for (const TagSet* set : {&tags.resource, &tags.span}) {
    out += set->truncated() ? '\1' : '\0';
    AppendVarint(out, set->values().size());
    for (const auto& [name, values] : set->values()) {
      AppendSized(out, name);
      AppendVarint(out, values.size());
      for (const auto& value : values) AppendSized(out, value);
    }
  }
  return out;
}

bool DecodeTags(std::string_view bytes, SliceTags& tags) {
  ByteReader reader(bytes);
  for (TagSet* set : {&tags.resource, &tags.span}) {
    if (reader.Raw<std::uint8_t>() != 0) set->SetTruncated();
    for (std::uint64_t names = reader.Varint(); names > 0 && !reader.failed(); --names) {
      const std::string_view name = reader.Sized();
      set->AddName(name);
      for (std::uint64_t values = reader.Varint(); values > 0 && !reader.failed(); --values) {
        set->Add(name, reader.Sized());
      }
    }
  }
  return !reader.failed();
}

std::string EncodeTraceRuns(const std::vector<TraceRun>& runs) {
  std::string out;
  std::int64_t newest = INT64_MIN;
  for (const TraceRun& run : runs) newest = std::max(newest, run.slice);
  AppendRaw(out, newest);
  for (const TraceRun& run : runs) {
    AppendVarint(out, ZigZag(newest - run.slice));
    AppendVarint(out, run.chunk);
    AppendVarint(out, run.first_row);
    AppendVarint(out, run.count);
  }
  return out;
}

bool DecodeTraceRuns(std::string_view bytes, std::vector<TraceRun>& runs) {
  ByteReader reader(bytes);
  const auto newest = reader.Raw<std::int64_t>();
  while (!reader.AtEnd()) {
    TraceRun run;
    run.slice = newest - reader.SignedVarint();
    run.chunk = static_cast<std::uint32_t>(reader.Varint());
    run.first_row = static_cast<std::uint32_t>(reader.Varint());
    run.count = static_cast<std::uint32_t>(reader.Varint());
    if (reader.failed()) return false;
    runs.push_back(run);
  }
  return true;
}

}  // namespace hotspan::storage::embedded
