#include "query/profiles.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "query/flame/formats.h"
#include "query/test_store.h"

namespace hotspan::query {
namespace {

class ProfilesTest : public StoreTest {
 protected:
  ProfilesTest() {
    Write({{.id = "1", .service = "web", .name = "GET /"},
           {.id = "2", .parent = "1", .service = "shop", .name = "order", .start_ms = 1},
           {.trace = "2", .id = "3", .service = "shop", .name = "order", .start_ms = 2}});
    WriteSamples(
        "shop",
        {{.span = "2", .stack = {"parse", "main"}},
         {.span = "2", .stack = {"parse", "main"}},
         {.span = "2", .stack = {"sort", "main"}},
         {.trace = "2", .span = "3", .stack = {"parse", "main"}},
         {.trace = "2", .span = "3", .stack = {"root", "main"}, .link = LinkKind::kLocalRoot},
         {.span = "", .stack = {"idle"}}});
    WriteSamples("web", {{.span = "1", .stack = {"serve", "main"}}});
  }

  static std::string Folded(const MergedProfile& profile) {
    return flame::FoldedText(*profile.frames, profile.stacks);
  }

  FrameReader frames_{*engine_, nullptr};
};

TEST_F(ProfilesTest, SelectorMergesAServicesSamples) {
  const auto selector = profile::ParseSelector(std::string(kTestCpu) + "{service_name=\"shop\"}");
  const auto merged = ReadProfile(*engine_, frames_, TenantId::kDefault, *selector, {});
  ASSERT_TRUE(merged.has_value());
  EXPECT_EQ(Folded(*merged), "idle 10\nmain;parse 30\nmain;root 10\nmain;sort 10\n");
  EXPECT_EQ(merged->samples, 6u);
  EXPECT_EQ(merged->total, 60);
  EXPECT_EQ(merged->period, 10);
}

TEST_F(ProfilesTest, SpanProfileHoldsItsSamplesAlone) {
  const std::vector<storage::SpanKey> spans = {{*TraceId::FromHex("1"), *SpanId::FromHex("2")}};
  const auto read = ReadSpanProfile(*engine_, frames_, TenantId::kDefault, spans, "");
  ASSERT_TRUE(read.has_value());
  ASSERT_EQ(read->types.size(), 1u);
  EXPECT_EQ(read->types[0].type, kTestCpu);
  EXPECT_EQ(Folded(read->types[0]), "main;parse 20\nmain;sort 10\n");
  EXPECT_EQ(read->types[0].samples, 3u);
  EXPECT_EQ(read->samples.samples.size(), 3u);
}

TEST_F(ProfilesTest, SpanProfileCanBeOfOneLinkKind) {
  const std::vector<storage::SpanKey> spans = {{*TraceId::FromHex("2"), *SpanId::FromHex("3")}};
  const auto read =
      ReadSpanProfile(*engine_, frames_, TenantId::kDefault, spans, kTestCpu, LinkKind::kLocalRoot);
  ASSERT_EQ(read->types.size(), 1u);
  EXPECT_EQ(Folded(read->types[0]), "main;root 10\n");
  EXPECT_TRUE(ReadSpanProfile(*engine_, frames_, TenantId::kDefault, {}, "")->types.empty());
}

TEST_F(ProfilesTest, PooledProfileAddsUpWhatAQueryFinds) {
  const auto pooled = ReadPooledProfile(*engine_, frames_, TenantId::kDefault, {},
                                        "{ name = \"order\" }", kTestCpu);
  ASSERT_TRUE(pooled.has_value());
  EXPECT_EQ(pooled->spans, 2u);
  EXPECT_EQ(pooled->spans_with_samples, 2u);
  EXPECT_FALSE(pooled->truncated);
  EXPECT_EQ(Folded(pooled->profile), "main;parse 30\nmain;sort 10\n");
  EXPECT_EQ(pooled->profile.samples, 4u);
  EXPECT_EQ(pooled->profile.period, 10);
}

TEST_F(ProfilesTest, PooledProfileOfNothingIsEmpty) {
  const auto pooled =
      ReadPooledProfile(*engine_, frames_, TenantId::kDefault, {}, "{ name = \"gone\" }", kTestCpu);
  ASSERT_TRUE(pooled.has_value());
  EXPECT_EQ(pooled->spans, 0u);
  EXPECT_EQ(pooled->profile.total, 0);
  ASSERT_NE(pooled->profile.frames, nullptr);
  EXPECT_FALSE(ReadPooledProfile(*engine_, frames_, TenantId::kDefault, {}, "{ broken", kTestCpu)
                   .has_value());
}

}  // namespace
}  // namespace hotspan::query
