#include "cli/flame_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "cli/format.h"

namespace hotspan::cli {
namespace {

constexpr std::size_t kBarWidth = 20;
constexpr std::size_t kNameWidth = 90;

struct Bar {
  std::int64_t begin = 0;
  std::int64_t total = 0;
  std::int64_t self = 0;
  std::string_view name;
};

using Levels = std::vector<std::vector<Bar>>;

// Offsets from the bar before become positions.
Levels ReadLevels(const Json& flame) {
  std::vector<std::string_view> names;
  for (const auto& name : ArrayOf(flame, "names")) {
    names.push_back(TextIn(name));
  }
  Levels levels;
  for (const auto& level : ArrayOf(flame, "levels")) {
    std::vector<std::int64_t> numbers;
    simdjson::dom::array array;
    if (level.get(array) != simdjson::SUCCESS) break;
    for (const auto& number : array) {
      numbers.push_back(IntIn(number));
    }
    std::vector<Bar> bars;
    std::int64_t at = 0;
    for (std::size_t i = 0; i + 3 < numbers.size(); i += 4) {
      at += numbers[i];
      const auto name = static_cast<std::size_t>(numbers[i + 3]);
      bars.push_back({at, numbers[i + 1], numbers[i + 2],
                      name < names.size() ? names[name] : std::string_view("?")});
      at += numbers[i + 1];
    }
    levels.push_back(std::move(bars));
  }
  return levels;
}

struct Printer {
  std::ostream& out;
  const Levels& levels;
  std::int64_t total = 0;
  double share_min = 0;
  std::size_t lines_left = 0;
  std::size_t first = 0;  // level of the first line

  // Recursion is as deep as the levels, which the server bounds by the depth of stacks.
  void Print(std::size_t level, const Bar& bar) {
    const double share = static_cast<double>(bar.total) / static_cast<double>(total);
    if (lines_left == 0 || share < share_min) return;
    --lines_left;
    const auto filled = static_cast<std::size_t>(share * static_cast<double>(kBarWidth) + 0.5);
    std::string drawn;
    for (std::size_t i = 0; i < kBarWidth; ++i) drawn += i < filled ? "█" : "·";
    const std::string self =
        bar.self > 0
            ? fmt::format("  (self {})",
                          FormatPercent(static_cast<double>(bar.self) / static_cast<double>(total)))
            : std::string();
    out << fmt::format("  {} {:>6}  {}{}{}\n", drawn, FormatPercent(share),
                       std::string(std::min<std::size_t>(level - first, 40) * 2, ' '),
                       Cut(bar.name, kNameWidth), self);
    if (level + 1 >= levels.size()) return;
    const auto& below = levels[level + 1];
    auto child = std::lower_bound(below.begin(), below.end(), bar.begin,
                                  [](const Bar& b, std::int64_t at) { return b.begin < at; });
    for (; child != below.end() && child->begin < bar.begin + bar.total; ++child) {
      Print(level + 1, *child);
    }
  }
};

}  // namespace

void PrintFlame(std::ostream& out, const Json& flame, double share_min, std::size_t lines_max) {
  const Levels levels = ReadLevels(flame);
  if (levels.empty() || levels[0].empty() || levels[0][0].total <= 0) {
    out << "  (no samples)\n";
    return;
  }
  // The way from the thread's start to the work says nothing: frames that all samples share are
  // counted, and the last of them begins the picture.
  std::size_t first = 0;
  while (first + 1 < levels.size() && levels[first + 1].size() == 1 && levels[first][0].self == 0 &&
         levels[first + 1][0].total == levels[first][0].total) {
    ++first;
  }
  if (first > 1) out << fmt::format("  {} frames above are in all samples\n", first - 1);
  Printer printer{out, levels, levels[0][0].total, share_min, lines_max, first};
  printer.Print(first, levels[first][0]);
  if (printer.lines_left == 0) out << "  …\n";
}

}  // namespace hotspan::cli
