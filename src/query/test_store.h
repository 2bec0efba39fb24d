// A reference engine with hand-made spans and samples, for the tests of query.
#pragma once

#include <gtest/gtest.h>

#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "storage/engine.h"
#include "storage/reference/reference_engine.h"

namespace hotspan::query {

inline constexpr std::int64_t kTestNow = 1'700'000'000'000'000'000;
inline constexpr char kTestCpu[] = "process_cpu:cpu:nanoseconds:cpu:nanoseconds";

using TestValue = std::variant<const char*, std::int64_t, double, bool>;
using TestAttributes = std::vector<std::pair<std::string, TestValue>>;

struct TestSpan {
  std::string trace = "1";
  std::string id = "1";
  std::string parent = {};
  std::string service = "shop";
  std::string name = "op";
  std::int64_t start_ms = 0;  // after kTestNow
  std::int64_t duration_ms = 10;
  SpanKind kind = SpanKind::kInternal;
  SpanStatus status = SpanStatus::kUnset;
  TestAttributes attributes = {};
  TestAttributes resource = {};
};

inline void AddTestAttributes(std::string& packed, const TestAttributes& attributes) {
  AttributeWriter writer(packed);
  for (const auto& [key, value] : attributes) {
    if (const auto* text = std::get_if<const char*>(&value)) writer.Add(key, Value::String(*text));
    if (const auto* n = std::get_if<std::int64_t>(&value)) writer.Add(key, Value::Int(*n));
    if (const auto* real = std::get_if<double>(&value)) writer.Add(key, Value::Double(*real));
    if (const auto* flag = std::get_if<bool>(&value)) writer.Add(key, Value::Bool(*flag));
  }
}

inline ResourceRow AddTestResource(SpanBatch& batch, const TestSpan& span) {
  std::string packed;
  AttributeWriter(packed).Add("service.name", Value::String(span.service));
  AddTestAttributes(packed, span.resource);
  ResourceRow resource;
  resource.service_name = batch.Add(span.service);
  resource.attributes = batch.Add(packed);
  return resource;
}

inline SpanBatch MakeTestBatch(const std::vector<TestSpan>& spans) {
  SpanBatch batch;
  batch.scopes.emplace_back();
  batch.scopes[0].name = batch.Add("test.scope");
  batch.scopes[0].version = batch.Add("1.2");
  for (const TestSpan& span : spans) {
    SpanRow row;
    row.resource = static_cast<std::uint32_t>(batch.resources.size());
    batch.resources.push_back(AddTestResource(batch, span));
    row.trace_id = *TraceId::FromHex(span.trace);
    row.span_id = *SpanId::FromHex(span.id);
    if (!span.parent.empty()) row.parent_span_id = *SpanId::FromHex(span.parent);
    row.start = {kTestNow + span.start_ms * 1'000'000};
    row.end = row.start + DurationNs{span.duration_ms * 1'000'000};
    row.name = batch.Add(span.name);
    row.kind = span.kind;
    row.status = span.status;
    std::string packed;
    AddTestAttributes(packed, span.attributes);
    row.attributes = batch.Add(packed);
    batch.spans.push_back(row);
  }
  return batch;
}

struct TestSample {
  std::string trace = "1";
  std::string span = "1";               // empty: of no span
  std::vector<std::string> stack = {};  // leaf first
  std::int64_t value = 10;
  LinkKind link = LinkKind::kSpan;
};

// Samples of one series of `service`, one a millisecond.
inline SampleBatch MakeTestSamples(const std::string& service,
                                   const std::vector<TestSample>& samples) {
  SampleBatch batch;
  std::string packed;
  AttributeWriter(packed).Add("service.name", Value::String(service));
  batch.resources.emplace_back();
  batch.resources[0].service_name = batch.Add(service);
  batch.resources[0].attributes = batch.Add(packed);
  SeriesRow series;
  series.type = batch.Add(kTestCpu);
  series.period = 10;
  series.start = {kTestNow};
  series.duration = kSecond;
  batch.series.push_back(series);
  std::int64_t time = kTestNow;
  std::map<std::string, std::uint32_t> locations;
  for (const TestSample& sample : samples) {
    SampleRow row;
    row.value = sample.value;
    row.time = {time += 1'000'000};
    row.stack = static_cast<std::uint32_t>(batch.stacks.size());
    StackRow stack{static_cast<std::uint32_t>(batch.stack_locations.size()),
                   static_cast<std::uint32_t>(sample.stack.size())};
    for (const std::string& function : sample.stack) {
      const auto number = static_cast<std::uint32_t>(batch.locations.size());
      const auto [entry, is_new] = locations.try_emplace(function, number);
      if (is_new) {
        FunctionRow function_row;
        function_row.name = batch.Add(function);
        batch.functions.push_back(function_row);
        batch.lines.push_back({number, 7});
        LocationRow location;
        location.first_line = number;
        location.line_count = 1;
        batch.locations.push_back(location);
      }
      batch.stack_locations.push_back(entry->second);
    }
    batch.stacks.push_back(stack);
    if (!sample.span.empty()) {
      row.link = static_cast<std::uint32_t>(batch.links.size());
      LinkRow link;
      link.trace_id = *TraceId::FromHex(sample.trace);
      link.span_id = *SpanId::FromHex(sample.span);
      link.kind = sample.link;
      batch.links.push_back(link);
    }
    batch.samples.push_back(row);
  }
  batch.timed = true;
  return batch;
}

class StoreTest : public testing::Test {
 protected:
  void Write(const std::vector<TestSpan>& spans) { WriteBatch(MakeTestBatch(spans)); }
  void WriteBatch(SpanBatch spans) {
    storage::WriteBatch batch;
    batch.received = {kTestNow};
    batch.spans = std::make_shared<const SpanBatch>(std::move(spans));
    ASSERT_TRUE(engine_->Write(std::move(batch)).has_value());
  }
  void WriteSamples(const std::string& service, const std::vector<TestSample>& samples) {
    storage::WriteBatch batch;
    batch.received = {kTestNow};
    batch.samples = std::make_shared<const SampleBatch>(MakeTestSamples(service, samples));
    ASSERT_TRUE(engine_->Write(std::move(batch)).has_value());
  }

  ManualClock clock_{kTestNow};
  std::unique_ptr<storage::Engine> engine_ = storage::MakeReferenceEngine(clock_);
};

}  // namespace hotspan::query
