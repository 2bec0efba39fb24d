#include "query/catalog.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "base/limits.h"
#include "query/traceql/parser.h"

namespace hotspan::query {
namespace {

using storage::Catalog;
using storage::OperationStats;
using storage::ProfileStats;

constexpr std::size_t kRareOperationSpans = 1000;
constexpr std::size_t kTypeProbeSpans = 2000;

// Adds [first, last] to a service's time; `is_new` before anything was added.
void Extend(ServiceSummary& service, bool is_new, TimeNs first, TimeNs last) {
  service.first = is_new ? first : std::min(service.first, first);
  service.last = is_new ? last : std::max(service.last, last);
}

double SecondsOf(TimeRange range, const ServiceSummary& service) {
  const bool is_open = range.begin.ns == INT64_MIN || range.end.ns == INT64_MAX;
  const DurationNs length = is_open ? service.last - service.first : range.end - range.begin;
  return static_cast<double>(std::max<std::int64_t>(length.ns, 1)) / 1e9;
}

using OperationKey = std::tuple<std::string, std::string, SpanKind>;
using Durations = std::map<OperationKey, std::vector<std::int64_t>>;

storage::SpanScan NewestOf(TenantId tenant, TimeRange range, const std::string& service,
                           std::size_t limit) {
  storage::SpanScan scan;
  scan.tenant = tenant;
  scan.range = range;
  scan.wide = false;
  scan.limit = limit;
  if (!service.empty()) {
    storage::Condition condition;
    condition.field = storage::SpanField::kService;
    condition.value = service;
    scan.conditions.push_back(std::move(condition));
  }
  return scan;
}

void AddDurations(const SpanBatch& rows, Durations& out) {
  for (const SpanRow& span : rows.spans) {
    out[{std::string(rows.ServiceOf(span)), std::string(rows.Text(span.name)), span.kind}]
        .push_back(span.duration().ns);
  }
}

// Operations that the newest spans of the service don't hold get a scan of their own.
Status AddRare(storage::Engine& engine, TenantId tenant, TimeRange range,
               const std::map<OperationKey, OperationSummary>& operations, Durations& durations) {
  std::size_t scans = 0;
  for (const auto& [key, operation] : operations) {
    if (durations.contains(key)) continue;
    if (++scans > limits::kRareOperationsMax) return {};
    storage::SpanScan scan = NewestOf(tenant, range, operation.service, kRareOperationSpans);
    storage::Condition name;
    name.value = operation.name;
    scan.conditions.push_back(std::move(name));
    storage::Condition kind;
    kind.field = storage::SpanField::kKind;
    kind.value = static_cast<std::int64_t>(operation.kind);
    scan.conditions.push_back(std::move(kind));
    TRY_ASSIGN(const storage::SpanScanResult rows, engine.ScanSpans(scan));
    AddDurations(rows.spans, durations);
  }
  return {};
}

void FillPercentiles(std::vector<std::int64_t>& durations, OperationSummary& out) {
  std::ranges::sort(durations);
  out.sampled = durations.size();
  out.p50 = PercentileOf(durations, 0.50);
  out.p95 = PercentileOf(durations, 0.95);
  out.p99 = PercentileOf(durations, 0.99);
  out.max = PercentileOf(durations, 1.0);
}

std::vector<TagValue> Keywords(std::initializer_list<std::string_view> words) {
  std::vector<TagValue> out;
  for (const std::string_view word : words) out.push_back({"keyword", std::string(word)});
  return out;
}

std::vector<TagValue> TextValues(std::set<std::string> texts, std::size_t limit) {
  std::vector<TagValue> out;
  for (const std::string& text : texts) {
    if (out.size() == limit) break;
    out.push_back({"string", text});
  }
  return out;
}

Result<std::vector<TagValue>> IntrinsicValues(storage::Engine& engine, TenantId tenant,
                                              TimeRange range, traceql::Intrinsic intrinsic,
                                              std::size_t limit) {
  using traceql::Intrinsic;
  if (intrinsic == Intrinsic::kStatus) return Keywords({"error", "ok", "unset"});
  if (intrinsic == Intrinsic::kKind) {
    return Keywords({"client", "consumer", "internal", "producer", "server", "unspecified"});
  }
  const bool of_names = intrinsic == Intrinsic::kName || intrinsic == Intrinsic::kRootName;
  if (!of_names && intrinsic != Intrinsic::kRootServiceName) return std::vector<TagValue>{};
  TRY_ASSIGN(const Catalog catalog, engine.ReadCatalog({tenant, range, ""}));
  std::set<std::string> texts;
  for (const OperationStats& operation : catalog.operations) {
    texts.insert(of_names ? operation.name : operation.service);
  }
  return TextValues(std::move(texts), limit);
}

std::string_view TypeOf(ValueKind kind) {
  switch (kind) {
    case ValueKind::kInt:
      return "int";
    case ValueKind::kDouble:
      return "float";
    case ValueKind::kBool:
      return "bool";
    default:
      return "string";
  }
}

// Tag lists hold texts; the newest spans tell whether they were numbers.
Result<std::string> TypeOfTag(storage::Engine& engine, TenantId tenant, TimeRange range,
                              const traceql::Expr& tag) {
  storage::SpanScan scan = NewestOf(tenant, range, "", kTypeProbeSpans);
  scan.wide = true;
  TRY_ASSIGN(const storage::SpanScanResult rows, engine.ScanSpans(scan));
  const SpanBatch& batch = rows.spans;
  for (const SpanRow& span : batch.spans) {
    std::optional<Value> value;
    if (tag.scope != traceql::Scope::kResource) {
      value = batch.Attributes(span.attributes).Find(tag.name);
    }
    if (!value && tag.scope != traceql::Scope::kSpan) {
      value = batch.Attributes(batch.resources[span.resource].attributes).Find(tag.name);
    }
    if (value) return std::string(TypeOf(value->kind()));
  }
  return std::string("string");
}

Result<std::vector<TagValue>> AttributeValues(storage::Engine& engine, TenantId tenant,
                                              TimeRange range, const traceql::Expr& tag,
                                              std::size_t limit) {
  storage::TagsRequest request;
  request.tenant = tenant;
  request.range = range;
  request.key = tag.name;
  request.resource = tag.scope == traceql::Scope::kAny || tag.scope == traceql::Scope::kResource;
  request.span = tag.scope == traceql::Scope::kAny || tag.scope == traceql::Scope::kSpan;
  request.limit = limit;
  if (!request.resource && !request.span) return std::vector<TagValue>{};
  TRY_ASSIGN(storage::TagsResult tags, engine.ReadTags(request));
  std::set<std::string> texts(tags.resource.begin(), tags.resource.end());
  texts.insert(tags.span.begin(), tags.span.end());
  std::vector<TagValue> values = TextValues(std::move(texts), limit);
  const bool may_be_number = std::ranges::all_of(values, [](const TagValue& value) {
    return !value.value.empty() &&
           (value.value == "true" || value.value == "false" ||
            value.value.find_first_not_of("0123456789.eE+-") == std::string::npos);
  });
  if (values.empty() || !may_be_number) return values;
  TRY_ASSIGN(const std::string type, TypeOfTag(engine, tenant, range, tag));
  for (TagValue& value : values) value.type = type;
  return values;
}

}  // namespace

DurationNs PercentileOf(const std::vector<std::int64_t>& sorted_ns, double fraction) {
  if (sorted_ns.empty()) return {};
  const double rank = std::ceil(fraction * static_cast<double>(sorted_ns.size()) - 1e-9);
  const auto index = static_cast<std::size_t>(std::max(rank, 1.0)) - 1;
  return {sorted_ns[std::min(index, sorted_ns.size() - 1)]};
}

Result<std::vector<ServiceSummary>> ListServices(storage::Engine& engine, TenantId tenant,
                                                 TimeRange range) {
  TRY_ASSIGN(const Catalog catalog, engine.ReadCatalog({tenant, range, ""}));
  std::map<std::string, ServiceSummary> services;
  std::map<std::string, std::set<std::string>> types;
  for (const OperationStats& operation : catalog.operations) {
    const auto [entry, is_new] = services.try_emplace(operation.service);
    Extend(entry->second, is_new, operation.first, operation.last);
    entry->second.spans += operation.spans;
    entry->second.errors += operation.errors;
  }
  for (const ProfileStats& profile : catalog.profiles) {
    const auto [entry, is_new] = services.try_emplace(profile.service);
    Extend(entry->second, is_new, profile.first, profile.last);
    entry->second.samples += profile.samples;
    entry->second.span_linked += profile.span_linked + profile.local_root_linked;
    types[profile.service].insert(profile.type);
  }
  std::vector<ServiceSummary> out;
  for (auto& [name, service] : services) {
    service.service = name;
    service.rate = static_cast<double>(service.spans) / SecondsOf(range, service);
    service.span_linked = std::min(service.span_linked, service.samples);
    const std::set<std::string>& names = types[name];
    service.profile_types.assign(names.begin(), names.end());
    out.push_back(std::move(service));
  }
  return out;
}

Result<std::vector<OperationSummary>> ListOperations(storage::Engine& engine, TenantId tenant,
                                                     TimeRange range, const std::string& service) {
  TRY_ASSIGN(const Catalog catalog, engine.ReadCatalog({tenant, range, service}));
  std::map<OperationKey, OperationSummary> operations;
  for (const OperationStats& stats : catalog.operations) {
    OperationSummary& operation = operations[{stats.service, stats.name, stats.kind}];
    operation.service = stats.service;
    operation.name = stats.name;
    operation.kind = stats.kind;
    operation.spans += stats.spans;
    operation.errors += stats.errors;
  }
  const auto scan = NewestOf(tenant, range, service, limits::kPercentileSpansMax);
  TRY_ASSIGN(const storage::SpanScanResult rows, engine.ScanSpans(scan));
  Durations durations;
  AddDurations(rows.spans, durations);
  if (rows.spans.spans.size() == scan.limit) {
    TRY(AddRare(engine, tenant, range, operations, durations));
  }
  std::vector<OperationSummary> out;
  for (auto& [key, operation] : operations) {
    const auto found = durations.find(key);
    if (found != durations.end()) FillPercentiles(found->second, operation);
    out.push_back(std::move(operation));
  }
  return out;
}

Result<TagNames> ListTagNames(storage::Engine& engine, TenantId tenant, TimeRange range,
                              std::size_t limit) {
  storage::TagsRequest request;
  request.tenant = tenant;
  request.range = range;
  request.limit = limit;
  TRY_ASSIGN(storage::TagsResult tags, engine.ReadTags(request));
  TagNames out;
  out.resource = std::move(tags.resource);
  out.span = std::move(tags.span);
  for (const std::string_view name : traceql::IntrinsicNames()) out.intrinsic.emplace_back(name);
  return out;
}

Result<std::vector<TagValue>> ListTagValues(storage::Engine& engine, TenantId tenant,
                                            TimeRange range, const std::string& tag,
                                            std::size_t limit) {
  if (tag == "status.code") return Keywords({"error", "ok", "unset"});
  if (tag == "error") return Keywords({"true"});
  auto parsed = traceql::ParseIdentifier(tag);
  // Older clients send the name alone.
  if (!parsed && !tag.empty() && tag.find_first_of("{}()=~!<>&|^, ") == std::string::npos) {
    parsed = traceql::ParseIdentifier("." + tag);
  }
  if (!parsed) return Fail(std::move(parsed).error());
  if (parsed->kind == traceql::ExprKind::kIntrinsic) {
    return IntrinsicValues(engine, tenant, range, parsed->intrinsic, limit);
  }
  return AttributeValues(engine, tenant, range, *parsed, limit);
}

}  // namespace hotspan::query
