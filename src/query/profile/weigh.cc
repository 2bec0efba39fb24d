#include "query/profile/weigh.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace hotspan::query::profile {
namespace {

void SortByNumber(std::vector<flame::WeightedStack>& stacks) {
  std::sort(stacks.begin(), stacks.end(),
            [](const auto& a, const auto& b) { return a.stack < b.stack; });
}

// Sums of one type under construction.
struct Sums {
  TypeStacks out;
  std::unordered_map<StackNumber, std::uint32_t> index;
  bool mixed_periods = false;

  void Add(const storage::SpanSample& sample) {
    const auto [entry, is_new] =
        index.try_emplace(sample.stack, static_cast<std::uint32_t>(out.stacks.size()));
    if (is_new) out.stacks.push_back({sample.stack, 0, 0});
    flame::WeightedStack& stack = out.stacks[entry->second];
    stack.value = flame::AddSaturating(stack.value, sample.value);
    ++stack.count;
    if (out.samples > 0 && out.period != sample.period) mixed_periods = true;
    out.period = sample.period;
    ++out.samples;
    out.total = flame::AddSaturating(out.total, sample.value);
  }
};

}  // namespace

std::vector<TypeStacks> WeighByType(const storage::SpanSamples& samples,
                                    std::optional<LinkKind> link) {
  std::vector<Sums> sums(samples.types.size());
  for (const storage::SpanSample& sample : samples.samples) {
    if (link && sample.link != *link) continue;
    if (sample.type < sums.size()) sums[sample.type].Add(sample);
  }
  std::vector<TypeStacks> out;
  for (std::size_t i = 0; i < sums.size(); ++i) {
    if (sums[i].out.samples == 0) continue;
    TypeStacks& type = sums[i].out;
    type.type = samples.types[i];
    if (sums[i].mixed_periods) type.period = 0;
    SortByNumber(type.stacks);
    out.push_back(std::move(type));
  }
  std::sort(out.begin(), out.end(),
            [](const TypeStacks& a, const TypeStacks& b) { return a.type < b.type; });
  return out;
}

TypeStacks WeighMerged(const storage::MergedSamples& merged, std::string type) {
  TypeStacks out;
  out.type = std::move(type);
  out.samples = merged.samples;
  out.period = merged.period;
  out.stacks.reserve(merged.stacks.size());
  for (const storage::StackSum& sum : merged.stacks) {
    out.stacks.push_back({sum.stack, sum.sum, sum.count});
    out.total = flame::AddSaturating(out.total, sum.sum);
  }
  SortByNumber(out.stacks);
  return out;
}

}  // namespace hotspan::query::profile
