#include "tests/conformance/workload.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "storage/source.h"

namespace hotspan::conformance {
namespace {

constexpr std::int64_t kSpread = 6 * kHour.ns;

std::string Attributes(Workload& random, int count) {
  std::string packed;
  AttributeWriter writer(packed);
  for (int i = 0; i < count; ++i) {
    const std::string key = fmt::format("key{}", random.Below(6));
    const auto number = static_cast<std::int64_t>(random.Below(5));
    switch (random.Below(5)) {
      case 0:
        writer.Add(key, Value::String(fmt::format("value{}", number)));
        break;
      case 1:
        writer.Add(key, Value::Int(number));
        break;
      case 2:
        writer.Add(key, Value::Double(static_cast<double>(number) / 2));
        break;
      case 3:
        writer.Add(key, Value::Bool(number % 2 == 0));
        break;
      default: {
        std::string elements;
        ValueWriter(elements).Add(Value::Int(number));
        writer.Add(key, Value::Array(elements));
      }
    }
  }
  return packed;
}

ResourceRow Resource(Workload& random, std::string& arena) {
  const auto add = [&](std::string_view text) {
    const Slice slice{static_cast<std::uint32_t>(arena.size()),
                      static_cast<std::uint32_t>(text.size())};
    arena.append(text);
    return slice;
  };
  const std::string service = random.Service();
  std::string attributes;
  AttributeWriter(attributes)
      .Add("service.name", Value::String(service))
      .Add("service.version", Value::String(random.Chance(0.5) ? "1" : "2"));
  if (random.Chance(0.5)) {
    AttributeWriter(attributes).Add("host.name", Value::String(random.Chance(0.5) ? "a" : "b"));
  }
  ResourceRow row;
  row.service_name = add(service);
  row.attributes = add(attributes);
  row.schema_url = add(random.Chance(0.2) ? "https://example.org/schema" : "");
  row.dropped_attributes = static_cast<std::uint32_t>(random.Below(2));
  return row;
}

std::string FramesText(const FrameTable& table, StackNumber stack) {
  const auto found = table.stacks.find(stack);
  if (found == table.stacks.end()) return "?";
  std::string text;
  for (const std::uint32_t index : found->second) {
    const Frame& frame = table.frames[index];
    text += fmt::format("{}@{}:{} {} {} {:x} {}{};", frame.function, frame.file, frame.line,
                        frame.module, frame.build_id, frame.address, frame.inlined ? 'i' : '-',
                        frame.symbolized ? 's' : '-');
  }
  return text;
}

}  // namespace

TraceId Workload::Trace() {
  TraceId id;
  id.bytes[0] = static_cast<std::uint8_t>(Below(40));
  id.bytes[15] = 1;
  return id;
}

namespace {
SpanId Numbered(std::uint32_t number) {
  SpanId id;
  std::memcpy(id.bytes.data() + 2, &number, sizeof(number));
  id.bytes[7] = 1;
  return id;
}
}  // namespace

SpanId Workload::Span() { return Numbered(static_cast<std::uint32_t>(Below(spans_))); }

std::string Workload::Service() { return fmt::format("service{}", Below(4)); }
std::string Workload::Operation() { return fmt::format("operation{}", Below(6)); }

TimeNs Workload::Time() {
  // Few distinct times, so that ties are met.
  const auto step = static_cast<std::int64_t>(Below(500));
  return {kNow - kSpread + step * (kSpread / 500)};
}

TimeRange Workload::Range() {
  if (Chance(0.2)) return {};
  const TimeNs a = Time(), b = Time();
  return {std::min(a, b), std::max(a, b)};
}

std::shared_ptr<const SpanBatch> Workload::Spans(std::size_t count) {
  auto batch = std::make_shared<SpanBatch>();
  for (std::uint64_t i = 0, n = 1 + Below(3); i < n; ++i) {
    batch->resources.push_back(Resource(*this, batch->arena));
    ScopeRow scope;
    scope.name = batch->Add(fmt::format("scope{}", Below(3)));
    scope.version = batch->Add("1.0");
    batch->scopes.push_back(scope);
  }
  for (std::size_t i = 0; i < count; ++i) {
    SpanRow row;
    row.trace_id = Trace();
    row.span_id = Numbered(spans_++);
    if (Chance(0.7)) row.parent_span_id = Span();
    row.start = Time();
    row.end = row.start + DurationNs{static_cast<std::int64_t>(Below(50)) * 1'000'000};
    row.name = batch->Add(Operation());
    row.attributes = batch->Add(Attributes(*this, static_cast<int>(Below(5))));
    std::string packed;
    for (std::uint64_t n = Below(3); n > 0; --n) {
      const std::string attributes = Attributes(*this, 1);
      AppendEvent(packed, {row.start, "event", AttributeList(attributes), 0});
    }
    row.events = batch->Add(packed);
    packed.clear();
    if (Chance(0.2)) AppendLink(packed, {Trace(), Span(), "a=b", AttributeList(), 1, 2});
    row.links = batch->Add(packed);
    row.trace_state = batch->Add(Chance(0.1) ? "ot=th:8" : "");
    row.status = static_cast<SpanStatus>(Below(3));
    row.status_message = batch->Add(row.status == SpanStatus::kError ? "went wrong" : "");
    row.kind = static_cast<SpanKind>(Below(6));
    row.resource = static_cast<std::uint32_t>(Below(batch->resources.size()));
    row.scope = static_cast<std::uint32_t>(Below(batch->scopes.size()));
    row.flags = static_cast<std::uint32_t>(Below(2));
    row.dropped_events = static_cast<std::uint32_t>(Below(2));
    batch->spans.push_back(row);
  }
  return batch;
}

std::shared_ptr<const SampleBatch> Workload::Samples(std::size_t count) {
  auto batch = std::make_shared<SampleBatch>();
  batch->timed = true;
  batch->resources.push_back(Resource(*this, batch->arena));
  for (int i = 0; i < 12; ++i) {
    FunctionRow function;
    function.name = batch->Add(fmt::format("function{}", Below(10)));
    function.file = batch->Add(fmt::format("file{}.cc", Below(3)));
    batch->functions.push_back(function);
    batch->lines.push_back({static_cast<std::uint32_t>(i), static_cast<std::int32_t>(Below(3))});
  }
  batch->mappings.push_back({batch->Add("/bin/app"), batch->Add("abcd"), 0x1000, 0x2000, 0});
  for (std::uint32_t i = 0; i + 2 < 12; ++i) {
    LocationRow location;
    location.first_line = i;
    location.line_count = static_cast<std::uint32_t>(Below(3));
    if (Chance(0.4)) location.mapping = 0;
    location.address = Below(4) * 16;
    batch->locations.push_back(location);
  }
  for (int i = 0; i < 8; ++i) {
    StackRow stack;
    stack.first_location = static_cast<std::uint32_t>(batch->stack_locations.size());
    stack.location_count = static_cast<std::uint32_t>(Below(5));
    for (std::uint32_t j = 0; j < stack.location_count; ++j) {
      batch->stack_locations.push_back(static_cast<std::uint32_t>(Below(batch->locations.size())));
    }
    batch->stacks.push_back(stack);
  }
  for (int i = 0; i < 5; ++i) {
    LinkRow link;
    if (Chance(0.8)) link.trace_id = Trace();
    link.span_id = Span();
    link.kind = Chance(0.2) ? LinkKind::kLocalRoot : LinkKind::kSpan;
    batch->links.push_back(link);
  }
  std::string labels;
  AttributeWriter(labels).Add("thread.id", Value::Int(static_cast<std::int64_t>(Below(9))));
  batch->label_sets.push_back(batch->Add(labels));
  for (std::uint64_t i = 0, n = 1 + Below(3); i < n; ++i) {
    SeriesRow series;
    series.type = batch->Add(Chance(0.6) ? "cpu" : "off_cpu");
    std::string attributes;
    AttributeWriter(attributes).Add("zone", Value::String(Chance(0.5) ? "x" : "y"));
    series.attributes = batch->Add(attributes);
    series.period = Chance(0.8) ? 10 : 20;
    series.start = Time();
    batch->series.push_back(series);
  }
  for (std::size_t i = 0; i < count; ++i) {
    SampleRow row;
    row.value = static_cast<std::int64_t>(Below(100));
    row.time = Time();
    row.series = static_cast<std::uint32_t>(Below(batch->series.size()));
    row.stack = static_cast<std::uint32_t>(Below(batch->stacks.size()));
    row.link = Chance(0.4) ? static_cast<std::uint32_t>(Below(batch->links.size())) : 0;
    row.labels = static_cast<std::uint32_t>(Below(2));
    batch->samples.push_back(row);
  }
  return batch;
}

storage::WriteBatch Workload::Batch() {
  storage::WriteBatch batch;
  batch.batch_id = {random_(), random_()};
  batch.received = {kNow};
  if (Chance(0.6)) batch.spans = Spans(Below(60));
  if (!batch.spans || Chance(0.4)) batch.samples = Samples(Below(120));
  return batch;
}

storage::Condition Workload::AnyCondition() {
  using storage::SpanField;
  storage::Condition condition;
  condition.compare = static_cast<storage::Compare>(Below(6));
  const auto number = static_cast<std::int64_t>(Below(5));
  condition.field = static_cast<SpanField>(Below(10));
  switch (condition.field) {
    case SpanField::kService:
      condition.value = Service();
      break;
    case SpanField::kName:
      condition.value = Operation();
      break;
    case SpanField::kDuration:
      condition.value = static_cast<std::int64_t>(Below(50)) * 1'000'000;
      break;
    case SpanField::kKind:
    case SpanField::kStatus:
      condition.value = number;
      break;
    case SpanField::kTraceId:
      condition.value = Trace().ToHex();
      break;
    case SpanField::kSpanId:
      condition.value = Span().ToHex();
      break;
    case SpanField::kResourceAttribute:
      condition.key = "service.version";
      condition.value = std::string(Chance(0.5) ? "1" : "2");
      break;
    case SpanField::kSpanAttribute:
    case SpanField::kAnyAttribute:
      condition.key = fmt::format("key{}", Below(6));
      switch (Below(4)) {
        case 0:
          condition.value = fmt::format("value{}", number);
          break;
        case 1:
          condition.value = number;
          break;
        case 2:
          condition.value = static_cast<double>(number) / 2;
          break;
        default:
          condition.value = number % 2 == 0;
      }
  }
  return condition;
}

storage::SpanScan Workload::Scan() {
  storage::SpanScan scan;
  scan.range = Range();
  for (std::uint64_t n = Below(3); n > 0; --n) scan.conditions.push_back(AnyCondition());
  scan.order = Chance(0.5) ? storage::SpanOrder::kNewestFirst : storage::SpanOrder::kLongestFirst;
  scan.limit = Chance(0.5) ? 1 + Below(20) : 100'000;
  return scan;
}

storage::SampleMerge Workload::Merge() {
  storage::SampleMerge merge;
  merge.type = Chance(0.7) ? "cpu" : "off_cpu";
  if (Chance(0.7)) merge.service = Service();
  merge.range = Range();
  if (Chance(0.3)) merge.matchers.push_back({"zone", "x", Chance(0.5)});
  if (Chance(0.3)) merge.matchers.push_back({"service.version", "1", false});
  return merge;
}

storage::SamplesBySpans Workload::BySpans() {
  storage::SamplesBySpans request;
  for (std::uint64_t n = 1 + Below(6); n > 0; --n) {
    request.spans.push_back({Chance(0.8) ? Trace() : TraceId{}, Span()});
  }
  if (Chance(0.5)) request.type = "cpu";
  return request;
}

std::vector<std::string> Dump(const SpanBatch& batch) {
  std::vector<std::string> lines;
  for (const SpanRow& row : batch.spans) {
    const ResourceRow& resource = batch.resources[row.resource];
    const ScopeRow& scope = batch.scopes[row.scope];
    lines.push_back(fmt::format(
        "{} {} {} {} {} {} {} {} {} [{}] [{}] [{}] [{}] [{}] {} {} {} {} | {} [{}] {} {} | {} {}",
        row.trace_id.ToHex(), row.span_id.ToHex(), row.parent_span_id.ToHex(), row.start.ns,
        row.end.ns, static_cast<int>(row.kind), static_cast<int>(row.status), batch.ServiceOf(row),
        batch.Text(row.name), ToHex(batch.Text(row.attributes)), ToHex(batch.Text(row.events)),
        ToHex(batch.Text(row.links)), batch.Text(row.trace_state), batch.Text(row.status_message),
        row.flags, row.dropped_attributes, row.dropped_events, row.dropped_links,
        batch.Text(resource.service_name), ToHex(batch.Text(resource.attributes)),
        batch.Text(resource.schema_url), resource.dropped_attributes, batch.Text(scope.name),
        batch.Text(scope.version)));
  }
  return lines;
}

SumsByFrames Dump(storage::Engine& engine, const storage::MergedSamples& merged) {
  std::vector<StackNumber> numbers;
  for (const auto& sum : merged.stacks) numbers.push_back(sum.stack);
  const auto table = engine.ReadStacks(numbers);
  CHECK(table);
  SumsByFrames sums;
  for (const auto& sum : merged.stacks) {
    auto& [total, count] = sums[FramesText(*table, sum.stack)];
    total += sum.sum;
    count += sum.count;
  }
  return sums;
}

std::vector<std::string> Dump(storage::Engine& engine, const storage::SpanSamples& samples) {
  std::vector<StackNumber> numbers;
  for (const auto& sample : samples.samples) numbers.push_back(sample.stack);
  const auto table = engine.ReadStacks(numbers);
  CHECK(table);
  std::vector<std::string> lines;
  for (const auto& sample : samples.samples) {
    lines.push_back(fmt::format("{} {} {} {} {} {} {} {}", sample.span, samples.types[sample.type],
                                static_cast<int>(sample.link), sample.value, sample.time.ns,
                                sample.period, sample.thread, FramesText(*table, sample.stack)));
  }
  std::ranges::sort(lines);
  return lines;
}

std::vector<std::string> Dump(const storage::Catalog& catalog) {
  std::vector<std::string> lines;
  for (const auto& stats : catalog.operations) {
    lines.push_back(fmt::format("op {} {} {} {} {} {} {}", stats.service, stats.name,
                                static_cast<int>(stats.kind), stats.first.ns, stats.last.ns,
                                stats.spans, stats.errors));
  }
  for (const auto& stats : catalog.profiles) {
    lines.push_back(fmt::format("profile {} {} {} {} {} {} {} {} {} {} {}", stats.service,
                                stats.type, stats.version, stats.instance, stats.agent,
                                stats.first.ns, stats.last.ns, stats.samples, stats.span_linked,
                                stats.local_root_linked, stats.period));
  }
  std::ranges::sort(lines);
  return lines;
}

std::vector<std::string> Dump(const storage::TagsResult& tags) {
  std::vector<std::string> lines;
  for (const auto& text : tags.resource) lines.push_back("resource " + text);
  for (const auto& text : tags.span) lines.push_back("span " + text);
  return lines;
}

}  // namespace hotspan::conformance
