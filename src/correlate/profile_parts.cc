#include "correlate/profile_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "correlate/frame_traits.h"
#include "correlate/ledger.h"
#include "correlate/statistics.h"

namespace hotspan::correlate {
namespace {

using query::flame::WeightedStack;

// Fills flame, top and total from stacks; `looks` is the effective n of the shares' intervals.
void Fill(const FrameTable& frames, const std::vector<WeightedStack>& stacks, double looks,
          ProfilePart& part) {
  part.flame = query::flame::BuildFlame(frames, stacks);
  part.total = 0;
  for (const WeightedStack& stack : stacks) part.total += stack.value;
  for (query::flame::TopRow& row : query::flame::TopTable(frames, stacks, kTopRowsMax)) {
    TopEntry entry;
    const double share =
        part.total > 0 ? static_cast<double>(row.total) / static_cast<double>(part.total) : 0;
    const ShareInterval interval = WilsonInterval(share * looks, looks);
    entry.share = interval.share;
    entry.share_low = interval.low;
    entry.share_high = interval.high;
    entry.row = std::move(row);
    part.top.push_back(std::move(entry));
  }
  std::size_t unnamed = 0;
  for (const Frame& frame : frames.frames) unnamed += frame.symbolized ? 0 : 1;
  if (unnamed * 10 > frames.frames.size()) {
    part.note += fmt::format("{}{} of {} frames have no names: debug information is missing",
                             part.note.empty() ? "" : "; ", unnamed, frames.frames.size());
  }
}

// Stacks that hold a function with the name of the span's last part; empty if there is none.
std::vector<WeightedStack> FocusByName(const FrameTable& frames, std::string_view span_name,
                                       const std::vector<WeightedStack>& stacks) {
  const std::size_t at = span_name.find_last_of(". /:");
  const std::string wanted = Canonical(at == span_name.npos ? span_name : span_name.substr(at + 1));
  std::vector<WeightedStack> focused;
  if (wanted.size() < 3) return focused;
  std::vector<bool> named(frames.frames.size());
  for (std::size_t i = 0; i < named.size(); ++i) {
    named[i] = Canonical(LastPart(QualifiedName(frames.frames[i].function))) == wanted;
  }
  for (const WeightedStack& stack : stacks) {
    const auto found = frames.stacks.find(stack.stack);
    if (found == frames.stacks.end()) continue;
    if (std::any_of(found->second.begin(), found->second.end(),
                    [&](std::uint32_t frame) { return named[frame]; })) {
      focused.push_back(stack);
    }
  }
  return focused;
}

Result<storage::MergedSamples> Merge(storage::Engine& engine, const ServicePartRequest& request,
                                     TimeRange range, bool same_version) {
  storage::SampleMerge merge;
  merge.tenant = request.tenant;
  merge.type = request.type;
  merge.service = request.service;
  merge.range = range;
  merge.budget = request.budget;
  if (same_version) merge.matchers.push_back({"service.version", request.version, false});
  return engine.MergeSamples(merge);
}

}  // namespace

Result<ProfilePart> PartOfSamples(query::FrameReader& frames,
                                  const std::vector<storage::SpanSample>& samples,
                                  const std::string& type) {
  ProfilePart part;
  part.type = type;
  part.samples = samples.size();
  std::map<StackNumber, WeightedStack> sums;
  std::vector<Look> looks;
  double weight = 0;  // looks that rows of several periods stand for
  for (const storage::SpanSample& sample : samples) {
    WeightedStack& sum = sums[sample.stack];
    sum.stack = sample.stack;
    sum.value += sample.value;
    ++sum.count;
    part.period_ns = std::max(part.period_ns, sample.period);
    looks.push_back({sample.thread, sample.time, static_cast<std::uint32_t>(sample.stack)});
    const bool several = IsCpuType(type) && sample.period > 0 && sample.value > sample.period;
    weight += several ? static_cast<double>(sample.value / sample.period) : 1;
  }
  std::vector<WeightedStack> stacks;
  std::vector<StackNumber> numbers;
  for (const auto& [number, sum] : sums) {
    stacks.push_back(sum);
    numbers.push_back(number);
  }
  TRY_ASSIGN(const std::shared_ptr<const FrameTable> table, frames.Read(numbers));
  const double rows = std::max<double>(1, static_cast<double>(samples.size()));
  const auto independent = static_cast<double>(IndependentLooks(looks, part.period_ns));
  Fill(*table, stacks, weight * independent / rows, part);
  return part;
}

Result<ProfilePart> PartOfService(storage::Engine& engine, query::FrameReader& frames,
                                  const ServicePartRequest& request) {
  ProfilePart part;
  part.type = request.type;
  part.tier = Tier::kService;
  storage::MergedSamples merged;
  std::int64_t seconds = 0;
  bool same_version = !request.version.empty();
  for (const DurationNs margin : {DurationNs{30 * kSecond.ns}, DurationNs{kMinute.ns},
                                  DurationNs{2 * kMinute.ns}, kServiceWindowMax}) {
    part.window = Around(request.span, margin);
    seconds = margin.ns / kSecond.ns;
    TRY_ASSIGN(merged, Merge(engine, request, part.window, same_version));
    if (merged.samples >= kServiceSamplesMin) break;
  }
  if (merged.samples == 0 && same_version) {
    same_version = false;
    TRY_ASSIGN(merged, Merge(engine, request, part.window, false));
  }
  std::vector<WeightedStack> stacks;
  std::vector<StackNumber> numbers;
  for (const storage::StackSum& sum : merged.stacks) {
    stacks.push_back({sum.stack, sum.sum, sum.count});
    numbers.push_back(sum.stack);
  }
  std::sort(stacks.begin(), stacks.end(),
            [](const WeightedStack& a, const WeightedStack& b) { return a.stack < b.stack; });
  part.samples = merged.samples;
  part.period_ns = merged.period;
  part.note =
      fmt::format("by time only, {} s around the span{}: contains other requests of the service",
                  seconds, same_version ? " and of its version" : "");
  TRY_ASSIGN(const std::shared_ptr<const FrameTable> table, frames.Read(numbers));
  if (std::vector<WeightedStack> focused = FocusByName(*table, request.span_name, stacks);
      !focused.empty()) {
    stacks = std::move(focused);
    part.samples = 0;
    for (const WeightedStack& stack : stacks) part.samples += stack.count;
    part.note += "; focused by name on the function that is called like the span";
  }
  Fill(*table, stacks, static_cast<double>(part.samples), part);
  return part;
}

}  // namespace hotspan::correlate
