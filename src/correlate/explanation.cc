#include "correlate/explanation.h"

#include <array>

namespace hotspan::correlate {
namespace {

constexpr std::array<std::string_view, 4> kTiers = {"auto", "span", "local_root", "service"};
constexpr std::array<std::string_view, 2> kModes = {"self", "with_children"};
constexpr std::array<std::string_view, kLedgerClasses> kClasses = {
    "child", "on_cpu", "gc",    "runnable", "lock",      "io",
    "net",   "wait",   "sleep", "off_cpu",  "unobserved"};
constexpr std::array<std::string_view, 4> kSeverities = {"info", "low", "medium", "high"};

template <typename Enum, std::size_t kSize>
std::optional<Enum> Parse(const std::array<std::string_view, kSize>& names, std::string_view name) {
  for (std::size_t i = 0; i < kSize; ++i) {
    if (names[i] == name) return static_cast<Enum>(i);
  }
  return std::nullopt;
}

}  // namespace

std::string_view TierName(Tier tier) { return kTiers[static_cast<std::size_t>(tier)]; }
std::optional<Tier> ParseTier(std::string_view name) { return Parse<Tier>(kTiers, name); }
std::string_view ModeName(Mode mode) { return kModes[static_cast<std::size_t>(mode)]; }
std::optional<Mode> ParseMode(std::string_view name) { return Parse<Mode>(kModes, name); }
std::string_view LedgerClassName(LedgerClass cls) {
  return kClasses[static_cast<std::size_t>(cls)];
}
std::string_view SeverityName(Severity severity) {
  return kSeverities[static_cast<std::size_t>(severity)];
}

}  // namespace hotspan::correlate
