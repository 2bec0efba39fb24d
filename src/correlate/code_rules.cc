#include "correlate/code_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "correlate/finding_text.h"

namespace hotspan::correlate {
namespace {

constexpr std::size_t kFindingsMax = 5;   // of leaf families, and of hot functions
constexpr std::uint64_t kSamplesMin = 5;  // fewer are an anecdote
constexpr double kHotShare = 0.30;
constexpr double kHotLow = 0.20;
constexpr double kFamilyShare = 0.10;
constexpr double kFamilyLow = 0.05;
constexpr double kLoopShare = 0.20;
constexpr double kLoopLow = 0.10;
constexpr double kLoopDominance = 0.6;  // of the caller's time in one callee
constexpr double kPassThrough = 0.9;    // a frame around nearly everything explains nothing
constexpr std::size_t kRepeatedSpansMin = 5;
constexpr double kRepeatedPresence = 0.8;
// Work that need not be done at all is worth naming earlier than work that might be done better.
constexpr double kRepeatedShare = 0.05;
constexpr double kRepeatedLow = 0.02;

// Where one sample's time is put: a frame, and what kind of work it does.
struct Site {
  std::uint32_t frame = 0;
  int kind = 0;
  std::string callee;
};

// All samples put to one function and kind.
struct Group {
  std::uint32_t frame = 0;  // any frame of the function
  std::string callee;
  std::vector<double> part;  // by span
  double total = 0;
  std::uint64_t samples = 0;
  std::map<std::pair<std::string, std::int32_t>, double> lines;
  std::vector<std::size_t> members;  // indices into CodeView::cpu
};

using Key = std::pair<std::string, int>;
using Groups = std::map<Key, Group>;

// The nearest frame of the program at or outside of position `from`; nothing if there is none.
std::optional<std::size_t> UserFrameFrom(const CodeView& view, std::span<const std::uint32_t> stack,
                                         std::size_t from) {
  for (std::size_t i = from; i < stack.size(); ++i) {
    if (!view.traits[stack[i]].vendor) return i;
  }
  return std::nullopt;
}

// Puts each sample not claimed yet to the site that `locate` finds in its stack.
template <typename Locate>
Groups Gather(const CodeView& view, const std::vector<bool>& claimed, Locate&& locate) {
  Groups groups;
  for (std::size_t i = 0; i < view.cpu.size(); ++i) {
    if (!claimed.empty() && claimed[i]) continue;
    const CodeSample& sample = view.cpu[i];
    const std::span<const std::uint32_t> stack = view.StackOf(sample.stack);
    if (stack.empty()) continue;
    const std::optional<Site> site = locate(stack);
    if (!site) continue;
    const Frame& frame = view.frames->frames[site->frame];
    Group& group = groups[{view.names[site->frame] + "\n" + site->callee, site->kind}];
    if (group.part.empty()) {
      group.part.assign(view.own_ns.size(), 0);
      group.frame = site->frame;
      group.callee = site->callee;
    }
    group.part[sample.span] += sample.value;
    group.total += sample.value;
    ++group.samples;
    group.lines[{frame.file, frame.line}] += sample.value;
    group.members.push_back(i);
  }
  return groups;
}

std::vector<const Group*> ByTotal(const Groups& groups) {
  std::vector<const Group*> sorted;
  for (const auto& [key, group] : groups) sorted.push_back(&group);
  std::sort(sorted.begin(), sorted.end(), [](const Group* a, const Group* b) {
    // Groups differ in their first member, as each sample is in one group only.
    return a->total != b->total ? a->total > b->total : a->members[0] < b->members[0];
  });
  return sorted;
}

// The share of own time must be sure; that it is a large one may show in the CPU time alone,
// because waiting for a core stretches a span and is no merit of its code.
bool IsEnough(const CodeView& view, const Group& group, const ShareInterval& share,
              double share_min, double low_min) {
  const double of_cpu = static_cast<double>(group.samples) / static_cast<double>(view.cpu.size());
  return group.samples >= kSamplesMin && std::max(share.share, of_cpu) >= share_min &&
         share.low >= low_min;
}

// The outermost library frame of a family, told by its nearest frame of the program; where no
// library is known, the innermost own frame that is named like such work.
std::optional<Site> LocateFamily(const CodeView& view, std::span<const std::uint32_t> stack) {
  for (std::size_t i = stack.size(); i-- > 0;) {
    const FrameTraits& traits = view.traits[stack[i]];
    if (traits.library == Family::kNone) continue;
    const std::optional<std::size_t> user = UserFrameFrom(view, stack, i + 1);
    if (!user) break;
    const Family by_name = view.traits[stack[*user]].by_name;
    const Family family = by_name != Family::kNone ? by_name : traits.library;
    return Site{stack[*user], static_cast<int>(family), ""};
  }
  for (std::size_t i = 0; i < stack.size(); ++i) {
    const FrameTraits& traits = view.traits[stack[i]];
    if (traits.by_name != Family::kNone) {
      return Site{stack[i], static_cast<int>(traits.by_name), ""};
    }
  }
  return std::nullopt;
}

// Library work is told by the program's frame that asks for it; own frames by themselves, the
// deepest first.
std::optional<Site> LocateReusable(const CodeView& view, std::span<const std::uint32_t> stack) {
  for (std::size_t i = 0; i < stack.size(); ++i) {
    const FrameTraits& traits = view.traits[stack[i]];
    if (traits.reusable == Reusable::kNone) continue;
    if (!traits.vendor) return Site{stack[i], static_cast<int>(traits.reusable), ""};
    const std::optional<std::size_t> user = UserFrameFrom(view, stack, i + 1);
    if (!user) return std::nullopt;
    return Site{stack[*user], static_cast<int>(traits.reusable), ""};
  }
  return std::nullopt;
}

// The outermost serializer, repository or mapper that calls a look-up.
std::optional<Site> LocateLoop(const CodeView& view, std::span<const std::uint32_t> stack) {
  std::optional<std::uint32_t> outer;
  for (std::size_t i = stack.size(); i-- > 0;) {
    const FrameTraits& traits = view.traits[stack[i]];
    if (traits.vendor) continue;
    if (outer && view.traits[*outer].mapper && traits.look_up &&
        view.names[*outer] != view.names[stack[i]]) {
      return Site{*outer, 0, view.names[stack[i]]};
    }
    outer = stack[i];
  }
  return std::nullopt;
}

class CodeRules {
 public:
  CodeRules(const CodeView& view, const CodeRulesOptions& options)
      : view_(view), options_(options), claimed_(view.cpu.size(), false) {}

