// A small world for tests: spans and samples written to a real engine by a few short calls.
//
// Threads: one.
#pragma once

#include <charconv>
#include <cstdint>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/clock.h"
#include "model/sample.h"
#include "model/span.h"
#include "query/frames.h"
#include "storage/engine.h"
#include "storage/reference/reference_engine.h"

namespace hotspan::correlate {

inline constexpr std::int64_t kMs = 1'000'000;
inline constexpr std::int64_t kNow = 1'800'000'000'000'000'000;
inline constexpr std::int64_t kPeriod = 10'000'000;
inline constexpr std::string_view kCpu = "process_cpu:cpu:nanoseconds:cpu:nanoseconds";
inline constexpr std::string_view kOffCpu = "off_cpu:off_cpu:nanoseconds::";

using TextAttributes = std::vector<std::pair<std::string, std::string>>;

struct SpanSpec {
  std::uint64_t trace = 1;
  std::uint64_t id = 1;
  std::uint64_t parent = 0;
  std::string service = "shop";
  std::string name = "work";
  std::int64_t begin_ms = 0;  // from kNow on
  std::int64_t end_ms = 0;
  SpanKind kind = SpanKind::kInternal;
  SpanStatus status = SpanStatus::kUnset;
  TextAttributes attributes = {};
  TextAttributes resource = {};
  std::int64_t code_line = 0;  // code.line.number
  std::string events = {};     // packed
};

struct SampleSpec {
  std::string service = "shop";
  std::string type{kCpu};
  std::uint64_t trace = 1;
  std::uint64_t span = 1;  // 0: no link
  LinkKind link = LinkKind::kSpan;
  std::string stack = {};  // "root;caller:12;leaf", with lines where given
  std::int64_t at_ns = 0;  // from kNow on
  std::int64_t value = kPeriod;
  std::int64_t period = kPeriod;
  TextAttributes resource = {};
  TextAttributes labels = {};  // of the series
};

class World {
 public:
  World()
      : clock_(kNow), engine_(storage::MakeReferenceEngine(clock_)), frames_(*engine_, nullptr) {}

  static SpanId Span(std::uint64_t number) {
    SpanId id;
    for (std::size_t i = 0; i < 8; ++i)
      id.bytes[7 - i] = static_cast<std::uint8_t>(number >> (8 * i));
    return id;
  }
  static TraceId Trace(std::uint64_t number) {
    TraceId id;
    for (std::size_t i = 0; i < 8; ++i)
      id.bytes[15 - i] = static_cast<std::uint8_t>(number >> (8 * i));
    return id;
  }

  void Add(const SpanSpec& spec) {
    SpanRow row;
    row.trace_id = Trace(spec.trace);
    row.span_id = Span(spec.id);
    row.parent_span_id = Span(spec.parent);
    row.start = TimeNs{kNow + spec.begin_ms * kMs};
    row.end = TimeNs{kNow + spec.end_ms * kMs};
    row.kind = spec.kind;
    row.status = spec.status;
    row.name = spans_->Add(spec.name);
    std::string packed = Pack(spec.attributes);
    if (spec.code_line > 0)
      AttributeWriter(packed).Add("code.line.number", Value::Int(spec.code_line));
    row.attributes = spans_->Add(packed);
    row.events = spans_->Add(spec.events);
    row.resource = ResourceOf(*spans_, span_resources_, spec.service, spec.resource);
    if (spans_->scopes.empty()) spans_->scopes.emplace_back();
    spans_->spans.push_back(row);
  }

  void Add(const SampleSpec& spec) {
    SampleRow row;
    row.value = spec.value;
    row.time = TimeNs{kNow + spec.at_ns};
    row.series = SeriesOf(spec);
    row.stack = StackOf(spec.stack);
    if (spec.span != 0) {
      row.link = static_cast<std::uint32_t>(samples_->links.size());
      LinkRow link;
      link.trace_id = Trace(spec.trace);
      link.span_id = Span(spec.span);
      link.kind = spec.link;
      samples_->links.push_back(link);
    }
    samples_->timed = true;
    samples_->samples.push_back(row);
  }

  // `count` samples of one stack, one period apart.
  void AddMany(SampleSpec spec, int count) {
    for (int i = 0; i < count; ++i) {
      Add(spec);
      spec.at_ns += kPeriod;
    }
  }

