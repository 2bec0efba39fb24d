#include "correlate/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "correlate/baseline.h"
#include "correlate/code_rules.h"
#include "correlate/cohort.h"
#include "correlate/finding_text.h"
#include "correlate/ledger.h"
#include "correlate/profile_parts.h"
#include "correlate/sources.h"
#include "correlate/span_samples.h"
#include "correlate/trace_rules.h"
#include "correlate/wait_rules.h"

namespace hotspan::correlate {
namespace {

constexpr std::string_view kCpuType = "process_cpu:cpu:nanoseconds:cpu:nanoseconds";
constexpr std::string_view kOffCpuType = "off_cpu:off_cpu:nanoseconds::";
// Below this many CPU samples code findings rest on all spans of the operation.
constexpr std::uint64_t kPooledBelow = 30;
// Below this many, the operation's causes are told beside: one that takes 12 % of the time needs
// about as many samples to be sure of in one span.
constexpr std::uint64_t kPooledBesideBelow = 200;
// Below this share of own time on CPU, a CPU profile is not where to look.
constexpr double kMostlyOffCpu = 0.3;

// Makes one explanation, step by step.
class Explanation {
 public:
  Explanation(storage::Engine& engine, query::FrameReader& frames, const Clock& clock,
              const ExplainRequest& request)
      : engine_(engine), frames_(frames), now_{clock.NowNs()}, request_(request) {}

  Result<SpanExplanation> Run() {
    TRY_ASSIGN(span_, ReadSpanInTrace(engine_, request_.tenant, request_.trace_id, request_.span_id,
                                      request_.budget));
    DescribeSpan();
    TRY(ReadFacts());
    MakeLedger();
    TRY(AddProfiles());
    TRY(AddMissing());
    TRY(AddFindings());
    return std::move(answer_);
  }

 private:
  void DescribeSpan();
  Status ReadFacts();
  void MakeLedger();
  std::string HintFor(const LedgerInput& input) const;
  Status AddProfiles();
  Status AddLabelledPart(const std::string& type, Tier tier);
  Status AddServicePart(const std::string& type);
  Status AddMissing();
  Status AddFindings();
  Status AddCodeFindings();
  Status AddWaitFindings(const CodeView& view);
  void Take(std::vector<Finding> findings);
  void AddMissingFinding();

  // The tier of a type: as asked for, else by what was found or what the source labels.
  Tier TierOf(std::string_view type) const;
  bool Has(const std::vector<storage::SpanSample>& samples, std::string_view type) const {
    const std::uint32_t index = samples_.TypeIndex(type);
    return std::any_of(samples.begin(), samples.end(),
                       [&](const storage::SpanSample& sample) { return sample.type == index; });
  }
  std::vector<std::string> Types() const;
  std::vector<std::string> ExpectedTypes() const;
  // Most spans wait for no lock: their profiles of locks are neither shown empty nor missed.
  bool IsUnaskedLockType(std::string_view type) const {
    return request_.profile_type.empty() && type.starts_with("mutex:");
  }
  std::int64_t OwnNs() const;
  // Own time on the critical path of the trace: what a finding of a share of 1 would save.
  double ScaleNs() const;
  Operation TheOperation() const {
    return {request_.tenant, answer_.span.service, answer_.span.name};
  }
  Result<bool> AgentDrops(const std::string& type) const;

