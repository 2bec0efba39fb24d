#include "query/search.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include "base/clock.h"
#include "base/limits.h"
#include "query/eval.h"
#include "query/lower.h"
#include "query/traceql/parser.h"

namespace hotspan::query {
namespace {

using storage::Budget;
using storage::Compare;
using storage::Condition;
using storage::Inspected;
using storage::SpanField;
using traceql::Expr;
using traceql::ExprKind;
using traceql::Intrinsic;
using traceql::Scope;

constexpr std::size_t kFirstScanRows = 256;

void Add(Inspected& sum, const Inspected& more) {
  sum.blocks += more.blocks;
  sum.rows += more.rows;
  sum.bytes += more.bytes;
}

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool ContainsAnyCase(std::string_view text, std::string_view part) {
  return std::search(text.begin(), text.end(), part.begin(), part.end(),
                     [](char a, char b) { return Lower(a) == Lower(b); }) != text.end() ||
         part.empty();
}

// Everything a request asks of a span and its trace.
struct Plan {
  Lowered lowered;
  SpanFilter filter;
  std::vector<TagCondition> tags;
  std::string service;
  std::string name;

  bool needs_wide() const { return !tags.empty() || (!lowered.complete && filter.needs_wide()); }
  // False if a row of the scan can't match, whatever the rest of its trace.
  bool MightMatch(const SpanBatch& batch, const SpanRow& span) const {
    if (!lowered.complete && !filter.MightMatch(batch, span)) return false;
    return MatchesTags(batch, span, nullptr);
  }
  bool Matches(const TraceView& view, std::size_t index) const {
    const SpanBatch& batch = view.trace();
    const SpanRow& span = batch.spans[index];
    if (!service.empty() && batch.ServiceOf(span) != service) return false;
    if (!name.empty() && batch.Text(span.name) != name) return false;
    return MatchesTags(batch, span, &view) && filter.Matches(view, index);
  }

 private:
  bool MatchesTags(const SpanBatch& batch, const SpanRow& span, const TraceView* view) const {
    return std::ranges::all_of(
        tags, [&](const TagCondition& tag) { return MatchesTag(batch, span, view, tag); });
  }

