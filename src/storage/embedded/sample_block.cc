#include "storage/embedded/sample_block.h"

#include <algorithm>
#include <tuple>

#include "base/bytes.h"
#include "storage/source.h"

namespace hotspan::storage::embedded {
namespace {

// On disk: never renumber; a new layout gets the next number.
constexpr std::uint32_t kBlockVersion = 0x31415348;  // "HSA1"

}  // namespace

std::string EncodeSampleBlock(std::vector<BlockSample>& samples,
                              const std::vector<BlockSeries>& series) {
  std::ranges::sort(samples, [](const BlockSample& a, const BlockSample& b) {
    return a.stack != b.stack ? a.stack < b.stack : a.time < b.time;
  });
  std::vector<std::int64_t> stacks, sums, counts, times, values, indices, sources;
  times.reserve(samples.size());
  for (const BlockSample& sample : samples) {
    if (stacks.empty() || stacks.back() != sample.stack) {
      stacks.push_back(sample.stack);
      sums.push_back(0);
      counts.push_back(0);
    }
    // Wraps on overflow, as sums of hostile values may.
    sums.back() = static_cast<std::int64_t>(static_cast<std::uint64_t>(sums.back()) +
                                            static_cast<std::uint64_t>(sample.value));
    ++counts.back();
    times.push_back(sample.time);
    values.push_back(sample.value);
    indices.push_back(static_cast<std::int64_t>(stacks.size() - 1));
    sources.push_back(sample.series);
  }
  const auto [min_time, max_time] = std::ranges::minmax(times);
  std::string out;
  AppendRaw(out, kBlockVersion);
  AppendRaw(out, min_time);
  AppendRaw(out, max_time);
  AppendVarint(out, series.size());
  for (const BlockSeries& entry : series) {
    AppendSized(out, entry.resource);
    AppendSized(out, entry.labels);
    AppendVarint(out, ZigZag(entry.period));
  }
  for (const auto* column : {&stacks, &sums, &counts, &times, &values, &indices, &sources}) {
    AppendColumn(out, *column);
  }
  return out;
}

Result<SampleBlock> SampleBlock::Open(std::string_view bytes) {
  ByteReader reader(bytes);
  SampleBlock block;
  if (reader.Raw<std::uint32_t>() != kBlockVersion) {
    return Fail(Code::kDataLoss, "sample block of unknown version");
  }
  block.min_time_ = reader.Raw<std::int64_t>();
  block.max_time_ = reader.Raw<std::int64_t>();
  const std::uint64_t series = reader.Varint();
  if (series > reader.remaining()) return Fail(Code::kDataLoss, "damaged sample block");
  for (std::uint64_t i = 0; i < series; ++i) {
    BlockSeries& entry = block.series_.emplace_back();
    entry.resource = reader.Sized();
    entry.labels = reader.Sized();
    entry.period = reader.SignedVarint();
  }
  for (ColumnView* column : {&block.stacks_, &block.sums_, &block.counts_, &block.times_,
                             &block.values_, &block.stack_indices_, &block.series_indices_}) {
    *column = ColumnView(reader);
  }
  const std::uint32_t rows = block.times_.size();
  if (reader.failed() || block.sums_.size() != block.stacks() ||
      block.counts_.size() != block.stacks() || block.values_.size() != rows ||
      block.stack_indices_.size() != rows || block.series_indices_.size() != rows) {
    return Fail(Code::kDataLoss, "damaged sample block");
  }
  if (rows > 0 && (block.stack_indices_.min() < 0 || block.stack_indices_.max() >= block.stacks() ||
                   block.series_indices_.min() < 0 ||
                   static_cast<std::uint64_t>(block.series_indices_.max()) >= series)) {
    return Fail(Code::kDataLoss, "damaged sample block");
  }
  return block;
}

std::string EncodeLinkSamples(std::vector<LinkSample>& samples) {
  const auto group = [](const LinkSample& sample) {
    return std::tie(sample.trace_id, sample.link, sample.type, sample.period);
  };
  std::ranges::sort(samples, [&](const LinkSample& a, const LinkSample& b) {
    return std::tuple(group(a), a.time) < std::tuple(group(b), b.time);
  });
  std::string out;
  std::int64_t newest = INT64_MIN;
  for (const auto& sample : samples) newest = std::max(newest, SliceOf({sample.time}));
  AppendRaw(out, newest);
  for (std::size_t begin = 0; begin < samples.size();) {
    std::size_t end = begin;
    while (end < samples.size() && group(samples[end]) == group(samples[begin])) ++end;
    const LinkSample& first = samples[begin];
    out.append(first.trace_id.AsBytes());
    out += static_cast<char>(first.link);
    AppendVarint(out, first.type);
    AppendVarint(out, ZigZag(first.period));
    AppendVarint(out, end - begin);
    std::int64_t time = 0;
    for (std::size_t i = begin; i < end; ++i) {
      AppendVarint(out, ZigZag(samples[i].time - time));
      AppendVarint(out, ZigZag(samples[i].value));
      AppendVarint(out, samples[i].stack);
      AppendVarint(out, samples[i].thread);
      time = samples[i].time;
    }
    begin = end;
  }
  return out;
}

bool DecodeLinkSamples(std::string_view bytes, std::vector<LinkSample>& samples) {
  ByteReader reader(bytes);
  reader.Raw<std::int64_t>();
  while (!reader.AtEnd()) {
    LinkSample sample;
    const std::string_view trace_id = reader.Bytes(16);
    if (reader.failed()) return false;
    sample.trace_id = TraceId::FromBytes(trace_id);
    sample.link = static_cast<LinkKind>(reader.Raw<std::uint8_t>());
    sample.type = static_cast<std::uint32_t>(reader.Varint());
    sample.period = reader.SignedVarint();
    const std::uint64_t count = reader.Varint();
    for (std::uint64_t i = 0; i < count; ++i) {
      sample.time += reader.SignedVarint();
      sample.value = reader.SignedVarint();
      sample.stack = static_cast<std::uint32_t>(reader.Varint());
      sample.thread = reader.Varint();
      if (reader.failed()) return false;
      samples.push_back(sample);
    }
  }
  return true;
}

}  // namespace hotspan::storage::embedded