  void Write() {
    storage::WriteBatch batch;
    batch.received = TimeNs{kNow};
    CHECK(FindDamage(*samples_).empty());
    if (!spans_->spans.empty()) batch.spans = spans_;
    if (!samples_->samples.empty()) batch.samples = samples_;
    const auto written = engine_->Write(std::move(batch));
    CHECK(written.has_value());
    spans_ = std::make_shared<SpanBatch>();
    samples_ = std::make_shared<SampleBatch>();
    span_resources_.clear();
    sample_resources_.clear();
    series_.clear();
    stacks_.clear();
  }

  storage::Engine& engine() { return *engine_; }
  query::FrameReader& frames() { return frames_; }
  ManualClock& clock() { return clock_; }

 private:
  static std::string Pack(const TextAttributes& attributes) {
    std::string packed;
    for (const auto& [key, value] : attributes) {
      AttributeWriter(packed).Add(key, Value::String(value));
    }
    return packed;
  }

  template <typename Batch>
  std::uint32_t ResourceOf(Batch& batch, std::map<std::string, std::uint32_t>& known,
                           const std::string& service, const TextAttributes& extra) {
    std::string packed = Pack({{"service.name", service}}) + Pack(extra);
    const auto [at, added] =
        known.emplace(packed, static_cast<std::uint32_t>(batch.resources.size()));
    if (added) {
      ResourceRow resource;
      resource.service_name = batch.Add(service);
      resource.attributes = batch.Add(packed);
      batch.resources.push_back(resource);
    }
    return at->second;
  }

  std::uint32_t SeriesOf(const SampleSpec& spec) {
    const std::uint32_t resource =
        ResourceOf(*samples_, sample_resources_, spec.service, spec.resource);
    const std::string labels = Pack(spec.labels);
    const std::string key = std::to_string(resource) + spec.type + labels;
    const auto [at, added] =
        series_.emplace(key, static_cast<std::uint32_t>(samples_->series.size()));
    if (added) {
      SeriesRow series;
      series.resource = resource;
      series.type = samples_->Add(spec.type);
      series.attributes = samples_->Add(labels);
      series.period = spec.period;
      series.start = TimeNs{kNow + spec.at_ns};
      series.duration = DurationNs{10 * kSecond.ns};
      samples_->series.push_back(series);
    }
    return at->second;
  }

  std::uint32_t StackOf(const std::string& text) {
    const auto [at, added] =
        stacks_.emplace(text, static_cast<std::uint32_t>(samples_->stacks.size()));
    if (!added) return at->second;
    std::vector<std::string> names;
    std::istringstream in(text);
    for (std::string name; std::getline(in, name, ';');) names.push_back(name);
    StackRow stack;
    stack.first_location = static_cast<std::uint32_t>(samples_->stack_locations.size());
    stack.location_count = static_cast<std::uint32_t>(names.size());
    for (std::size_t i = names.size(); i-- > 0;) {
      samples_->stack_locations.push_back(static_cast<std::uint32_t>(samples_->locations.size()));
      AddLocation(names[i]);
    }
    samples_->stacks.push_back(stack);
    return at->second;
  }

  void AddLocation(const std::string& name) {
    const std::size_t colon = name.find_last_of(':');
    const bool has_line = colon != name.npos && colon + 1 < name.size() && name[colon + 1] >= '0' &&
                          name[colon + 1] <= '9';
    FunctionRow function;
    function.name = samples_->Add(has_line ? name.substr(0, colon) : name);
    function.file = samples_->Add("src/shop.cc");
    LineRow line;
    line.function = static_cast<std::uint32_t>(samples_->functions.size());
    line.line = 1;
    if (has_line) std::from_chars(name.data() + colon + 1, name.data() + name.size(), line.line);
    LocationRow location;
    location.first_line = static_cast<std::uint32_t>(samples_->lines.size());
    location.line_count = 1;
    samples_->functions.push_back(function);
    samples_->lines.push_back(line);
    samples_->locations.push_back(location);
  }

  ManualClock clock_;
  std::unique_ptr<storage::Engine> engine_;
  query::FrameReader frames_;
  std::shared_ptr<SpanBatch> spans_ = std::make_shared<SpanBatch>();
  std::shared_ptr<SampleBatch> samples_ = std::make_shared<SampleBatch>();
  std::map<std::string, std::uint32_t> span_resources_;
  std::map<std::string, std::uint32_t> sample_resources_;
  std::map<std::string, std::uint32_t> series_;
  std::map<std::string, std::uint32_t> stacks_;
};

}  // namespace hotspan::correlate