  static bool MatchesTag(const SpanBatch& batch, const SpanRow& span, const TraceView* view,
                         const TagCondition& tag) {
    if (tag.key == "root.name" || tag.key == "root.service.name") {
      if (view == nullptr) return true;
      const SpanRow* root = view->root();
      if (root == nullptr) return false;
      return ContainsAnyCase(
          tag.key == "root.name" ? batch.Text(root->name) : batch.ServiceOf(*root), tag.value);
    }
    auto value = batch.Attributes(span.attributes).Find(tag.key);
    if (!value) value = batch.Attributes(batch.resources[span.resource].attributes).Find(tag.key);
    if (value) return ContainsAnyCase(value->ToText(), tag.value);
    if (tag.key == "name") return ContainsAnyCase(batch.Text(span.name), tag.value);
    if (tag.key == "status.code") return SpanStatusName(span.status) == tag.value;
    if (tag.key == "error") return (span.status == SpanStatus::kError) == (tag.value != "false");
    return false;
  }
};

Result<Plan> MakePlan(const std::string& query, const std::string& tags) {
  auto filter = std::make_shared<traceql::Filter>();
  if (!query.empty()) {
    TRY_ASSIGN(*filter, traceql::ParseFilter(query));
  }
  TRY_ASSIGN(SpanFilter compiled, SpanFilter::Compile(filter));
  TRY_ASSIGN(std::vector<TagCondition> conditions, ParseTags(tags));
  return Plan{query::Lower(*filter), std::move(compiled), std::move(conditions), {}, {}};
}

void AddTextCondition(std::vector<Condition>& out, SpanField field, const std::string& text) {
  if (text.empty()) return;
  Condition condition;
  condition.field = field;
  condition.value = text;
  out.push_back(std::move(condition));
}

// ---- one trace of the answer

std::optional<ResultValue> ResultOf(const std::optional<Value>& value) {
  if (!value) return std::nullopt;
  switch (value->kind()) {
    case ValueKind::kInt:
      return value->AsInt();
    case ValueKind::kDouble:
      return value->AsDouble();
    case ValueKind::kBool:
      return value->AsBool();
    case ValueKind::kEmpty:
      return std::nullopt;
    default:
      return value->ToText();
  }
}

std::optional<ResultValue> AttributeOf(const SpanBatch& batch, const SpanRow& span,
                                       const Expr& expr) {
  const AttributeList of_span = batch.Attributes(span.attributes);
  const AttributeList of_resource = batch.Attributes(batch.resources[span.resource].attributes);
  switch (expr.scope) {
    case Scope::kSpan:
      return ResultOf(of_span.Find(expr.name));
    case Scope::kResource:
      if (expr.name == "service.name") return std::string(batch.ServiceOf(span));
      return ResultOf(of_resource.Find(expr.name));
    case Scope::kInstrumentation:
      return ResultOf(batch.Attributes(batch.scopes[span.scope].attributes).Find(expr.name));
    case Scope::kAny: {
      const auto value = of_span.Find(expr.name);
      return ResultOf(value ? value : of_resource.Find(expr.name));
    }
    case Scope::kEvent:
    case Scope::kLink:
      return std::nullopt;
  }
  return std::nullopt;
}

void AddNamed(const SpanBatch& batch, const SpanRow& span, const Expr& expr, MatchedSpan& out) {
  std::optional<ResultValue> value;
  std::string key;
  if (expr.kind == ExprKind::kAttribute) {
    key = expr.name;
    value = AttributeOf(batch, span, expr);
  } else if (expr.kind == ExprKind::kIntrinsic) {
    key = traceql::IntrinsicName(expr.intrinsic);
    if (expr.intrinsic == Intrinsic::kStatus) value = std::string(SpanStatusName(span.status));
    if (expr.intrinsic == Intrinsic::kKind) value = std::string(SpanKindName(span.kind));
    if (expr.intrinsic == Intrinsic::kStatusMessage) {
      value = std::string(batch.Text(span.status_message));
    }
  }
  const bool known = std::ranges::any_of(
      out.attributes, [&key](const auto& attribute) { return attribute.first == key; });
  if (value && !known) out.attributes.emplace_back(std::move(key), *std::move(value));
  for (const Expr& operand : expr.operands) AddNamed(batch, span, operand, out);
}

MatchedSpan MatchedOf(const SpanBatch& batch, const SpanRow& span, const SpanFilter& filter) {
  MatchedSpan out;
  out.span_id = span.span_id;
  out.service = batch.ServiceOf(span);
  out.name = batch.Text(span.name);
  out.start = span.start;
  out.duration = span.duration();
  out.kind = span.kind;
  out.status = span.status;
  if (!filter.filter().empty) AddNamed(batch, span, filter.filter().expr, out);
  return out;
}

void FillSummary(const TraceView& view, TraceHit& hit) {
  const SpanBatch& batch = view.trace();
  std::map<std::string_view, ServiceCount> services;
  const SpanRow* first = &batch.spans[0];
  for (const SpanRow& span : batch.spans) {
    ServiceCount& count = services[batch.ServiceOf(span)];
    const std::uint64_t is_error = span.status == SpanStatus::kError ? 1 : 0;
    ++count.spans;
    count.errors += is_error;
    hit.errors += is_error;
    if (span.start < first->start) first = &span;
  }
  for (auto& [service, count] : services) {
    count.service = service;
    hit.services.push_back(std::move(count));
  }
  hit.has_root = view.root() != nullptr;
  const SpanRow& root = hit.has_root ? *view.root() : *first;
  hit.trace_id = root.trace_id;
  hit.root_span_id = root.span_id;
  hit.root_service = batch.ServiceOf(root);
  hit.root_name = batch.Text(root.name);
  hit.start = view.start();
  hit.duration = view.duration();
  hit.spans = batch.spans.size();
}

void FillMatched(const TraceView& view, const Plan& plan, const SearchRequest& request,
                 std::vector<const SpanRow*> matched, TraceHit& hit) {
  const SpanBatch& batch = view.trace();
  hit.matched_total = matched.size();
  const bool by_duration = request.order == SearchOrder::kLongest;
  std::ranges::sort(matched, [by_duration](const SpanRow* a, const SpanRow* b) {
    if (by_duration && a->duration() != b->duration()) return a->duration() > b->duration();
    return std::tie(a->start, a->span_id, a->kind) < std::tie(b->start, b->span_id, b->kind);
  });
  if (request.spans_per_spanset != 0 && matched.size() > request.spans_per_spanset) {
    matched.resize(request.spans_per_spanset);
  }
  for (const SpanRow* span : matched) hit.matched.push_back(MatchedOf(batch, *span, plan.filter));
}

// ---- the search

class Search {
 public:
  Search(storage::Engine& engine, const SearchRequest& request, const Plan& plan)
      : engine_(engine), request_(request), plan_(plan) {}

