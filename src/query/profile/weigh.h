// Sums of samples by stack, per profile type.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/sample.h"
#include "query/flame/flame.h"
#include "storage/engine.h"

namespace hotspan::query::profile {

struct TypeStacks {
  std::string type;
  std::vector<flame::WeightedStack> stacks;  // sorted by number, each once
  std::uint64_t samples = 0;
  std::int64_t total = 0;
  std::int64_t period = 0;  // 0: not known or mixed
};

// One entry for each type that has samples, sorted by type. `link`: of that kind only.
std::vector<TypeStacks> WeighByType(const storage::SpanSamples& samples,
                                    std::optional<LinkKind> link = std::nullopt);

TypeStacks WeighMerged(const storage::MergedSamples& merged, std::string type);

}  // namespace hotspan::query::profile
