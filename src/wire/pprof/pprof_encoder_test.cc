#include "wire/pprof/pprof_encoder.h"

#include <gtest/gtest.h>

#include "wire/inflate/inflate.h"
#include "wire/pprof/pprof_decoder.h"

namespace hotspan::wire {
namespace {

TEST(PprofEncoder, ReadsBackTheSame) {
  FrameTable frames;
  frames.frames.resize(4);
  frames.frames[0].function = "inner";
  frames.frames[0].file = "a.cc";
  frames.frames[0].line = 3;
  frames.frames[0].inlined = true;
  frames.frames[1].function = "outer";
  frames.frames[1].file = "a.cc";
  frames.frames[1].line = 9;
  frames.frames[1].module = "app";
  frames.frames[1].build_id = "abcd";
  frames.frames[1].address = 0x400;
  frames.frames[2].function = "main";
  frames.frames[2].line = 20;
  frames.frames[3].module = "lib.so";
  frames.frames[3].build_id = "ef01";
  frames.frames[3].address = 0x99;
  frames.frames[3].symbolized = false;
  const PprofInput input{.type = "cpu",
                         .unit = "nanoseconds",
                         .period_type = "cpu",
                         .period_unit = "nanoseconds",
                         .period = 100,
                         .time = {1'700'000'000'000'000'000},
                         .duration = {5},
                         .frames = frames,
                         .stacks = {{{0, 1, 2}, 500}, {{3, 2}, 70}, {{}, 1}}};
  const std::string body = EncodePprof(input);
  EXPECT_TRUE(IsGzip(body));
  const auto decoded = DecodePprof(body, {});
  ASSERT_TRUE(decoded) << decoded.error().message();
  const SampleBatch& batch = decoded->batch;
  ASSERT_EQ(batch.samples.size(), 3u);
  EXPECT_EQ(batch.samples[0].value, 500);
  EXPECT_EQ(batch.Text(batch.series[0].type), "process_cpu:cpu:nanoseconds:cpu:nanoseconds");
  EXPECT_EQ(batch.series[0].period, 100);
  EXPECT_EQ(batch.series[0].start.ns, 1'700'000'000'000'000'000);
  EXPECT_EQ(batch.series[0].duration.ns, 5);
  const StackRow& stack = batch.stacks[batch.samples[0].stack];
  ASSERT_EQ(stack.location_count, 2u);
  const LocationRow& leaf = batch.locations[batch.stack_locations[stack.first_location]];
  ASSERT_EQ(leaf.line_count, 2u);
  EXPECT_EQ(batch.Text(batch.functions[batch.lines[leaf.first_line].function].name), "inner");
  EXPECT_EQ(batch.lines[leaf.first_line + 1].line, 9);
  EXPECT_EQ(leaf.address, 0x400u);
  EXPECT_EQ(batch.Text(batch.mappings[leaf.mapping].build_id), "abcd");
  const StackRow& native = batch.stacks[batch.samples[1].stack];
  const LocationRow& bare = batch.locations[batch.stack_locations[native.first_location]];
  EXPECT_EQ(bare.line_count, 0u);
  EXPECT_EQ(bare.address, 0x99u);
}

TEST(PprofEncoder, WritesAnEmptyProfile) {
  const FrameTable frames;
  const auto decoded = DecodePprof(EncodePprof({.type = "cpu",
                                                .unit = "nanoseconds",
                                                .period_type = "",
                                                .period_unit = "",
                                                .period = 0,
                                                .time = {},
                                                .duration = {},
                                                .frames = frames,
                                                .stacks = {}}),
                                   {});
  ASSERT_TRUE(decoded) << decoded.error().message();
  EXPECT_TRUE(decoded->batch.samples.empty());
}

}  // namespace
}  // namespace hotspan::wire