  Result<SearchResult> Run() {
    if (plan_.lowered.trace_id) {
      TRY(Consider(*plan_.lowered.trace_id));
    } else {
      TRY(ScanInRounds());
    }
    const bool by_duration = request_.order == SearchOrder::kLongest;
    std::ranges::sort(result_.traces, [by_duration](const TraceHit& a, const TraceHit& b) {
      if (by_duration && a.duration != b.duration) return a.duration > b.duration;
      if (a.start != b.start) return a.start > b.start;
      return a.trace_id < b.trace_id;
    });
    return std::move(result_);
  }

 private:
  // Rows of one trace may fill a scan, so a scan that names too few traces is repeated with more.
  Status ScanInRounds() {
    storage::SpanScan scan = MakeScan();
    const std::size_t rows_max = std::max<std::size_t>(request_.budget.rows_max, 1);
    scan.limit = std::min(std::max(request_.limit * 8, kFirstScanRows), rows_max);
    while (true) {
      TRY_ASSIGN(const storage::SpanScanResult rows, engine_.ScanSpans(scan));
      Add(result_.inspected, rows.inspected);
      TRY(ConsiderRows(rows.spans));
      if (IsDone()) return {};
      if (rows.inspected.truncated) result_.inspected.truncated = true;
      if (rows.spans.spans.size() < scan.limit) return {};
      if (scan.limit == rows_max) {
        result_.inspected.truncated = true;
        return {};
      }
      scan.limit = std::min(scan.limit * 8, rows_max);
    }
  }

  storage::SpanScan MakeScan() const {
    storage::SpanScan scan;
    scan.tenant = request_.tenant;
    scan.range = request_.range;
    scan.conditions = plan_.lowered.conditions;
    AddTextCondition(scan.conditions, SpanField::kService, plan_.service);
    AddTextCondition(scan.conditions, SpanField::kName, plan_.name);
    const bool any_span =
        plan_.filter.filter().empty && scan.conditions.empty() && plan_.tags.empty();
    if (any_span && request_.min_duration) {
      Condition condition;
      condition.field = SpanField::kDuration;
      condition.compare = Compare::kGreaterEqual;
      condition.value = request_.min_duration->ns;
      scan.conditions.push_back(std::move(condition));
    }
    scan.order = request_.order == SearchOrder::kLongest ? storage::SpanOrder::kLongestFirst
                                                         : storage::SpanOrder::kNewestFirst;
    scan.wide = plan_.needs_wide();
    scan.budget = request_.budget;
    return scan;
  }

  Status ConsiderRows(const SpanBatch& rows) {
    for (const SpanRow& row : rows.spans) {
      if (IsDone()) return {};
      if (seen_.contains(row.trace_id) || !plan_.MightMatch(rows, row)) continue;
      TRY(Consider(row.trace_id));
    }
    return {};
  }

  bool IsDone() {
    if (result_.traces.size() >= request_.limit) return true;
    if (result_.inspected_traces >= limits::kSearchTracesReadMax ||
        MonotonicNs() >= request_.budget.deadline_monotonic_ns) {
      result_.inspected.truncated = true;
      return true;
    }
    return false;
  }

  Status Consider(const TraceId& id) {
    seen_.insert(id);
    Budget budget = request_.budget;
    budget.rows_max = limits::kTraceSpansMax;
    TRY_ASSIGN(storage::SpanScanResult read, engine_.ReadTrace(request_.tenant, id, budget));
    Add(result_.inspected, read.inspected);
    ++result_.inspected_traces;
    if (read.spans.spans.empty()) return {};
    auto batch = std::make_shared<const SpanBatch>(std::move(read.spans));
    const TraceView view(*batch);
    if (request_.min_duration && view.duration() < *request_.min_duration) return {};
    if (request_.max_duration && view.duration() > *request_.max_duration) return {};
    std::vector<const SpanRow*> matched;
    for (std::size_t i = 0; i < batch->spans.size(); ++i) {
      if (plan_.Matches(view, i)) matched.push_back(&batch->spans[i]);
    }
    if (matched.empty()) return {};
    TraceHit hit;
    FillSummary(view, hit);
    FillMatched(view, plan_, request_, std::move(matched), hit);
    if (request_.keep_spans) hit.trace = batch;
    result_.traces.push_back(std::move(hit));
    return {};
  }

  storage::Engine& engine_;
  const SearchRequest& request_;
  const Plan& plan_;
  std::unordered_set<TraceId, TraceIdHasher> seen_;
  SearchResult result_;
};

Status CheckRequest(const SearchRequest& request) {
  const auto refuse = [](std::string message, std::string field) {
    return Fail(Error(Code::kInvalidArgument, std::move(message)).Field(std::move(field)));
  };
  if (request.limit == 0 || request.limit > limits::kSearchTracesMax) {
    return refuse("limit must be 1 to " + std::to_string(limits::kSearchTracesMax), "limit");
  }
  if (!request.query.empty() && !request.tags.empty()) {
    return refuse("a query and tags can't be combined", "tags");
  }
  if (request.min_duration && request.max_duration &&
      *request.min_duration > *request.max_duration) {
    return refuse("minimum duration is above the maximum", "min_duration");
  }
  return {};
}

// ---- spans

// Evaluates filters that need traces, reading each trace once.
class TraceCache {
 public:
  TraceCache(storage::Engine& engine, TenantId tenant, const Budget& budget)
      : engine_(engine), tenant_(tenant), budget_(budget) {}

