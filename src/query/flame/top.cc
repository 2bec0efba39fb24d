#include "query/flame/top.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace hotspan::query::flame {
namespace {

constexpr std::uint32_t kNone = UINT32_MAX;

struct Costs {
  std::int64_t self = 0;
  std::int64_t total = 0;
  std::uint64_t self_samples = 0;
  std::uint64_t total_samples = 0;
  std::uint32_t last_stack = kNone;  // the last one counted into `total`

  void Add(const WeightedStack& stack, std::uint32_t number, bool is_leaf) {
    if (is_leaf) {
      self = AddSaturating(self, stack.value);
      self_samples += stack.count;
    }
    if (last_stack == number) return;
    last_stack = number;
    total = AddSaturating(total, stack.value);
    total_samples += stack.count;
  }
};

struct LineEntry {
  std::uint32_t function = 0;
  std::int32_t line = 0;
  Costs costs;
};

struct FunctionEntry {
  std::uint32_t frame = 0;  // one of its frames
  std::string label;
  Costs costs;
};

// Numbers of functions (label and file) and of their lines, found once for each frame.
class Table {
 public:
  explicit Table(const FrameTable& frames)
      : frames_(frames),
        function_of_(frames.frames.size(), kNone),
        line_of_(frames.frames.size()) {}

  void Add(const std::vector<std::uint32_t>& stack, const WeightedStack& weight,
           std::uint32_t number) {
    bool is_leaf = true;
    for (const std::uint32_t frame : stack) {
      if (function_of_[frame] == kNone) Intern(frame);
      functions_[function_of_[frame]].costs.Add(weight, number, is_leaf);
      lines_[line_of_[frame]].costs.Add(weight, number, is_leaf);
      is_leaf = false;
    }
  }

  std::vector<TopRow> Rows(std::size_t limit) {
    std::vector<std::uint32_t> order(functions_.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
    const auto before = [this](std::uint32_t a, std::uint32_t b) {
      const FunctionEntry& x = functions_[a];
      const FunctionEntry& y = functions_[b];
      return std::tie(y.costs.self, y.costs.total, x.label, FileOf(x)) <
             std::tie(x.costs.self, x.costs.total, y.label, FileOf(y));
    };
    const std::size_t count = std::min(limit, order.size());
    const auto end = order.begin() + static_cast<std::ptrdiff_t>(count);
    if (count < order.size()) {
      // Half by self, half by total: who calls the slow code matters as much as the code.
      const auto half = order.begin() + static_cast<std::ptrdiff_t>((count + 1) / 2);
      std::partial_sort(order.begin(), half, order.end(), before);
      std::partial_sort(half, end, order.end(), [&](std::uint32_t a, std::uint32_t b) {
        const std::int64_t x = functions_[a].costs.total, y = functions_[b].costs.total;
        return x != y ? x > y : before(a, b);
      });
    }
    std::sort(order.begin(), end, before);
    std::vector<TopRow> rows;
    std::vector<std::uint32_t> row_of(functions_.size(), kNone);
    rows.reserve(count);
    for (std::size_t i = 0; i < count; ++i) {
      row_of[order[i]] = static_cast<std::uint32_t>(i);
      rows.push_back(RowOf(functions_[order[i]]));
    }
    for (const LineEntry& line : lines_) {
      if (row_of[line.function] == kNone || line.line == 0) continue;
      rows[row_of[line.function]].lines.push_back(
          {line.line, line.costs.self, line.costs.total, line.costs.total_samples});
    }
    for (TopRow& row : rows) SortLines(row);
    return rows;
  }

 private:
  const std::string& FileOf(const FunctionEntry& entry) const {
    return frames_.frames[entry.frame].file;
  }

  TopRow RowOf(const FunctionEntry& entry) const {
    const Frame& frame = frames_.frames[entry.frame];
    TopRow row;
    row.function = entry.label;
    row.file = frame.file;
    row.module = frame.module;
    row.self = entry.costs.self;
    row.total = entry.costs.total;
    row.self_samples = entry.costs.self_samples;
    row.total_samples = entry.costs.total_samples;
    return row;
  }

  static void SortLines(TopRow& row) {
    std::sort(row.lines.begin(), row.lines.end(), [](const LineCost& a, const LineCost& b) {
      return std::tie(b.self, b.total, a.line) < std::tie(a.self, a.total, b.line);
    });
    if (!row.lines.empty()) row.line = row.lines.front().line;
  }

  void Intern(std::uint32_t number) {
    const Frame& frame = frames_.frames[number];
    std::string label = FrameLabel(frame);
    const auto [entry, is_new] = function_numbers_.try_emplace(
        std::pair(label, frame.file), static_cast<std::uint32_t>(functions_.size()));
    if (is_new) functions_.push_back({number, std::move(label), {}});
    const std::uint32_t function = entry->second;
    const std::uint64_t line_key =
        (static_cast<std::uint64_t>(function) << 32) | static_cast<std::uint32_t>(frame.line);
    const auto [line, line_is_new] =
        line_numbers_.try_emplace(line_key, static_cast<std::uint32_t>(lines_.size()));
    if (line_is_new) lines_.push_back({function, frame.line, {}});
    function_of_[number] = function;
    line_of_[number] = line->second;
  }

  const FrameTable& frames_;
  std::vector<std::uint32_t> function_of_;
  std::vector<std::uint32_t> line_of_;
  std::vector<FunctionEntry> functions_;
  std::vector<LineEntry> lines_;
  std::map<std::pair<std::string, std::string>, std::uint32_t> function_numbers_;
  std::unordered_map<std::uint64_t, std::uint32_t> line_numbers_;
};

}  // namespace

std::vector<TopRow> TopTable(const FrameTable& frames, std::span<const WeightedStack> stacks,
                             std::size_t limit) {
  Table table(frames);
  std::uint32_t number = 0;
  for (const WeightedStack& weighted : stacks) {
    const auto found = frames.stacks.find(weighted.stack);
    if (found == frames.stacks.end() || weighted.value <= 0) continue;
    table.Add(found->second, weighted, number++);
  }
  return table.Rows(limit);
}

}  // namespace hotspan::query::flame
