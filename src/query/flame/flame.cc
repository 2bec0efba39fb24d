#include "query/flame/flame.h"

#include <algorithm>
#include <functional>
#include <unordered_map>
#include <utility>

#include "query/flame/labels.h"

namespace hotspan::query::flame {
namespace {

struct Node {
  std::uint32_t label = 0;
  std::uint32_t first_child = 0;
  std::uint32_t child_count = 0;
  std::int64_t total = 0;
  std::int64_t self = 0;
};

// Builds the tree by grouping ranges of stacks that share a prefix, so that no map is needed.
class TreeBuilder {
 public:
  explicit TreeBuilder(const LabelledStacks& input) : input_(input) {
    order_.reserve(input.stacks.size());
    for (std::uint32_t i = 0; i < input.stacks.size(); ++i) order_.push_back({0, i});
  }

  std::vector<Node> Build() {
    nodes_.push_back({});
    for (const LabelledStack& stack : input_.stacks) {
      nodes_[0].total = AddSaturating(nodes_[0].total, stack.value);
    }
    std::vector<Pending> pending = {{0, 0, static_cast<std::uint32_t>(order_.size()), 0}};
    while (!pending.empty()) {
      const Pending next = pending.back();
      pending.pop_back();
      Expand(next, pending);
    }
    return std::move(nodes_);
  }

 private:
  struct Keyed {
    std::uint32_t token;
    std::uint32_t stack;
  };
  // The stacks order_[begin, end) share the first `depth` tokens, which lead to `node`.
  struct Pending {
    std::uint32_t node, begin, end, depth;
  };

  // One stack alone: the rest of it is a chain.
  void AddChain(const Pending& range) {
    const LabelledStack& stack = input_.stacks[order_[range.begin].stack];
    std::size_t node = range.node;
    for (std::uint32_t depth = range.depth; depth < stack.size; ++depth) {
      nodes_[node].first_child = static_cast<std::uint32_t>(nodes_.size());
      nodes_[node].child_count = 1;
      node = nodes_.size();
      nodes_.push_back({input_.tokens[stack.first + depth], 0, 0, stack.value, 0});
    }
    nodes_[node].self = AddSaturating(nodes_[node].self, stack.value);
  }

  void Expand(const Pending& range, std::vector<Pending>& pending) {
    if (range.end - range.begin == 1) return AddChain(range);
    std::uint32_t begin = range.begin;
    bool one_token = true;
    for (std::uint32_t i = range.begin; i < range.end; ++i) {
      const LabelledStack& stack = input_.stacks[order_[i].stack];
      if (stack.size == range.depth) {
        nodes_[range.node].self = AddSaturating(nodes_[range.node].self, stack.value);
        std::swap(order_[begin++], order_[i]);
        continue;
      }
      order_[i].token = input_.tokens[stack.first + range.depth];
      one_token = one_token && order_[i].token == order_[begin].token;
    }
    if (begin == range.end) return;
    if (!one_token) {
      std::sort(order_.begin() + begin, order_.begin() + range.end,
                [](const Keyed& a, const Keyed& b) { return a.token < b.token; });
    }
    AddChildren(range, begin, pending);
  }

  void AddChildren(const Pending& range, std::uint32_t begin, std::vector<Pending>& pending) {
    nodes_[range.node].first_child = static_cast<std::uint32_t>(nodes_.size());
    while (begin < range.end) {
      Node child;
      child.label = order_[begin].token;
      std::uint32_t end = begin;
      for (; end < range.end && order_[end].token == child.label; ++end) {
        child.total = AddSaturating(child.total, input_.stacks[order_[end].stack].value);
      }
      pending.push_back({static_cast<std::uint32_t>(nodes_.size()), begin, end, range.depth + 1});
      nodes_.push_back(child);
      ++nodes_[range.node].child_count;
      begin = end;
    }
  }

  const LabelledStacks& input_;
  std::vector<Keyed> order_;
  std::vector<Node> nodes_;
};

// Which nodes keep a bar: those above a total, and as many of exactly that total as there is room.
struct Threshold {
  std::int64_t total = 0;
  std::size_t room = 0;

  bool Keeps(const Node& node) {
    if (node.total != total) return node.total > total;
    if (room == 0) return false;
    --room;
    return true;
  }
};

Threshold FindThreshold(const std::vector<Node>& nodes, std::size_t max_nodes) {
  const std::size_t count = nodes.size() - 1;  // the root is always there
  if (count <= max_nodes) return {0, count};
  if (max_nodes == 0) return {INT64_MAX, 0};
  std::vector<std::int64_t> totals;
  totals.reserve(count);
  for (std::size_t i = 1; i < nodes.size(); ++i) totals.push_back(nodes[i].total);
  const auto nth = totals.begin() + static_cast<std::ptrdiff_t>(max_nodes - 1);
  std::nth_element(totals.begin(), nth, totals.end(), std::greater<>());
  const std::int64_t total = *nth;
  const auto above = std::count_if(totals.begin(), totals.end(),
                                   [total](std::int64_t other) { return other > total; });
  return {total, max_nodes - static_cast<std::size_t>(above)};
}

// Writes levels from the root down.
class Emitter {
 public:
  Emitter(LabelledStacks& input, std::vector<Node>& nodes, Threshold threshold)
      : input_(input),
        nodes_(nodes),
        threshold_(threshold),
        name_of_label_(input.labels.size(), kNoName) {}

  FlameGraph Emit() {
    graph_.total = nodes_[0].total;
    NameOf(0);
    std::vector<Bar> level = {{0, 0, nodes_[0].total, nodes_[0].self, 0}};
    while (!level.empty()) {
      EmitLevel(level);
      std::vector<Bar> next;
      for (const Bar& bar : level) {
        if (bar.node != kNoNode) AddChildren(bar, next);
      }
      level = std::move(next);
    }
    graph_.merged_nodes = nodes_.size() - kept_;
    return std::move(graph_);
  }

