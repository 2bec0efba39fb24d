#include "query/profiles.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/limits.h"
#include "query/search.h"

namespace hotspan::query {
namespace {

using storage::Inspected;

void Add(Inspected& sum, const Inspected& more) {
  sum.blocks += more.blocks;
  sum.rows += more.rows;
  sum.bytes += more.bytes;
  sum.truncated = sum.truncated || more.truncated;
}

MergedProfile ProfileOf(profile::TypeStacks stacks, std::shared_ptr<const FrameTable> frames) {
  MergedProfile out;
  out.type = std::move(stacks.type);
  out.frames = std::move(frames);
  out.stacks = std::move(stacks.stacks);
  out.samples = stacks.samples;
  out.total = stacks.total;
  out.period = stacks.period;
  return out;
}

Result<std::shared_ptr<const FrameTable>> ReadFrames(
    FrameReader& frames, const std::vector<profile::TypeStacks>& types) {
  std::vector<StackNumber> numbers;
  for (const profile::TypeStacks& type : types) {
    for (const flame::WeightedStack& stack : type.stacks) numbers.push_back(stack.stack);
  }
  std::ranges::sort(numbers);
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  return frames.Read(numbers);
}

// Adds the sums of `more` to `sum`; both sorted by stack.
void Merge(profile::TypeStacks& sum, const profile::TypeStacks& more) {
  if (sum.samples > 0 && sum.period != more.period) {
    sum.period = 0;
  } else {
    sum.period = more.period;
  }
  std::vector<flame::WeightedStack> out;
  out.reserve(sum.stacks.size() + more.stacks.size());
  std::ranges::merge(sum.stacks, more.stacks, std::back_inserter(out), {},
                     &flame::WeightedStack::stack, &flame::WeightedStack::stack);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (kept > 0 && out[kept - 1].stack == out[i].stack) {
      out[kept - 1].value = flame::AddSaturating(out[kept - 1].value, out[i].value);
      out[kept - 1].count += out[i].count;
    } else {
      out[kept++] = out[i];
    }
  }
  out.resize(kept);
  sum.stacks = std::move(out);
  sum.samples += more.samples;
  sum.total = flame::AddSaturating(sum.total, more.total);
}

// Each once: a client's and a server's span may share an id.
std::vector<storage::SpanKey> KeysOf(const FoundSpans& found) {
  std::vector<storage::SpanKey> keys;
  keys.reserve(found.spans.size());
  for (const FoundSpan& span : found.spans) keys.push_back({span.trace_id, span.span_id});
  std::ranges::sort(keys);
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  return keys;
}

// Counts a chunk of spans into the pool.
Status AddChunk(storage::Engine& engine, const storage::SamplesBySpans& request,
                std::optional<LinkKind> link, profile::TypeStacks& sum, PooledProfile& out) {
  TRY_ASSIGN(const storage::SpanSamples read, engine.ReadSamples(request));
  Add(out.profile.inspected, read.inspected);
  std::set<std::uint32_t> spans;
  for (const storage::SpanSample& sample : read.samples) {
    if (!link || sample.link == *link) spans.insert(sample.span);
  }
  out.spans_with_samples += spans.size();
  for (const profile::TypeStacks& type : profile::WeighByType(read, link)) {
    if (type.type == sum.type) Merge(sum, type);
  }
  return {};
}

}  // namespace

Result<MergedProfile> ReadProfile(storage::Engine& engine, FrameReader& frames, TenantId tenant,
                                  const profile::Selector& selector, TimeRange range,
                                  const storage::Budget& budget) {
  TRY_ASSIGN(const storage::MergedSamples merged,
             engine.MergeSamples(profile::ToSampleMerge(selector, tenant, range, budget)));
  std::vector<profile::TypeStacks> types;
  types.push_back(profile::WeighMerged(merged, selector.type));
  TRY_ASSIGN(auto table, ReadFrames(frames, types));
  MergedProfile out = ProfileOf(std::move(types[0]), std::move(table));
  out.inspected = merged.inspected;
  return out;
}

Result<SpanProfile> ReadSpanProfile(storage::Engine& engine, FrameReader& frames, TenantId tenant,
                                    std::span<const storage::SpanKey> spans,
                                    const std::string& type, std::optional<LinkKind> link,
                                    const storage::Budget& budget) {
  SpanProfile out;
  if (spans.empty()) return out;
  TRY_ASSIGN(out.samples, engine.ReadSamples({tenant, {spans.begin(), spans.end()}, type, budget}));
  std::vector<profile::TypeStacks> types = profile::WeighByType(out.samples, link);
  TRY_ASSIGN(const auto table, ReadFrames(frames, types));
  for (profile::TypeStacks& stacks : types) {
    out.types.push_back(ProfileOf(std::move(stacks), table));
    out.types.back().inspected = out.samples.inspected;
  }
  return out;
}

Result<PooledProfile> ReadPooledProfile(storage::Engine& engine, FrameReader& frames,
                                        TenantId tenant, TimeRange range, const std::string& query,
                                        const std::string& type, std::optional<LinkKind> link,
                                        const storage::Budget& budget) {
  if (type.empty()) return Fail(Code::kInvalidArgument, "profile type is missing");
  TRY_ASSIGN(const FoundSpans found,
             FindSpans(engine, tenant, range, query, limits::kPooledSpansMax, budget));
  PooledProfile out;
  const std::vector<storage::SpanKey> keys = KeysOf(found);
  out.spans = keys.size();
  out.truncated = found.inspected.truncated || found.spans.size() == limits::kPooledSpansMax;
  out.profile.inspected = found.inspected;
  profile::TypeStacks sum;
  sum.type = type;
  storage::SamplesBySpans request{tenant, {}, type, budget};
  for (std::size_t i = 0; i < keys.size(); i += limits::kSpansPerSampleReadMax) {
    const std::size_t end = std::min(keys.size(), i + limits::kSpansPerSampleReadMax);
    request.spans.assign(keys.begin() + static_cast<std::ptrdiff_t>(i),
                         keys.begin() + static_cast<std::ptrdiff_t>(end));
    TRY(AddChunk(engine, request, link, sum, out));
  }
  std::vector<profile::TypeStacks> types;
  types.push_back(std::move(sum));
  TRY_ASSIGN(auto table, ReadFrames(frames, types));
  const Inspected inspected = out.profile.inspected;
  out.profile = ProfileOf(std::move(types[0]), std::move(table));
  out.profile.inspected = inspected;
  return out;
}

}  // namespace hotspan::query
