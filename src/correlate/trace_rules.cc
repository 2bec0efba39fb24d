#include "correlate/trace_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <tuple>

#include "correlate/finding_text.h"
#include "correlate/frame_traits.h"

namespace hotspan::correlate {
namespace {

using query::TraceNode;
using query::TraceTree;

constexpr std::size_t kRepeatedCallsMin = 5;
// Of calls in a row, at most this part may run beside the call before.
constexpr double kOverlapMax = 0.2;
// What one batched call costs instead of many, told from one call's: at best as much as one of
// them, and for the low end 40 % of what would be saved at best.
constexpr double kBatchSaves = 0.85;
constexpr double kBatchSavesLow = 0.6;
constexpr std::int64_t kParallelCallMin = 10'000'000;
constexpr std::int64_t kQueueingMin = 5'000'000;
constexpr double kQueueingShare = 0.2;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsWord(char c) {
  return IsDigit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

std::string_view FirstText(const AttributeList& attributes,
                           std::initializer_list<std::string_view> keys) {
  for (const std::string_view key : keys) {
    const std::string_view text = attributes.FindText(key);
    if (!text.empty()) return text;
  }
  return {};
}

class TraceRules {
 public:
  TraceRules(const SpanBatch& batch, const TraceTree& tree, std::uint32_t node)
      : batch_(batch), tree_(tree), root_(node) {}

  std::vector<Finding> Run() {
    duration_ns_ = static_cast<double>(Span(root_).duration().ns);
    critical_sum_.reserve(tree_.nodes.size() + 1);
    for (const TraceNode& node : tree_.nodes) {
      critical_sum_.push_back(critical_sum_.back() + static_cast<double>(node.critical.ns));
    }
    on_path_ = CriticalOf(root_) >= 0.5 * duration_ns_;
    for (std::uint32_t node = root_; node < tree_.nodes[root_].subtree_end; ++node) {
      FindRepeatedCalls(node);
      FindParallelizable(node);
      FindRetries(node);
      FindQueueing(node);
    }
    RankFindings(findings_);
    return std::move(findings_);
  }

 private:
  const SpanRow& Span(std::uint32_t node) const { return batch_.spans[tree_.nodes[node].row]; }
  std::string_view Name(std::uint32_t node) const { return batch_.Text(Span(node).name); }
  AttributeList AttributesOf(std::uint32_t node) const {
    return batch_.Attributes(Span(node).attributes);
  }
  // The time on the critical path of a span with everything below it.
  double CriticalOf(std::uint32_t node) const {
    return critical_sum_[tree_.nodes[node].subtree_end] - critical_sum_[node];
  }
  // What the trace would gain without this call: nothing where it ran beside a longer one.
  double Worth(std::uint32_t node) const {
    return on_path_ ? CriticalOf(node) : static_cast<double>(Span(node).duration().ns);
  }
  std::string StatementOf(std::uint32_t node) const;
  // Whether it leaves the process or asks a database, itself or right below it.
  bool IsCall(std::uint32_t node) const;
  bool IsCallItself(std::uint32_t node) const;
  CodeLocation LocationOf(std::uint32_t node) const;
  // Whether the spans (by start) run one after the other.
  bool Sequential(const std::vector<std::uint32_t>& calls) const;
  Finding Make(std::string kind, std::uint32_t at, double saves) const;

  void FindRepeatedCalls(std::uint32_t parent);
  void FindParallelizable(std::uint32_t parent);
  void FindRetries(std::uint32_t parent);
  void FindQueueing(std::uint32_t node);
  void AddRepeatedCalls(std::uint32_t parent, const std::vector<std::uint32_t>& calls,
                        const std::string& statement);
  void AddRetries(std::uint32_t parent, const std::vector<std::uint32_t>& failed,
                  std::size_t attempts);

  const SpanBatch& batch_;
  const TraceTree& tree_;
  const std::uint32_t root_;
  double duration_ns_ = 0;
  std::vector<double> critical_sum_ = {0};  // over the nodes before
  bool on_path_ = false;                    // the span is on its trace's critical path
  std::vector<Finding> findings_;
};

std::string TraceRules::StatementOf(std::uint32_t node) const {
  return NormalizeStatement(FirstText(AttributesOf(node), {"db.query.text", "db.statement"}));
}

bool TraceRules::IsCallItself(std::uint32_t node) const {
  if (Span(node).kind == SpanKind::kClient) return true;
  const AttributeList attributes = AttributesOf(node);
  for (const std::string_view key :
       {"db.query.text", "db.statement", "db.system", "db.system.name", "rpc.system"}) {
    if (attributes.Find(key)) return true;
  }
  return false;
}

bool TraceRules::IsCall(std::uint32_t node) const {
  if (IsCallItself(node)) return true;
  bool found = false;
  tree_.ForEachChild(node, [&](std::uint32_t child) { found = found || IsCallItself(child); });
  return found;
}

CodeLocation TraceRules::LocationOf(std::uint32_t node) const {
  const AttributeList attributes = AttributesOf(node);
  CodeLocation location;
  location.service = std::string(batch_.ServiceOf(Span(node)));
  const std::string_view function = FirstText(attributes, {"code.function.name", "code.function"});
  if (!function.empty()) location.function = QualifiedName(function);
  location.file = std::string(FirstText(attributes, {"code.file.path", "code.filepath"}));
  for (const std::string_view key : {"code.line.number", "code.lineno"}) {
    const std::optional<Value> line = attributes.Find(key);
    if (!line) continue;
    // Some tracers send numbers as text.
    const std::string text = line->ToText();
    std::from_chars(text.data(), text.data() + text.size(), location.line);
    break;
  }
  return location;
}

bool TraceRules::Sequential(const std::vector<std::uint32_t>& calls) const {
  std::size_t overlaps = 0;
  for (std::size_t i = 1; i < calls.size(); ++i) {
    if (Span(calls[i]).start < Span(calls[i - 1]).end) ++overlaps;
  }
  return static_cast<double>(overlaps) <= kOverlapMax * static_cast<double>(calls.size() - 1);
}

Finding TraceRules::Make(std::string kind, std::uint32_t at, double saves) const {
  Finding finding;
  finding.kind = std::move(kind);
  finding.saves_ns = std::llround(saves);
  finding.severity = SeverityOf(saves, duration_ns_, true);
  finding.location = LocationOf(at);
  return finding;
}

void TraceRules::FindRepeatedCalls(std::uint32_t parent) {
  if (tree_.nodes[parent].children < kRepeatedCallsMin) return;
  using Key = std::tuple<std::string, std::string, std::string>;
  std::map<Key, std::vector<std::uint32_t>> groups;
  tree_.ForEachChild(parent, [&](std::uint32_t child) {
    groups[{std::string(batch_.ServiceOf(Span(child))), std::string(Name(child)),
            StatementOf(child)}]
        .push_back(child);
  });
  for (const auto& [key, calls] : groups) {
    if (calls.size() < kRepeatedCallsMin || !IsCall(calls.front()) || !Sequential(calls)) continue;
    AddRepeatedCalls(parent, calls, std::get<2>(key));
  }
}

void TraceRules::AddRepeatedCalls(std::uint32_t parent, const std::vector<std::uint32_t>& calls,
                                  const std::string& statement) {
  double sum = 0;
  double worth = 0;
  std::vector<std::int64_t> durations;
  std::map<std::tuple<std::string, std::int32_t, std::string>,
           std::pair<std::size_t, std::uint32_t>>
      places;
  for (const std::uint32_t call : calls) {
    durations.push_back(Span(call).duration().ns);
    sum += static_cast<double>(durations.back());
    worth += Worth(call);
    const CodeLocation location = LocationOf(call);
    auto& place = places[{location.file, location.line, location.function}];
    ++place.first;
    place.second = call;
  }
  std::nth_element(durations.begin(),
                   durations.begin() + static_cast<std::ptrdiff_t>(calls.size() / 2),
                   durations.end());
  const auto median = static_cast<double>(durations[calls.size() / 2]);
  const double best = std::max(0.0, worth - median);
  const auto where = std::max_element(
      places.begin(), places.end(),
      [](const auto& a, const auto& b) { return a.second.first < b.second.first; });

  Finding finding = Make("n_plus_one", where->second.second, best * kBatchSaves);
  finding.saves_low_ns = std::llround(best * kBatchSavesLow);
  finding.saves_high_ns = std::llround(best);
  const std::string what = statement.empty() ? std::string(Name(calls.front())) : statement;
  std::string place = finding.location.function;
  if (!finding.location.file.empty()) {
    const std::string_view file = finding.location.file;
    const std::size_t slash = file.find_last_of('/');
    place += fmt::format("{}{}:{}", place.empty() ? "" : " at ",
                         slash == file.npos ? file : file.substr(slash + 1), finding.location.line);
  }
  if (place.empty()) {
    place = std::string(Name(parent));
    finding.location.function = place;
  }
  finding.title = fmt::format("{} calls one after the other of `{}` from {}: {} in all (N+1)",
                              calls.size(), what.substr(0, 120), place, FormatDuration(sum));
  finding.fix = "load all rows in one call (IN list, JOIN or eager loading) before the loop";
  const std::string url = TraceUrl(Span(parent).trace_id);
  finding.evidence.push_back({fmt::format("{} spans named \"{}\" under \"{}\"", calls.size(),
                                          Name(calls.front()), Name(parent)),
                              static_cast<double>(calls.size()), url});
  finding.evidence.push_back({fmt::format("one call takes {} (median), all together {}",
                                          FormatDuration(median), FormatDuration(sum)),
                              sum, url});
  findings_.push_back(std::move(finding));
}

// Different calls in a row: whether one needs the other's result is not in the trace, so this is a
// hint and never more than low.
void TraceRules::FindParallelizable(std::uint32_t parent) {
  std::vector<std::uint32_t> calls;
  std::map<std::string_view, std::size_t> names;
  tree_.ForEachChild(parent, [&](std::uint32_t child) {
    if (tree_.nodes[child].asynchronous || Span(child).duration().ns < kParallelCallMin) return;
    if (!IsCall(child) || Span(child).status == SpanStatus::kError) return;
    calls.push_back(child);
    ++names[Name(child)];
  });
  // Many equal calls are told as such.
  std::erase_if(calls, [&](std::uint32_t call) { return names[Name(call)] >= kRepeatedCallsMin; });
  if (calls.size() < 2) return;
  double sum = 0;
  double longest = 0;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    if (i > 0 && Span(calls[i]).start < Span(calls[i - 1]).end) return;
    const auto duration = static_cast<double>(Span(calls[i]).duration().ns);
    sum += duration;
    longest = std::max(longest, duration);
  }
  double worth = 0;
  for (const std::uint32_t call : calls) worth += Worth(call);
  // Anything between nothing and all of it: the middle is the estimate.
  const double best = std::max(0.0, worth - longest);
  Finding finding = Make("sequential_calls_could_be_parallel", parent, best / 2);
  finding.severity = Severity::kLow;
  finding.saves_low_ns = 0;
  finding.saves_high_ns = std::llround(best);
  if (finding.location.function.empty()) finding.location.function = std::string(Name(parent));
  finding.title = fmt::format(
      "{} calls under \"{}\" run one after the other for {}; side by side they would take {}",
      calls.size(), Name(parent), FormatDuration(sum), FormatDuration(longest));
  finding.fix = "start them together and wait for all, if none needs the result of another";
  finding.evidence.push_back({fmt::format("{} child spans without overlap", calls.size()),
                              static_cast<double>(calls.size()), TraceUrl(Span(parent).trace_id)});
  findings_.push_back(std::move(finding));
}

void TraceRules::FindRetries(std::uint32_t parent) {
  struct Attempts {
    std::vector<std::uint32_t> failed;
    std::size_t all = 0;
  };
  std::map<std::string_view, Attempts> groups;
  tree_.ForEachChild(parent, [&](std::uint32_t child) {
    Attempts& attempts = groups[Name(child)];
    ++attempts.all;
    if (Span(child).status == SpanStatus::kError) attempts.failed.push_back(child);
  });
  for (const auto& [name, attempts] : groups) {
    if (!attempts.failed.empty()) AddRetries(parent, attempts.failed, attempts.all);
  }
}

void TraceRules::AddRetries(std::uint32_t parent, const std::vector<std::uint32_t>& failed,
                            std::size_t attempts) {
  double sum = 0;
  double worth = 0;
  std::size_t timeouts = 0;
  for (const std::uint32_t call : failed) {
    const auto duration = static_cast<double>(Span(call).duration().ns);
    sum += duration;
    worth += Worth(call);
    for (const double round : {1e8, 2e8, 5e8, 1e9, 2e9, 3e9, 5e9, 1e10, 1.5e10, 3e10, 6e10}) {
      if (std::abs(duration - round) <= 0.02 * round) ++timeouts;
    }
  }
  const bool retried = failed.size() >= 2 || attempts > failed.size();
  Finding finding = Make(retried ? "retries" : "errors", failed.front(), worth);
  finding.saves_low_ns = finding.saves_high_ns = finding.saves_ns;
  if (finding.location.function.empty()) {
    finding.location.function = std::string(Name(failed.front()));
  }
  // One failed call costs no more than any other; it is told, but it is no cause of slowness unless
  // it ran into a timeout.
  if (!retried && timeouts == 0) finding.severity = std::min(finding.severity, Severity::kLow);
  const std::string_view message = batch_.Text(Span(failed.front()).status_message);
  finding.title = fmt::format("{} of {} calls \"{}\" failed{}: {} spent on them", failed.size(),
                              attempts, Name(failed.front()),
                              message.empty() ? "" : fmt::format(" ({})", message.substr(0, 80)),
                              FormatDuration(sum));
  finding.fix = timeouts > 0
                    ? "find out why the callee doesn't answer; lower the timeout and fail fast"
                    : "mend the cause of the failures; retry few times, with back-off and a budget";
  const std::string url = TraceUrl(Span(parent).trace_id);
  finding.evidence.push_back({fmt::format("{} child spans with status error", failed.size()),
                              static_cast<double>(failed.size()), url});
  if (timeouts > 0) {
    finding.evidence.push_back(
        {fmt::format("{} of them lasted as long as a round timeout", timeouts),
         static_cast<double>(timeouts), url});
  }
  findings_.push_back(std::move(finding));
}

void TraceRules::FindQueueing(std::uint32_t node) {
  const SpanRow& client = Span(node);
  if (client.kind != SpanKind::kClient && client.kind != SpanKind::kProducer) return;
  tree_.ForEachChild(node, [&](std::uint32_t child) {
    const SpanRow& server = Span(child);
    if (server.kind != SpanKind::kServer) return;
    const std::int64_t gap = (server.start - client.start).ns;
    if (gap < kQueueingMin ||
        static_cast<double>(gap) < kQueueingShare * static_cast<double>(client.duration().ns)) {
      return;
    }
    // What comes back late by the same amount is the network or the clocks, not a queue.
    const std::int64_t back = std::max<std::int64_t>(0, (client.end - server.end).ns);
    const double saves = static_cast<double>(gap - std::min(gap, back));
    Finding finding = Make("queueing", child, saves);
    finding.saves_low_ns = 0;
    finding.saves_high_ns = gap;
    if (finding.location.function.empty()) finding.location.function = std::string(Name(child));
    finding.title = fmt::format("\"{}\" began {} after it was called", Name(child),
                                FormatDuration(static_cast<double>(gap)));
    finding.fix =
        "look at the queue before it: threads or connections of the callee, pool of the caller, "
        "name look-up and handshake";
    finding.evidence.push_back(
        {fmt::format("client span started {} before the server span; clocks of two machines may "
                     "differ",
                     FormatDuration(static_cast<double>(gap))),
         static_cast<double>(gap), TraceUrl(client.trace_id)});
    findings_.push_back(std::move(finding));
  });
}

}  // namespace

std::string NormalizeStatement(std::string_view text) {
  std::string out;
  const auto value = [&] {
    // "?, ?, ?" is one list, however long.
    if (out.ends_with("?, ") || out.ends_with("?,")) {
      out.resize(out.find_last_of('?') + 1);
      return;
    }
    out.push_back('?');
  };
  for (std::size_t i = 0; i < text.size();) {
    const char c = text[i];
    const bool in_word = !out.empty() && IsWord(out.back());
    if (c == '\'') {
      std::size_t end = i + 1;
      while (end < text.size() &&
             (text[end] != c || (end + 1 < text.size() && text[end + 1] == c))) {
        end += text[end] == c ? std::size_t{2} : std::size_t{1};
      }
      value();
      i = std::min(end, text.size() - 1) + 1;
    } else if (IsDigit(c) && !in_word) {
      while (i < text.size() && (IsWord(text[i]) || text[i] == '.')) ++i;
      value();
    } else if (c == ':' && text.substr(i, 2) == "::") {
      out += "::";  // a cast
      i += 2;
    } else if ((c == '?' || c == '$' || c == ':' || c == '@') && !in_word) {
      // A placeholder: "?", "?1", "$1", ":name", "@name".
      const std::size_t begin = i++;
      while (i < text.size() && IsWord(text[i])) ++i;
      if (i - begin == 1 && c != '?') {
        out.push_back(c);
      } else {
        value();
      }
    } else if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
      if (!out.empty() && out.back() != ' ') out.push_back(' ');
      ++i;
    } else {
      out.push_back(c);
      ++i;
    }
  }
  while (!out.empty() && (out.back() == ' ' || out.back() == ';')) out.pop_back();
  return out;
}

std::vector<Finding> FindInTrace(const SpanBatch& batch, const TraceTree& tree,
                                 std::uint32_t node) {
  return TraceRules(batch, tree, node).Run();
}

}  // namespace hotspan::correlate
