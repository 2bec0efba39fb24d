#include "wire/sample_builder.h"

#include <gtest/gtest.h>

#include "base/limits.h"
#include "wire/text.h"

namespace hotspan::wire {
namespace {

std::string Name(SampleTypeNames names, std::int64_t period = 0, bool has_cpu = false) {
  return NameSeries(names, period, has_cpu, "mutex").text;
}

TEST(NameSeries, TurnsCpuSampleCountsIntoTime) {
  const SeriesType series =
      NameSeries({"samples", "count", "cpu", "nanoseconds"}, 10'000'000, false, "mutex");
  EXPECT_EQ(series.text, "process_cpu:cpu:nanoseconds:cpu:nanoseconds");
  EXPECT_TRUE(series.times_period);
}

TEST(NameSeries, KeepsCountsWhereTimeIsThereOrThePeriodIsUnknown) {
  const SampleTypeNames counts{"samples", "count", "cpu", "nanoseconds"};
  EXPECT_EQ(Name(counts, 10, true), "process_cpu:samples:count:cpu:nanoseconds");
  EXPECT_EQ(Name(counts, 0), "process_cpu:samples:count:cpu:nanoseconds");
}

TEST(NameSeries, NamesTheKnownTypes) {
  EXPECT_EQ(Name({"off_cpu", "ns", "", ""}), "off_cpu:off_cpu:nanoseconds::");
  EXPECT_EQ(Name({"off_cpu", "nanoseconds", "off_cpu", "count"}), "off_cpu:off_cpu:nanoseconds::");
  EXPECT_EQ(Name({"cpu", "nanoseconds", "", ""}), "process_cpu:cpu:nanoseconds:cpu:nanoseconds");
  EXPECT_EQ(Name({"ctimer", "ns", "ctimer", "ns"}), "process_cpu:cpu:nanoseconds:cpu:nanoseconds");
  EXPECT_EQ(Name({"wall", "ns", "wall", "ns"}), "wall:wall:nanoseconds:wall:nanoseconds");
  EXPECT_EQ(Name({"inuse_space", "By", "space", "By"}), "memory:inuse_space:bytes:space:bytes");
  EXPECT_EQ(Name({"alloc_objects", "count", "space", "bytes"}),
            "memory:alloc_objects:count:space:bytes");
  EXPECT_EQ(Name({"delay", "nanoseconds", "contentions", "count"}),
            "mutex:delay:nanoseconds:contentions:count");
  EXPECT_EQ(Name({"goroutine", "count", "goroutine", "count"}),
            "goroutine:goroutine:count:goroutine:count");
  EXPECT_EQ(Name({"sched:switch", "count", "", ""}), "sched_switch:sched_switch:count::");
}

TEST(SampleLabels, PartsLinksThreadsAndTheRest) {
  SampleLabels labels;
  labels.AddText("span_id", "00f067aa0ba902b7");
  labels.AddText("trace_id", "4bf92f3577b34da6a3ce929d0e0e4736");
  labels.AddText("thread_id", "42");
  labels.AddText("thread", "worker");
  labels.AddText("region", "eu");
  EXPECT_EQ(labels.link().span_id.ToHex(), "00f067aa0ba902b7");
  EXPECT_EQ(labels.link().trace_id.ToHex(), "4bf92f3577b34da6a3ce929d0e0e4736");
  EXPECT_EQ(labels.link().kind, LinkKind::kSpan);
  const AttributeList list(labels.packed());
  EXPECT_EQ(list.Find("thread.id")->AsInt(), 42);
  EXPECT_EQ(list.FindText("thread.name"), "worker");
  EXPECT_EQ(list.FindText("region"), "eu");
  EXPECT_FALSE(list.Find("span_id"));
}

TEST(SampleLabels, ProfileIdNamesTheLocalRoot) {
  SampleLabels labels;
  labels.AddText("profile_id", "00f067aa0ba902b7");
  EXPECT_EQ(labels.link().kind, LinkKind::kLocalRoot);
}

TEST(SampleLabels, KeepsIdsThatAreNone) {
  SampleLabels labels;
  labels.AddText("span_id", "not hex");
  EXPECT_TRUE(labels.link().span_id.IsZero());
  EXPECT_EQ(AttributeList(labels.packed()).FindText("span_id"), "not hex");
}

TEST(SampleBuilder, CutsStacksAtTheRootAndMarksThem) {
  SampleBatch batch;
  DecodeCounts counts;
  SampleBuilder builder(batch, counts);
  batch.locations.resize(2);
  builder.BeginStack();
  for (std::size_t i = 0; i < limits::kStackDepthMax + 10; ++i) builder.PushLocation(0);
  const std::uint32_t stack = builder.EndStack();
  EXPECT_EQ(batch.stacks[stack].location_count, limits::kStackDepthMax);
  EXPECT_EQ(counts.truncated, 1u);
  const LocationRow& root = batch.locations[batch.stack_locations.back()];
  EXPECT_EQ(batch.Text(batch.functions[batch.lines[root.first_line].function].name), "[stack cut]");
  EXPECT_EQ(FindDamage(batch), "");
}

TEST(SampleBuilder, LeavesOutZerosAndCountsNegatives) {
  SampleBatch batch;
  DecodeCounts counts;
  SampleBuilder builder(batch, counts);
  EXPECT_TRUE(builder.AddSample({.value = 0}));
  EXPECT_TRUE(builder.AddSample({.value = -5}));
  EXPECT_TRUE(builder.AddSample({.value = 5}));
  EXPECT_EQ(batch.samples.size(), 1u);
  EXPECT_EQ(counts.dropped, 1u);
}

TEST(ToFileOffset, NeedsABuildIdAndAnAddressInside) {
  MappingRow mapping;
  mapping.start = 0x1000;
  mapping.limit = 0x2000;
  mapping.offset = 0x400;
  EXPECT_EQ(ToFileOffset(mapping, 0x1010), 0x1010u);
  mapping.build_id = {0, 4};
  EXPECT_EQ(ToFileOffset(mapping, 0x1010), 0x410u);
  EXPECT_EQ(ToFileOffset(mapping, 0x2000), 0x2000u);
  EXPECT_EQ(ToFileOffset(mapping, 0xfff), 0xfffu);
}

TEST(CleanText, CutsAtACharacterAndRepairs) {
  DecodeCounts counts;
  std::string scratch;
  EXPECT_EQ(CleanText("plain", 5, scratch, counts), "plain");
  EXPECT_EQ(counts.truncated + counts.invalid_utf8, 0u);
  EXPECT_EQ(CleanText("abc\xc3\xa4z", 4, scratch, counts), "abc");
  EXPECT_EQ(counts.truncated, 1u);
  EXPECT_EQ(counts.invalid_utf8, 0u);
  EXPECT_EQ(CleanText("a\xff", 10, scratch, counts), "a\xef\xbf\xbd");
  EXPECT_EQ(counts.invalid_utf8, 1u);
  EXPECT_LE(CleanText(std::string(100, '\xff'), 10, scratch, counts).size(), 10u);
}

TEST(Rejections, NamesTheFirstAndCountsTheRest) {
  Rejections rejections;
  EXPECT_EQ(rejections.Message("span"), "");
  for (int i = 0; i < 6; ++i) rejections.Add("r" + std::to_string(i));
  EXPECT_EQ(rejections.Message("span"), "rejected 6 spans: r0; r1; r2; r3; and 2 more");
}

}  // namespace
}  // namespace hotspan::wire
