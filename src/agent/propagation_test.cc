#include "agent/propagation.h"

#include <gtest/gtest.h>

#include <array>

#include "base/limits.h"

namespace hotspan::agent {
namespace {

constexpr std::string_view kGood = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

std::string Rewritten(const SpanContext& context) {
  std::array<char, kTraceparentSize> text{};
  WriteTraceparent(context, text.data());
  return {text.data(), text.size()};
}

TEST(Propagation, ReadsAndWritesTheExampleOfTheRecommendation) {
  const auto context = ParseTraceparent(kGood, "");
  ASSERT_TRUE(context);
  EXPECT_TRUE(context->sampled());
  EXPECT_TRUE(context->remote);
  EXPECT_EQ(Rewritten(*context), kGood);
}

TEST(Propagation, KeepsTheDecisionNotToSample) {
  const auto context =
      ParseTraceparent("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00", "");
  ASSERT_TRUE(context);
  EXPECT_FALSE(context->sampled());
}

TEST(Propagation, AllowsBlanksAroundTheHeader) {
  EXPECT_TRUE(ParseTraceparent(" " + std::string(kGood) + "\t", ""));
}

TEST(Propagation, RefusesWhatIsNotATraceparent) {
  for (const std::string_view text : {
           "",
           "00",
           "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331",
           "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",    // upper case
           "00-00000000000000000000000000000000-b7ad6b7169203331-01",    // no trace
           "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",    // no span
           "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",    // forbidden version
           "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-x",  // too long for version 0
           "00_0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
           "00-0af7651916cd43dd8448eb211c80319g-b7ad6b7169203331-01",
           "01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01x",
       }) {
    EXPECT_FALSE(ParseTraceparent(text, "")) << text;
  }
}

TEST(Propagation, TakesLaterVersionsByTheirKnownPart) {
  const auto context = ParseTraceparent(
      "cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-ff-what.comes.next", "");
  ASSERT_TRUE(context);
  EXPECT_EQ(Rewritten(*context), kGood);
}

TEST(Propagation, NormalisesTracestate) {
  EXPECT_EQ(ParseTraceparent(kGood, " a=1 ,, b/c=2\t")->trace_state, "a=1,b/c=2");
  EXPECT_EQ(ParseTraceparent(kGood, "1a@b=x y")->trace_state, "1a@b=x y");
}

TEST(Propagation, LeavesOutABadTracestateButKeepsTheParent) {
  const std::string too_long(limits::kAgentTracestateBytesMax + 1, 'a');
  std::string too_many;
  for (int i = 0; i < 33; ++i) too_many += "k" + std::to_string(i) + "=v,";
  for (const std::string& state :
       {std::string("A=1"), std::string("a"), std::string("=1"), std::string("a=1,a=2"),
        std::string("a=\x01"), too_long, too_many}) {
    const auto context = ParseTraceparent(kGood, state);
    ASSERT_TRUE(context);
    EXPECT_EQ(context->trace_state, "") << state;
  }
}

}  // namespace
}  // namespace hotspan::agent
