#include "query/profile/selector.h"

#include <gtest/gtest.h>

#include <string>

#include "query/profile/weigh.h"

namespace hotspan::query::profile {
namespace {

constexpr char kCpu[] = "process_cpu:cpu:nanoseconds:cpu:nanoseconds";

TEST(ParseSelector, TakesTypeServiceAndLabels) {
  const auto selector =
      ParseSelector(std::string(kCpu) + R"({ service_name="shop", version="1\"2", zone!="b", })");
  ASSERT_TRUE(selector.has_value());
  EXPECT_EQ(selector->type, kCpu);
  EXPECT_EQ(selector->service, "shop");
  ASSERT_EQ(selector->matchers.size(), 2u);
  EXPECT_EQ(selector->matchers[0].name, "version");
  EXPECT_EQ(selector->matchers[0].value, "1\"2");
  EXPECT_FALSE(selector->matchers[0].negated);
  EXPECT_EQ(selector->matchers[1].name, "zone");
  EXPECT_TRUE(selector->matchers[1].negated);
  const storage::SampleMerge merge = ToSampleMerge(*selector, TenantId::kDefault, {}, {});
  EXPECT_EQ(merge.service, "shop");
  EXPECT_EQ(merge.type, kCpu);
}

TEST(ParseSelector, TypeAloneAndDefaultTypeWork) {
  EXPECT_EQ(ParseSelector(kCpu)->type, kCpu);
  EXPECT_EQ(ParseSelector("{}", kCpu)->type, kCpu);
  EXPECT_EQ(ParseSelector(R"({service.name="a"})", kCpu)->service, "a");
  EXPECT_FALSE(ParseSelector("{}").has_value());
}

TEST(ParseSelector, ErrorsCarryTheOffset) {
  for (const char* bad : {"t{", "t{a}", "t{a=b}", "t{a=\"b}", "t{a=\"b\"", "t{} x", "t{,}"}) {
    const auto result = ParseSelector(bad);
    ASSERT_FALSE(result.has_value()) << bad;
    EXPECT_EQ(result.error().code(), Code::kInvalidArgument) << bad;
    EXPECT_TRUE(result.error().offset().has_value()) << bad;
  }
  EXPECT_EQ(ParseSelector("t{a=~\"b\"}").error().code(), Code::kUnimplemented);
}

TEST(UnitOfType, IsTheThirdPart) {
  EXPECT_EQ(UnitOfType(kCpu), "nanoseconds");
  EXPECT_EQ(UnitOfType("mutex:contentions:count::"), "count");
  EXPECT_EQ(UnitOfType("wall"), "");
}

storage::SpanSample Sample(std::uint32_t type, std::uint32_t stack, std::int64_t value,
                           LinkKind link = LinkKind::kSpan, std::int64_t period = 10) {
  storage::SpanSample sample;
  sample.type = type;
  sample.stack = StackNumber{stack};
  sample.value = value;
  sample.link = link;
  sample.period = period;
  return sample;
}

TEST(WeighByType, SumsByStackAndSortsTypes) {
  storage::SpanSamples samples;
  samples.types = {"wall", "cpu", "unused"};
  samples.samples = {Sample(0, 2, 5), Sample(1, 1, 1), Sample(0, 1, 7), Sample(0, 2, 5)};
  const auto types = WeighByType(samples);
  ASSERT_EQ(types.size(), 2u);
  EXPECT_EQ(types[0].type, "cpu");
  EXPECT_EQ(types[1].type, "wall");
  ASSERT_EQ(types[1].stacks.size(), 2u);
  EXPECT_EQ(types[1].stacks[1].stack, StackNumber{2});
  EXPECT_EQ(types[1].stacks[1].value, 10);
  EXPECT_EQ(types[1].stacks[1].count, 2u);
  EXPECT_EQ(types[1].total, 17);
  EXPECT_EQ(types[1].samples, 3u);
  EXPECT_EQ(types[1].period, 10);
}

TEST(WeighByType, TakesOneLinkKindAndForgetsMixedPeriods) {
  storage::SpanSamples samples;
  samples.types = {"cpu"};
  samples.samples = {Sample(0, 1, 1), Sample(0, 1, 1, LinkKind::kLocalRoot),
                     Sample(0, 1, 1, LinkKind::kSpan, 20)};
  const auto types = WeighByType(samples, LinkKind::kSpan);
  ASSERT_EQ(types.size(), 1u);
  EXPECT_EQ(types[0].samples, 2u);
  EXPECT_EQ(types[0].period, 0);
}

TEST(WeighMerged, SortsStacks) {
  storage::MergedSamples merged;
  merged.stacks = {{StackNumber{9}, 4, 2}, {StackNumber{3}, 6, 1}};
  merged.samples = 3;
  const TypeStacks out = WeighMerged(merged, "t");
  EXPECT_EQ(out.stacks[0].stack, StackNumber{3});
  EXPECT_EQ(out.total, 10);
}

}  // namespace
}  // namespace hotspan::query::profile