  storage::Engine& engine_;
  query::FrameReader& frames_;
  const TimeNs now_;
  const ExplainRequest& request_;
  SpanInTrace span_;
  Sources sources_;
  LabelledSamples samples_;
  std::vector<LedgerSample> ledger_samples_;
  SpanExplanation answer_;
};

void Explanation::DescribeSpan() {
  const SpanRow& row = span_.row();
  ExplainedSpan& span = answer_.span;
  span.trace_id = row.trace_id;
  span.span_id = row.span_id;
  span.parent_span_id = row.parent_span_id;
  span.service = span_.service();
  span.name = span_.name();
  span.kind = row.kind;
  span.status = row.status;
  span.start = row.start;
  span.duration = row.duration();
  span.attributes = std::string(span_.spans.Text(row.attributes));
}

Status Explanation::ReadFacts() {
  SourcesRequest request;
  request.tenant = request_.tenant;
  request.service = answer_.span.service;
  request.instance = std::string(span_.resource().FindText("service.instance.id"));
  if (request.instance.empty())
    request.instance = std::string(span_.resource().FindText("host.name"));
  request.span = span_.interval();
  TRY_ASSIGN(sources_, ReadSources(engine_, request));
  TRY_ASSIGN(samples_, ReadLabelled(engine_, request_.tenant, span_, request_.budget));
  TRY_ASSIGN(answer_.baseline, ReadBaseline(engine_, TheOperation(), answer_.span.start,
                                            answer_.span.duration, request_.budget));

  // Waits are told apart by the name of their leaf.
  std::vector<StackNumber> stacks;
  for (const auto* list : {&samples_.own, &samples_.local_root}) {
    for (const storage::SpanSample& sample : *list) stacks.push_back(sample.stack);
  }
  std::sort(stacks.begin(), stacks.end());
  stacks.erase(std::unique(stacks.begin(), stacks.end()), stacks.end());
  TRY_ASSIGN(const std::shared_ptr<const FrameTable> table, frames_.Read(stacks));
  std::vector<bool> is_gc(table->frames.size());
  for (std::size_t i = 0; i < is_gc.size(); ++i) is_gc[i] = TraitsOf(table->frames[i]).gc;
  for (const std::string& type : samples_.types) {
    const bool cpu = IsCpuType(type);
    if (!cpu && !IsOffCpuType(type)) continue;
    for (const storage::SpanSample& sample :
         Choose(samples_, span_, type, TierOf(type), Mode::kSelf)) {
      LedgerSample entry{cpu ? LedgerClass::kOnCpu : LedgerClass::kOffCpu, sample.time,
                         sample.value, sample.period, sample.thread};
      const auto stack = table->stacks.find(sample.stack);
      if (stack != table->stacks.end() && !stack->second.empty()) {
        const std::vector<std::uint32_t>& frames = stack->second;
        if (!cpu) {
          entry.cls = WaitClassOf(table->frames[frames.front()].function);
        } else if (std::any_of(frames.begin(), frames.end(),
                               [&](std::uint32_t frame) { return is_gc[frame]; })) {
          entry.cls = LedgerClass::kGc;
        }
      }
      ledger_samples_.push_back(entry);
    }
  }
  return {};
}

Tier Explanation::TierOf(std::string_view type) const {
  if (request_.tier != Tier::kAuto) return request_.tier;
  if (Has(samples_.own, type)) return Tier::kSpan;
  const Source* source = sources_.Find(type);
  if (source == nullptr) return Tier::kSpan;
  if (source->tier == Tier::kService && Has(samples_.local_root, type)) return Tier::kLocalRoot;
  return source->tier;
}

// Types with something to show, or asked for.
std::vector<std::string> Explanation::Types() const {
  if (!request_.profile_type.empty()) return {request_.profile_type};
  std::vector<std::string> types = samples_.types;
  for (const Source& source : sources_.types) {
    if (source.in_window) types.push_back(source.type);
  }
  // CPU first: it is what people look for first.
  std::sort(types.begin(), types.end(), [](const std::string& a, const std::string& b) {
    return std::tuple(!IsCpuType(a), a) < std::tuple(!IsCpuType(b), b);
  });
  types.erase(std::unique(types.begin(), types.end()), types.end());
  return types;
}

// Types whose absence must be explained: those asked for or sent, and CPU in any case.
std::vector<std::string> Explanation::ExpectedTypes() const {
  if (!request_.profile_type.empty()) return {request_.profile_type};
  std::vector<std::string> types;
  bool cpu = false;
  for (const Source& source : sources_.types) {
    types.push_back(source.type);
    cpu = cpu || IsCpuType(source.type);
  }
  if (!cpu) types.emplace_back(kCpuType);
  return types;
}

std::int64_t Explanation::OwnNs() const {
  std::int64_t own = answer_.span.duration.ns;
  for (const query::TimeInterval& child : span_.children) own -= child.duration().ns;
  return own;
}

double Explanation::ScaleNs() const {
  const std::int64_t critical = span_.tree.nodes[span_.node].critical.ns;
  return static_cast<double>(critical > 0 ? std::min(critical, OwnNs()) : OwnNs());
}

void Explanation::MakeLedger() {
  LedgerInput input;
  input.span = span_.interval();
  input.children = span_.children;
  input.samples = ledger_samples_;
  Tier tier = Tier::kSpan;
  for (const Source& source : sources_.types) {
    if (!source.in_window || TierOf(source.type) == Tier::kService) continue;
    if (IsCpuType(source.type)) {
      input.cpu_known = source.tier == TierOf(source.type);
      input.cpu_period = source.period;
      tier = TierOf(source.type);
    } else if (IsOffCpuType(source.type)) {
      input.waits_known = source.tier == TierOf(source.type);
    }
  }
  input.source = std::string(TierName(tier));
  input.hint = HintFor(input);
  answer_.ledger = BuildLedger(input);
}

std::string Explanation::HintFor(const LedgerInput& input) const {
  if (!input.cpu_known && ledger_samples_.empty()) {
    return fmt::format(
        "no samples with span ids: the CPU profile ({}) shows work, the off-CPU "
        "profile ({}) shows waits",
        kCpuType, kOffCpuType);
  }
  if (!input.waits_known) {
    return fmt::format(
        "not on CPU, and waits are not recorded: the off-CPU profile ({}) would show "
        "locks, I/O, network and sleeps",
        kOffCpuType);
  }
  if (!input.cpu_known) {
    return fmt::format("not waiting: the CPU profile ({}) would show the work", kCpuType);
  }
  return "between samples: no profile of this service saw a thread in this span then";
}

Status Explanation::AddProfiles() {
  for (const std::string& type : Types()) {
    const Tier tier = TierOf(type);
    if (tier == Tier::kService) {
      TRY(AddServicePart(type));
    } else {
      TRY(AddLabelledPart(type, tier));
    }
  }
  return {};
}

Status Explanation::AddLabelledPart(const std::string& type, Tier tier) {
  const std::vector<storage::SpanSample> chosen =
      Choose(samples_, span_, type, tier, request_.mode);
  const Source* source = sources_.Find(type);
  // Without a source there is no profile at all; with one, no sample is a measurement.
  if (chosen.empty() && (source == nullptr || source->tier != tier)) return {};
  if (chosen.empty() && IsUnaskedLockType(type)) return {};
  TRY_ASSIGN(ProfilePart part, PartOfSamples(frames_, chosen, type));
  part.tier = tier;
  part.mode = request_.mode;
  part.window = {answer_.span.start, answer_.span.start + answer_.span.duration};
  if (source != nullptr) {
    part.agents = source->agents;
    if (part.period_ns == 0) part.period_ns = source->period;
  }
  const auto note = [&](const std::string& text) {
    part.note += (part.note.empty() ? "" : "; ") + text;
  };
  if (tier == Tier::kLocalRoot) {
    note(samples_.untimed
             ? "samples name the process's root span of this trace only and have no times: they "
               "contain everything below it"
             : "samples name the process's root span of this trace only: told apart by time and "
               "thread, so work of other spans at the same time may be among them");
  }
  const std::int64_t own = OwnNs();
  if (IsCpuType(type) && request_.mode == Mode::kSelf && own > 0 &&
      static_cast<double>(part.total) < kMostlyOffCpu * static_cast<double>(own)) {
    const LedgerEntry* most = nullptr;
    for (const LedgerEntry& entry : answer_.ledger.classes) {
      if (entry.cls == LedgerClass::kChild || entry.cls == LedgerClass::kOnCpu) continue;
      if (most == nullptr || entry.ns > most->ns) most = &entry;
    }
    if (most != nullptr && most->ns > 0) {
      note(fmt::format("only {} of {} own time was on CPU; most of it is {} ({}): open {}",
                       FormatDuration(static_cast<double>(part.total)),
                       FormatDuration(static_cast<double>(own)), LedgerClassName(most->cls),
                       FormatDuration(static_cast<double>(most->ns)), kOffCpuType));
    }
  }
  answer_.profiles.push_back(std::move(part));
  return {};
}

Status Explanation::AddServicePart(const std::string& type) {
  ServicePartRequest request;
  request.tenant = request_.tenant;
  request.service = answer_.span.service;
  request.version = std::string(span_.resource().FindText("service.version"));
  request.span_name = answer_.span.name;
  request.type = type;
  request.span = span_.interval();
  request.budget = request_.budget;
  TRY_ASSIGN(ProfilePart part, PartOfService(engine_, frames_, request));
  if (part.samples == 0) return {};
  part.mode = request_.mode;
  if (const Source* source = sources_.Find(type); source != nullptr) part.agents = source->agents;
  answer_.profiles.push_back(std::move(part));
  return {};
}

// Whether a series of this service counted lost samples around the span.
Result<bool> Explanation::AgentDrops(const std::string& type) const {
  const Source* source = sources_.Find(type);
  if (source == nullptr || !source->in_window) return false;
  storage::SampleMerge merge;
  merge.tenant = request_.tenant;
  merge.type = type;
  merge.service = answer_.span.service;
  merge.range = Around(span_.interval(), DurationNs{30 * kSecond.ns});
  merge.matchers = {{std::string(kDroppedSamplesKey), "", true},
                    {std::string(kDroppedSamplesKey), "0", true}};
  merge.budget = request_.budget;
  TRY_ASSIGN(const storage::MergedSamples merged, engine_.MergeSamples(merge));
  return merged.samples > 0;
}

Status Explanation::AddMissing() {
  for (const std::string& type : ExpectedTypes()) {
    MissingFacts facts;
    facts.type = type;
    facts.service = answer_.span.service;
    facts.span = span_.interval();
    facts.tier = TierOf(type);
    facts.samples = Choose(samples_, span_, type, facts.tier, request_.mode).size();
    facts.own_ns = OwnNs();
    facts.ledger = &answer_.ledger;
    facts.retention = request_.retention;
    facts.now = now_;
    TRY_ASSIGN(facts.drops, AgentDrops(type));
    // Samples that name this span need no reason, whatever the catalog says.
    if (facts.samples > 0 && !facts.drops) continue;
    for (Missing& missing : WhyMissing(sources_, facts)) {
      if (facts.samples > 0 && missing.reason != "agent_drops") continue;
      if (missing.reason == "idle" && IsUnaskedLockType(type)) continue;
      answer_.missing.push_back(std::move(missing));
    }
  }
  return {};
}

Status Explanation::AddFindings() {
  answer_.findings = FindInTrace(span_.spans, span_.tree, span_.node);
  TRY(AddCodeFindings());
  AddMissingFinding();
  RankFindings(answer_.findings);
  return {};
}

Status Explanation::AddCodeFindings() {
  storage::SpanSamples own;
  own.types = samples_.types;
  for (const std::string& type : samples_.types) {
    if (TierOf(type) == Tier::kService) continue;
    for (storage::SpanSample sample : Choose(samples_, span_, type, TierOf(type), Mode::kSelf)) {
      sample.span = 0;
      own.samples.push_back(sample);
    }
  }
  TRY_ASSIGN(CodeView view, MakeCodeView(frames_, own, {static_cast<double>(OwnNs())}));
  view.service = answer_.span.service;
  view.scale_ns = ScaleNs();
  view.duration_ns = static_cast<double>(answer_.span.duration.ns);
  view.query = SpanFlameUrl(answer_.span.trace_id, answer_.span.span_id, view.type);
  TRY(AddWaitFindings(view));

  CodeRulesOptions options;
  options.has_children = span_.tree.nodes[span_.node].children > 0;
  const TimeRange range = answer_.baseline.window;
  TRY_ASSIGN(const Cohort cohort, ReadCohort(engine_, TheOperation(), range, request_.budget));
  TRY_ASSIGN(const CodeView pooled,
             ViewOfCohort(frames_, TheOperation(), cohort, ScaleNs(), view.duration_ns));
  options.cohort = &pooled;
  if (view.samples >= kPooledBelow || pooled.samples <= view.samples) {
    Take(FindCode(view, options));
  }
  if (view.samples < kPooledBesideBelow && pooled.samples > view.samples) {
    answer_.pooled = Pooled{cohort.spans.spans.size(), pooled.samples, pooled.query};
    Take(FindCode(pooled, options));
  }
  return {};
}

// What is said of this span itself stands before the same said of its operation.
void Explanation::Take(std::vector<Finding> findings) {
  for (Finding& finding : findings) {
    const bool known =
        std::any_of(answer_.findings.begin(), answer_.findings.end(), [&](const Finding& other) {
          return other.kind == finding.kind && other.location.function == finding.location.function;
        });
    if (!known) answer_.findings.push_back(std::move(finding));
  }
}

Status Explanation::AddWaitFindings(const CodeView& view) {
  std::optional<LockHolder> holder =
      FindLockHolder(ReadEvents(span_.spans.Text(span_.row().events)));
  if (holder) {
    TRY_ASSIGN(const storage::SpanScanResult trace,
               engine_.ReadTrace(request_.tenant, holder->trace_id, request_.budget));
    for (const SpanRow& row : trace.spans.spans) {
      if (row.span_id != holder->span_id) continue;
      holder->service = std::string(trace.spans.ServiceOf(row));
      holder->name = std::string(trace.spans.Text(row.name));
    }
  }
  for (Finding& finding : FindWaits(answer_.ledger, answer_.span, view, holder)) {
    answer_.findings.push_back(std::move(finding));
  }
  return {};
}

// That nothing shows what a span did is worth a sentence when it did much of its time by itself.
void Explanation::AddMissingFinding() {
  if (answer_.missing.empty() || !ledger_samples_.empty() || answer_.pooled) return;
  const std::int64_t own = OwnNs();
  if (own * 2 < answer_.span.duration.ns || own < 1'000'000) return;
  const auto cpu = std::find_if(answer_.missing.begin(), answer_.missing.end(),
                                [](const Missing& missing) { return IsCpuType(missing.type); });
  const Missing& reason = cpu != answer_.missing.end() ? *cpu : answer_.missing.front();
  if (reason.reason == "idle" || reason.reason == "shorter_than_period") return;
  Finding finding;
  finding.kind = "missing_data";
  finding.severity = Severity::kLow;
  finding.title =
      fmt::format("No profile shows what \"{}\" did in its own {}: {}", answer_.span.name,
                  FormatDuration(static_cast<double>(own)), reason.detail);
  finding.location.service = answer_.span.service;
  finding.fix = reason.fix;
  finding.evidence.push_back({fmt::format("reason {} for {}", reason.reason, reason.type),
                              static_cast<double>(own),
                              ExplainUrl(answer_.span.trace_id, answer_.span.span_id)});
  answer_.findings.push_back(std::move(finding));
}

// Findings of the shape of single traces, told for the operation: what shows in at least half of
// them, by the one with the middle cost.
std::vector<Finding> CommonInTraces(const Cohort& cohort) {
  std::map<std::tuple<std::string, std::string, std::int32_t>, std::vector<Finding>> groups;
  for (const CohortTrace& trace : cohort.traces) {
    for (Finding& finding : FindInTrace(trace.spans, trace.tree, trace.node)) {
      groups[{finding.kind, finding.location.function, finding.location.line}].push_back(
          std::move(finding));
    }
  }
  std::vector<Finding> common;
  for (auto& [key, findings] : groups) {
    if (findings.size() * 2 < cohort.traces.size()) continue;
    RankFindings(findings);
    Finding finding = findings[findings.size() / 2];
    finding.pooled = true;
    finding.evidence.push_back(
        {fmt::format("found in {} of {} traces looked at", findings.size(), cohort.traces.size()),
         static_cast<double>(findings.size()), ""});
    common.push_back(std::move(finding));
  }
  return common;
}

bool MostHaveChildren(const Cohort& cohort) {
  std::size_t with = 0;
  for (const CohortTrace& trace : cohort.traces) {
    if (trace.tree.nodes[trace.node].children > 0) ++with;
  }
  return with * 2 > cohort.traces.size();
}

}  // namespace

Result<SpanExplanation> Explainer::Explain(const ExplainRequest& request) {
  return Explanation(engine_, frames_, clock_, request).Run();
}

Result<OperationFindings> Explainer::Findings(const FindingsRequest& request) {
  const Operation operation{request.tenant, request.service, request.name};
  TimeRange range = request.range;
  if (range == TimeRange{}) {
    range = {TimeNs{clock_.NowNs() - kHour.ns}, TimeNs{clock_.NowNs() + 1}};
  }
  TRY_ASSIGN(const Cohort cohort, ReadCohort(engine_, operation, range, request.budget));
  if (cohort.spans.spans.empty()) {
    return Fail(Error(Code::kNotFound, fmt::format("no spans \"{}\" of \"{}\" in that time",
                                                   request.name, request.service))
                    .Field("name"));
  }
  TRY_ASSIGN(const CodeView view, ViewOfCohort(frames_, operation, cohort, 0, 0));
  OperationFindings result;
  result.service = request.service;
  result.name = request.name;
  result.spans = cohort.spans.spans.size();
  result.samples = view.samples;
  CodeRulesOptions options;
  options.has_children = MostHaveChildren(cohort);
  result.findings = FindCode(view, options);
  for (Finding& finding : CommonInTraces(cohort)) result.findings.push_back(std::move(finding));
  RankFindings(result.findings);
  return result;
}

}  // namespace hotspan::correlate