  Result<bool> Matches(const SpanRow& row, const Plan& plan) {
    auto found = traces_.find(row.trace_id);
    if (found == traces_.end()) {
      TRY_ASSIGN(const storage::SpanScanResult read,
                 engine_.ReadTrace(tenant_, row.trace_id, budget_));
      const TraceView view(read.spans);
      std::set<Key> matched;
      for (std::size_t i = 0; i < read.spans.spans.size(); ++i) {
        if (plan.Matches(view, i)) matched.insert(KeyOf(read.spans.spans[i]));
      }
      found = traces_.emplace(row.trace_id, std::move(matched)).first;
    }
    return found->second.contains(KeyOf(row));
  }

  std::size_t size() const { return traces_.size(); }

 private:
  using Key = std::pair<SpanId, SpanKind>;
  static Key KeyOf(const SpanRow& span) { return {span.span_id, span.kind}; }

  storage::Engine& engine_;
  const TenantId tenant_;
  const Budget budget_;
  std::unordered_map<TraceId, std::set<Key>, TraceIdHasher> traces_;
};

// Appends what matches of the rows; stops at the limit.
Status Collect(const SpanBatch& rows, const Plan& plan, TraceCache& traces, std::size_t limit,
               FoundSpans& out) {
  for (const SpanRow& row : rows.spans) {
    if (out.spans.size() == limit) return {};
    if (!plan.MightMatch(rows, row)) continue;
    if (plan.filter.needs_trace()) {
      if (traces.size() >= limits::kSearchTracesReadMax) {
        out.inspected.truncated = true;
        return {};
      }
      TRY_ASSIGN(const bool matches, traces.Matches(row, plan));
      if (!matches) continue;
    }
    out.spans.push_back({row.trace_id, row.span_id, std::string(rows.ServiceOf(row)),
                         std::string(rows.Text(row.name)), row.start, row.duration()});
  }
  return {};
}

void KeepTrace(const Lowered& lowered, storage::SpanScan& scan) {
  if (!lowered.trace_id) return;
  AddTextCondition(scan.conditions, SpanField::kTraceId, lowered.trace_id->ToHex());
}

}  // namespace

Result<SearchResult> SearchTraces(storage::Engine& engine, const SearchRequest& request) {
  TRY(CheckRequest(request));
  TRY_ASSIGN(Plan plan, MakePlan(request.query, request.tags));
  if (plan.lowered.nothing) return SearchResult{};
  plan.service = request.service;
  plan.name = request.name;
  return Search(engine, request, plan).Run();
}

Result<FoundSpans> FindSpans(storage::Engine& engine, TenantId tenant, TimeRange range,
                             const std::string& query, std::size_t limit, const Budget& budget) {
  TRY_ASSIGN(const Plan plan, MakePlan(query, ""));
  FoundSpans out;
  if (plan.lowered.nothing || limit == 0) return out;
  storage::SpanScan scan;
  scan.tenant = tenant;
  scan.range = range;
  scan.conditions = plan.lowered.conditions;
  KeepTrace(plan.lowered, scan);
  scan.wide = plan.needs_wide();
  scan.budget = budget;
  const std::size_t rows_max = std::max<std::size_t>(budget.rows_max, 1);
  scan.limit = std::min(std::max(limit, kFirstScanRows), rows_max);
  TraceCache traces(engine, tenant, budget);
  while (true) {
    TRY_ASSIGN(const storage::SpanScanResult rows, engine.ScanSpans(scan));
    Add(out.inspected, rows.inspected);
    out.inspected.truncated = rows.inspected.truncated;
    out.spans.clear();
    TRY(Collect(rows.spans, plan, traces, limit, out));
    const bool exhausted = rows.spans.spans.size() < scan.limit;
    if (out.spans.size() == limit || exhausted) return out;
    if (scan.limit == rows_max || traces.size() >= limits::kSearchTracesReadMax ||
        MonotonicNs() >= budget.deadline_monotonic_ns) {
      out.inspected.truncated = true;
      return out;
    }
    scan.limit = std::min(scan.limit * 8, rows_max);
  }
}

}  // namespace hotspan::query