  std::vector<Finding> Run() {
    FindRepeatedWork();
    if (!options_.has_children) FindLoops();
    FindFamilies();
    FindHotFunctions();
    return std::move(findings_);
  }

 private:
  void FindRepeatedWork();
  void FindLoops();
  void FindFamilies();
  void FindHotFunctions();
  // Functions by their time with everything they call, where no single one holds it.
  void FindHotSubtrees(std::size_t places);

  bool RepeatedInCohort(const Key& key) const;
  double TotalOf(const std::string& function) const;
  void Claim(const Group& group) {
    for (const std::size_t i : group.members) claimed_[i] = true;
  }
  Finding Make(std::string kind, const Group& group, const ShareInterval& share, bool known_cure);
  // What the finding's share comes to, "90 ms (15 %, ...) of the span's own time".
  std::string Cost(const Finding& finding, const ShareInterval& share) const;

  const CodeView& view_;
  const CodeRulesOptions& options_;
  std::vector<bool> claimed_;
  std::vector<Finding> findings_;
};

Finding CodeRules::Make(std::string kind, const Group& group, const ShareInterval& share,
                        bool known_cure) {
  Finding finding;
  finding.kind = std::move(kind);
  finding.saves_ns = std::llround(share.share * view_.scale_ns);
  finding.saves_low_ns = std::llround(share.low * view_.scale_ns);
  finding.saves_high_ns = std::llround(share.high * view_.scale_ns);
  finding.severity =
      SeverityOf(static_cast<double>(finding.saves_ns), view_.duration_ns, known_cure);
  finding.location.function = view_.names[group.frame];
  finding.location.service = view_.service;
  const auto line =
      std::max_element(group.lines.begin(), group.lines.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  if (line != group.lines.end()) {
    finding.location.file = line->first.first;
    finding.location.line = line->first.second;
  }
  finding.pooled = view_.pooled;
  std::string text = fmt::format("{} of {} CPU samples", group.samples, view_.cpu.size());
  if (view_.pooled) text += fmt::format(" of {} spans", view_.own_ns.size());
  if (view_.period > 0) {
    text += fmt::format(", one for each {} of CPU time",
                        FormatDuration(static_cast<double>(view_.period)));
  }
  finding.evidence.push_back({text, static_cast<double>(group.samples), view_.query});
  finding.evidence.push_back(
      {fmt::format("share of own time {}", FormatShare(share)), share.share, view_.query});
  return finding;
}

std::string CodeRules::Cost(const Finding& finding, const ShareInterval& share) const {
  return fmt::format("{} ({}) of the span's own time",
                     FormatDuration(static_cast<double>(finding.saves_ns)),
                     FormatPercent(share.share));
}

// Whether the work shows in as many spans as it would if each did it: spans with few samples can't
// show all they do, so presence is measured against what the share lets expect.
bool CodeRules::RepeatedInCohort(const Key& key) const {
  const CodeView* cohort = options_.cohort != nullptr ? options_.cohort
                           : view_.pooled             ? &view_
                                                      : nullptr;
  if (cohort == nullptr) return false;
  const Groups groups = Gather(*cohort, {}, [&](std::span<const std::uint32_t> stack) {
    return LocateReusable(*cohort, stack);
  });
  const auto found = groups.find(key);
  if (found == groups.end()) return false;
  std::vector<double> samples(cohort->own_ns.size(), 0);
  for (const CodeSample& sample : cohort->cpu) samples[sample.span] += 1;
  const double hit_share = static_cast<double>(found->second.samples) /
                           std::max<double>(1, static_cast<double>(cohort->cpu.size()));
  double expected = 0;
  double present = 0;
  std::size_t sampled = 0;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (samples[i] <= 0) continue;
    ++sampled;
    expected += 1 - std::pow(1 - hit_share, samples[i]);
    if (found->second.part[i] > 0) ++present;
  }
  return sampled >= kRepeatedSpansMin && present >= 3 && present >= kRepeatedPresence * expected;
}

void CodeRules::FindRepeatedWork() {
  const Groups groups = Gather(view_, claimed_, [&](std::span<const std::uint32_t> stack) {
    return LocateReusable(view_, stack);
  });
  for (const auto& [key, group] : groups) {
    const ShareInterval share = view_.ShareOf(group.part);
    if (!IsEnough(view_, group, share, kRepeatedShare, kRepeatedLow) || !RepeatedInCohort(key))
      continue;
    Finding finding = Make("repeated_work", group, share, true);
    const WorkText& text = TextOf(static_cast<Reusable>(key.second));
    finding.title = fmt::format("{} again in every request, in {}: {}", text.noun,
                                finding.location.function, Cost(finding, share));
    if (!finding.title.empty() && finding.title[0] >= 'a' && finding.title[0] <= 'z') {
      finding.title[0] = static_cast<char>(finding.title[0] - 'a' + 'A');
    }
    finding.fix = std::string(text.fix);
    finding.pooled = true;  // that it is done in every request shows in all spans only
    Claim(group);
    findings_.push_back(std::move(finding));
  }
}

double CodeRules::TotalOf(const std::string& function) const {
  double total = 0;
  for (const CodeSample& sample : view_.cpu) {
    const std::span<const std::uint32_t> stack = view_.StackOf(sample.stack);
    const bool inside = std::any_of(stack.begin(), stack.end(), [&](std::uint32_t frame) {
      return view_.names[frame] == function;
    });
    if (inside) total += sample.value;
  }
  return total;
}

void CodeRules::FindLoops() {
  const Groups groups = Gather(view_, claimed_, [&](std::span<const std::uint32_t> stack) {
    return LocateLoop(view_, stack);
  });
  for (const auto& [key, group] : groups) {
    const ShareInterval share = view_.ShareOf(group.part);
    if (!IsEnough(view_, group, share, kLoopShare, kLoopLow)) continue;
    const std::string function = view_.names[group.frame];
    const double dominance = group.total / std::max(1.0, TotalOf(function));
    if (dominance < kLoopDominance) continue;
    Finding finding = Make("loop_in_code", group, share, true);
    finding.title =
        fmt::format("{} probably calls {} in a loop: {}; no spans, and calls are not counted",
                    function, group.callee, Cost(finding, share));
    finding.fix = fmt::format(
        "load everything in one call before the loop, or keep what {} returns for the request",
        group.callee);
    finding.evidence.push_back({fmt::format("{} of the time in {} is in {}",
                                            FormatPercent(dominance), function, group.callee),
                                dominance, view_.query});
    Claim(group);
    findings_.push_back(std::move(finding));
  }
}

void CodeRules::FindFamilies() {
  const Groups groups = Gather(view_, claimed_, [&](std::span<const std::uint32_t> stack) {
    return LocateFamily(view_, stack);
  });
  std::size_t places = kFindingsMax;
  for (const Group* group : ByTotal(groups)) {
    if (places == 0) break;
    const ShareInterval share = view_.ShareOf(group->part);
    if (!IsEnough(view_, *group, share, kFamilyShare, kFamilyLow)) continue;
    const auto kind = std::find_if(groups.begin(), groups.end(), [&](const auto& entry) {
                        return &entry.second == group;
                      })->first.second;
    const WorkText& text = TextOf(static_cast<Family>(kind));
    Finding finding = Make("hot_function", *group, share, true);
    finding.title = fmt::format("{} spends {} in {}", finding.location.function,
                                Cost(finding, share), text.noun);
    finding.fix = std::string(text.fix);
    Claim(*group);
    findings_.push_back(std::move(finding));
    --places;
  }
}

void CodeRules::FindHotFunctions() {
  // A function with the libraries that it calls.
  const Groups own = Gather(view_, claimed_, [&](std::span<const std::uint32_t> stack) {
    const std::optional<std::size_t> user = UserFrameFrom(view_, stack, 0);
    return std::optional<Site>(Site{stack[user.value_or(0)], 0, ""});
  });
  std::size_t places = kFindingsMax;
  for (const Group* group : ByTotal(own)) {
    if (places == 0) return;
    const ShareInterval share = view_.ShareOf(group->part);
    if (!IsEnough(view_, *group, share, kHotShare, kHotLow)) continue;
    Finding finding = Make("hot_function", *group, share, false);
    finding.title =
        fmt::format("{} uses {} on CPU", finding.location.function, Cost(finding, share));
    finding.fix = std::string(TextOf(Family::kNone).fix);
    Claim(*group);
    findings_.push_back(std::move(finding));
    --places;
  }
  FindHotSubtrees(places);
}

void CodeRules::FindHotSubtrees(std::size_t places) {
  double all = 0;
  double own = 0;
  for (const CodeSample& sample : view_.cpu) all += sample.value;
  for (const double ns : view_.own_ns) own += ns;
  // One pass over all stacks gathers the totals of all functions; only the heavy ones are looked
  // at.
  std::map<std::string, double> totals;
  std::map<std::string, double> open;
  const std::vector<std::string>& names = view_.names;
  for (std::size_t i = 0; i < view_.cpu.size(); ++i) {
    std::set<std::string_view> seen;
    for (const std::uint32_t frame : view_.StackOf(view_.cpu[i].stack)) {
      if (view_.traits[frame].vendor || !seen.insert(names[frame]).second) continue;
      totals[names[frame]] += view_.cpu[i].value;
      if (!claimed_[i]) open[names[frame]] += view_.cpu[i].value;
    }
  }
  std::vector<std::pair<double, std::string>> candidates;
  for (const auto& [name, value] : open) {
    if (totals[name] < kPassThrough * all) candidates.emplace_back(value, name);
  }
  // The deepest holds least.
  std::sort(candidates.begin(), candidates.end());
  for (const auto& [value, name] : candidates) {
    if (places == 0) return;
    if (value < kHotShare * own) continue;
    const Groups groups =
        Gather(view_, claimed_, [&](std::span<const std::uint32_t> stack) -> std::optional<Site> {
          for (const std::uint32_t frame : stack) {
            if (!view_.traits[frame].vendor && names[frame] == name) return Site{frame, 0, ""};
          }
          return std::nullopt;
        });
    if (groups.empty()) continue;
    const Group& group = groups.begin()->second;
    const ShareInterval share = view_.ShareOf(group.part);
    if (!IsEnough(view_, group, share, kHotShare, kHotLow)) continue;
    Finding finding = Make("hot_function", group, share, false);
    finding.title = fmt::format("{} and what it calls use {} on CPU, spread over several functions",
                                finding.location.function, Cost(finding, share));
    finding.fix = std::string(TextOf(Family::kNone).fix);
    Claim(group);
    findings_.push_back(std::move(finding));
    --places;
  }
}

}  // namespace

std::vector<Finding> FindCode(const CodeView& view, const CodeRulesOptions& options) {
  if (view.cpu.empty() || view.frames == nullptr) return {};
  std::vector<Finding> findings = CodeRules(view, options).Run();
  RankFindings(findings);
  return findings;
}

}  // namespace hotspan::correlate
