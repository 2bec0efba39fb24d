#include "correlate/cohort.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <unordered_set>

#include "correlate/finding_text.h"
#include "correlate/ledger.h"

namespace hotspan::correlate {

std::span<const std::uint32_t> CodeView::StackOf(StackNumber stack) const {
  if (frames == nullptr) return {};
  const auto found = frames->stacks.find(stack);
  if (found == frames->stacks.end()) return {};
  return found->second;
}

ShareInterval CodeView::ShareOf(std::span<const double> part) const {
  if (own_ns.size() > 1) return ClusterInterval(part, own_ns, looks);
  if (own_ns.empty() || own_ns[0] <= 0) return {0, 0, 1};
  return WilsonInterval(part[0] / own_ns[0] * looks, looks);
}

Result<CodeView> MakeCodeView(query::FrameReader& frames, const storage::SpanSamples& samples,
                              std::vector<double> own_ns) {
  CodeView view;
  view.own_ns = std::move(own_ns);
  std::vector<double> held(view.own_ns.size(), 0);
  std::vector<StackNumber> stacks;
  // Spans run apart from each other, so bursts are looked for span by span.
  std::map<std::uint32_t, std::vector<Look>> looks;
  for (const storage::SpanSample& sample : samples.samples) {
    const std::string& type = samples.types[sample.type];
    const bool cpu = IsCpuType(type);
    if ((!cpu && !IsOffCpuType(type)) || sample.value <= 0 || sample.span >= held.size()) continue;
    const CodeSample code{sample.span, sample.stack, static_cast<double>(sample.value)};
    stacks.push_back(sample.stack);
    if (!cpu) {
      view.waits.push_back(code);
      continue;
    }
    view.cpu.push_back(code);
    view.type = type;
    held[sample.span] += code.value;
    view.period = std::max(view.period, sample.period);
    // A row may stand for several periods.
    view.samples += static_cast<std::uint64_t>(
        sample.period > 0 ? std::max<std::int64_t>(1, sample.value / sample.period) : 1);
    looks[sample.span].push_back(
        {sample.thread, sample.time, static_cast<std::uint32_t>(sample.stack)});
  }
  std::uint64_t independent = 0;
  for (auto& [span, list] : looks) independent += IndependentLooks(list, view.period);
  for (std::size_t i = 0; i < held.size(); ++i) {
    view.own_ns[i] = std::max(view.own_ns[i], held[i]);
  }
  const double own = std::accumulate(view.own_ns.begin(), view.own_ns.end(), 0.0);
  view.looks =
      view.period > 0 ? own / static_cast<double>(view.period) : static_cast<double>(view.samples);
  if (!view.cpu.empty()) {
    view.looks *= static_cast<double>(independent) / static_cast<double>(view.cpu.size());
  }
  std::sort(stacks.begin(), stacks.end());
  stacks.erase(std::unique(stacks.begin(), stacks.end()), stacks.end());
  TRY_ASSIGN(view.frames, frames.Read(stacks));
  view.traits.reserve(view.frames->frames.size());
  for (const Frame& frame : view.frames->frames) {
    view.traits.push_back(TraitsOf(frame));
    view.names.push_back(QualifiedName(frame.function));
  }
  return view;
}

namespace {

Status ReadTraces(storage::Engine& engine, const Operation& operation,
                  const storage::Budget& budget, Cohort& cohort) {
  double own = 0;
  double whole = 0;
  std::size_t rows = 0;
  std::unordered_set<TraceId, TraceIdHasher> seen;
  storage::Budget trace_budget = budget;
  trace_budget.rows_max = std::min(budget.rows_max, kCohortTraceSpansMax);
  for (const SpanRow& span : cohort.spans.spans) {
    if (cohort.traces.size() >= kCohortTracesMax || rows >= kCohortTraceSpansMax) break;
    // A trace that holds many spans of the operation is read once.
    if (!seen.insert(span.trace_id).second) continue;
    TRY_ASSIGN(storage::SpanScanResult read,
               engine.ReadTrace(operation.tenant, span.trace_id, trace_budget));
    rows += read.spans.spans.size();
    CohortTrace trace;
    trace.spans = std::move(read.spans);
    trace.tree = query::BuildTraceTree(trace.spans);
    trace.node = trace.tree.Find(trace.spans, span.span_id);
    if (trace.node == query::kNoNode) continue;
    for (const query::PathPart& part : PathWithin(trace.spans, trace.tree, trace.node)) {
      const auto ns = static_cast<double>(part.interval.duration().ns);
      whole += ns;
      if (part.node == trace.node) own += ns;
    }
    cohort.traces.push_back(std::move(trace));
  }
  if (whole > 0) cohort.own_fraction = own / whole;
  return {};
}

}  // namespace

Result<Cohort> ReadCohort(storage::Engine& engine, const Operation& operation, TimeRange range,
                          const storage::Budget& budget) {
  Cohort cohort;
  cohort.range = range;
  storage::SpanScan scan;
  scan.tenant = operation.tenant;
  scan.range = range;
  scan.conditions = {
      {storage::SpanField::kService, "", storage::Compare::kEqual, operation.service},
      {storage::SpanField::kName, "", storage::Compare::kEqual, operation.name}};
  scan.wide = false;
  scan.limit = kCohortSpansMax;
  scan.budget = budget;
  TRY_ASSIGN(storage::SpanScanResult found, engine.ScanSpans(scan));
  cohort.spans = std::move(found.spans);
  if (cohort.spans.spans.empty()) return cohort;
  TRY(ReadTraces(engine, operation, budget, cohort));

  storage::SamplesBySpans request;
  request.tenant = operation.tenant;
  request.budget = budget;
  for (const SpanRow& span : cohort.spans.spans) {
    request.spans.push_back({span.trace_id, span.span_id});
  }
  TRY_ASSIGN(cohort.samples, engine.ReadSamples(request));
  std::erase_if(cohort.samples.samples,
                [](const storage::SpanSample& sample) { return sample.link != LinkKind::kSpan; });
  return cohort;
}

Result<CodeView> ViewOfCohort(query::FrameReader& frames, const Operation& operation,
                              const Cohort& cohort, double scale_ns, double duration_ns) {
  std::vector<double> own_ns;
  double duration_sum = 0;
  for (const SpanRow& span : cohort.spans.spans) {
    const auto duration = static_cast<double>(span.duration().ns);
    duration_sum += duration;
    own_ns.push_back(duration * cohort.own_fraction);
  }
  const double spans = std::max<double>(1, static_cast<double>(own_ns.size()));
  TRY_ASSIGN(CodeView view, MakeCodeView(frames, cohort.samples, std::move(own_ns)));
  view.service = operation.service;
  view.pooled = true;
  view.scale_ns = scale_ns > 0 ? scale_ns : duration_sum * cohort.own_fraction / spans;
  view.duration_ns = duration_ns > 0 ? duration_ns : duration_sum / spans;
  view.query = PooledFlameUrl(operation.service, operation.name, cohort.range, view.type);
  return view;
}

}  // namespace hotspan::correlate
