#include "agent/span_sampler.h"

#include <gtest/gtest.h>

#include "agent/random.h"

namespace hotspan::agent {
namespace {

SpanContext Parent(bool sampled) {
  SpanContext parent;
  parent.trace_id[0] = parent.span_id[0] = 1;
  parent.flags = sampled ? kSampledFlag : 0;
  return parent;
}

TraceIdBytes IdEndingWith(std::uint8_t first_of_last_eight) {
  TraceIdBytes id{};
  id[8] = first_of_last_eight;
  return id;
}

TEST(SpanSampler, FollowsTheParentByDefault) {
  const SpanSampler sampler;
  const SpanContext yes = Parent(true);
  const SpanContext no = Parent(false);
  EXPECT_TRUE(sampler.Sample(nullptr, IdEndingWith(0xff)));
  EXPECT_TRUE(sampler.Sample(&yes, IdEndingWith(0xff)));
  EXPECT_FALSE(sampler.Sample(&no, IdEndingWith(0)));
}

TEST(SpanSampler, AlwaysOnAndOffDoNotAskTheParent) {
  const SpanContext yes = Parent(true);
  const SpanContext no = Parent(false);
  EXPECT_TRUE(SpanSampler::Make("always_on", "")->Sample(&no, IdEndingWith(0xff)));
  EXPECT_FALSE(SpanSampler::Make("always_off", "")->Sample(&yes, IdEndingWith(0)));
}

TEST(SpanSampler, ParentBasedAsksRootSamplerForRootsOnly) {
  const auto off = SpanSampler::Make("parentbased_always_off", "");
  const SpanContext yes = Parent(true);
  ASSERT_TRUE(off);
  EXPECT_FALSE(off->Sample(nullptr, IdEndingWith(0)));
  EXPECT_TRUE(off->Sample(&yes, IdEndingWith(0xff)));
}

TEST(SpanSampler, RatioDecidesByTheLastEightBytesOfTheTraceId) {
  const auto half = SpanSampler::Make("traceidratio", "0.5");
  ASSERT_TRUE(half);
  EXPECT_TRUE(half->Sample(nullptr, IdEndingWith(0x7f)));
  EXPECT_FALSE(half->Sample(nullptr, IdEndingWith(0x80)));
  EXPECT_EQ(half->description(), "traceidratio 0.5");
}

TEST(SpanSampler, RatioTakesAboutThatShare) {
  const auto tenth = SpanSampler::Make("parentbased_traceidratio", "0.1");
  ASSERT_TRUE(tenth);
  Random random;
  random.Seed();
  int taken = 0;
  for (int i = 0; i < 100'000; ++i) {
    TraceIdBytes id{};
    random.FillId(id);
    taken += tenth->Sample(nullptr, id) ? 1 : 0;
  }
  // Ten standard deviations (95) either way.
  EXPECT_NEAR(taken, 10'000, 950);
}

TEST(SpanSampler, RatioOfNoneAndAll) {
  EXPECT_FALSE(SpanSampler::Make("traceidratio", "0")->Sample(nullptr, IdEndingWith(0)));
  EXPECT_TRUE(SpanSampler::Make("traceidratio", "1")->Sample(nullptr, IdEndingWith(0xff)));
  EXPECT_TRUE(SpanSampler::Make("traceidratio", "")->Sample(nullptr, IdEndingWith(0xff)));
}

TEST(SpanSampler, RefusesUnknownNamesAndRatios) {
  EXPECT_FALSE(SpanSampler::Make("jaeger_remote", ""));
  EXPECT_FALSE(SpanSampler::Make("parentbased_", ""));
  for (const char* argument : {"2", "-0.1", "x", "0.5x", "nan"}) {
    EXPECT_FALSE(SpanSampler::Make("traceidratio", argument)) << argument;
  }
}

}  // namespace
}  // namespace hotspan::agent
