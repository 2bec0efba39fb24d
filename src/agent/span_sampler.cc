#include "agent/span_sampler.h"

#include <charconv>

#include "base/bytes.h"

namespace hotspan::agent {
namespace {

constexpr std::uint64_t kAlways = std::uint64_t{1} << 63;
constexpr std::string_view kParentBased = "parentbased_";

std::optional<double> ParseRatio(std::string_view text) {
  if (text.empty()) return 1.0;
  double ratio = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), ratio);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  if (!(ratio >= 0 && ratio <= 1)) return std::nullopt;
  return ratio;
}

}  // namespace

std::optional<SpanSampler> SpanSampler::Make(std::string_view name, std::string_view argument) {
  SpanSampler sampler;
  sampler.description_ = name;
  sampler.parent_based_ = name.starts_with(kParentBased);
  std::string_view root = name;
  if (sampler.parent_based_) root.remove_prefix(kParentBased.size());
  if (root == "always_on") {
    sampler.bound_ = kAlways;
  } else if (root == "always_off") {
    sampler.bound_ = 0;
  } else if (root == "traceidratio") {
    const std::optional<double> ratio = ParseRatio(argument);
    if (!ratio) return std::nullopt;
    sampler.bound_ =
        *ratio >= 1 ? kAlways : static_cast<std::uint64_t>(*ratio * static_cast<double>(kAlways));
    if (!argument.empty()) sampler.description_ += " " + std::string(argument);
  } else {
    return std::nullopt;
  }
  return sampler;
}

bool SpanSampler::Sample(const SpanContext* parent, const TraceIdBytes& trace_id) const {
  if (parent_based_ && parent != nullptr) return parent->sampled();
  std::uint64_t word = 0;
  __builtin_memcpy(&word, trace_id.data() + 8, sizeof(word));
  return (__builtin_bswap64(word) >> 1) < bound_;
}

}  // namespace hotspan::agent