 private:
  static constexpr std::uint32_t kNoName = UINT32_MAX;
  static constexpr std::uint32_t kNoNode = UINT32_MAX;

  struct Bar {
    std::uint32_t node;
    std::int64_t x, total, self;
    std::uint32_t name;
  };

  std::uint32_t NameOf(std::uint32_t label) {
    std::uint32_t& name = name_of_label_[label];
    if (name == kNoName) {
      name = static_cast<std::uint32_t>(graph_.names.size());
      graph_.names.push_back(std::move(input_.labels[label]));
    }
    return name;
  }

  std::uint32_t OtherName() {
    if (other_name_ == kNoName) {
      other_name_ = static_cast<std::uint32_t>(graph_.names.size());
      graph_.names.emplace_back(kOtherName);
    }
    return other_name_;
  }

  std::string_view LabelOf(const Node& node) const {
    const std::uint32_t name = name_of_label_[node.label];
    return name == kNoName ? input_.labels[node.label] : graph_.names[name];
  }

  void AddChildren(const Bar& parent, std::vector<Bar>& next) {
    const Node& node = nodes_[parent.node];
    const auto first = nodes_.begin() + node.first_child;
    std::sort(first, first + node.child_count, [this](const Node& a, const Node& b) {
      return a.total != b.total ? a.total > b.total : LabelOf(a) < LabelOf(b);
    });
    std::int64_t x = AddSaturating(parent.x, node.self);
    std::int64_t other = 0;
    for (std::uint32_t i = 0; i < node.child_count; ++i) {
      const std::uint32_t index = node.first_child + i;
      const Node& child = nodes_[index];
      if (!threshold_.Keeps(child)) {
        other = AddSaturating(other, child.total);
        continue;
      }
      ++kept_;
      next.push_back({index, x, child.total, child.self, NameOf(child.label)});
      x = AddSaturating(x, child.total);
    }
    if (other > 0) next.push_back({kNoNode, x, other, other, OtherName()});
  }

  void EmitLevel(const std::vector<Bar>& bars) {
    std::vector<std::int64_t>& level = graph_.levels.emplace_back();
    level.reserve(bars.size() * 4);
    std::int64_t end = 0;
    for (const Bar& bar : bars) {
      level.insert(level.end(), {bar.x - end, bar.total, bar.self, bar.name});
      end = AddSaturating(bar.x, bar.total);
      graph_.max_self = std::max(graph_.max_self, bar.self);
    }
    graph_.nodes += bars.size();
  }

  LabelledStacks& input_;
  std::vector<Node>& nodes_;
  Threshold threshold_;
  std::vector<std::uint32_t> name_of_label_;
  std::uint32_t other_name_ = kNoName;
  std::size_t kept_ = 1;  // the root
  FlameGraph graph_;
};

}  // namespace

std::int64_t AddSaturating(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return b > 0 ? INT64_MAX : INT64_MIN;
}

std::string FrameLabel(const Frame& frame) {
  if (frame.symbolized && !frame.function.empty()) return frame.function;
  static constexpr char kDigits[] = "0123456789abcdef";
  if (frame.address == 0) {
    if (!frame.function.empty()) return frame.function;
    return frame.module.empty() ? "[unknown]" : frame.module;
  }
  std::string hex;
  for (std::uint64_t rest = frame.address; rest != 0; rest >>= 4) hex += kDigits[rest & 15];
  std::reverse(hex.begin(), hex.end());
  const std::size_t slash = frame.module.rfind('/');
  std::string label = frame.module.substr(slash == std::string::npos ? 0 : slash + 1);
  if (!label.empty()) label += '+';
  return label + "0x" + hex;
}

LabelledStacks LabelStacks(const FrameTable& frames, std::span<const WeightedStack> stacks) {
  constexpr std::uint32_t kNone = UINT32_MAX;
  LabelledStacks out;
  out.labels.emplace_back(kRootName);
  std::unordered_map<std::string, std::uint32_t> label_numbers;
  std::vector<std::uint32_t> label_of_frame(frames.frames.size(), kNone);
  out.stacks.reserve(stacks.size());
  out.tokens.reserve(stacks.size() * 16);
  for (const WeightedStack& weighted : stacks) {
    const auto found = frames.stacks.find(weighted.stack);
    if (found == frames.stacks.end() || weighted.value <= 0) continue;
    const auto first = static_cast<std::uint32_t>(out.tokens.size());
    for (auto frame = found->second.rbegin(); frame != found->second.rend(); ++frame) {
      std::uint32_t& label = label_of_frame[*frame];
      if (label == kNone) {
        const auto [entry, is_new] = label_numbers.try_emplace(
            FrameLabel(frames.frames[*frame]), static_cast<std::uint32_t>(out.labels.size()));
        if (is_new) out.labels.push_back(entry->first);
        label = entry->second;
      }
      out.tokens.push_back(label);
    }
    out.stacks.push_back({first, static_cast<std::uint32_t>(out.tokens.size()) - first,
                          weighted.value, weighted.count});
  }
  return out;
}

FlameGraph BuildFlame(const FrameTable& frames, std::span<const WeightedStack> stacks,
                      std::size_t max_nodes) {
  LabelledStacks labelled = LabelStacks(frames, stacks);
  std::vector<Node> nodes = TreeBuilder(labelled).Build();
  const Threshold threshold = FindThreshold(nodes, max_nodes);
  return Emitter(labelled, nodes, threshold).Emit();
}

}  // namespace hotspan::query::flame
