#include "query/catalog.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "query/test_store.h"

namespace hotspan::query {
namespace {

using testing::Contains;
using testing::ElementsAre;

class CatalogTest : public StoreTest {
 protected:
  TimeRange hour_{{kTestNow - kHour.ns}, {kTestNow + kHour.ns}};
};

TEST_F(CatalogTest, ServicesHaveSpansErrorsAndProfiles) {
  Write({{.id = "1", .service = "web", .status = SpanStatus::kError},
         {.id = "2", .service = "web", .start_ms = 1000},
         {.id = "3", .service = "db"}});
  WriteSamples("web", {{.span = "1", .stack = {"f", "main"}}, {.span = "", .stack = {"main"}}});
  WriteSamples("batch", {{.span = "", .stack = {"main"}}});
  const auto services = ListServices(*engine_, TenantId::kDefault, hour_);
  ASSERT_TRUE(services.has_value());
  ASSERT_EQ(services->size(), 3u);
  EXPECT_EQ((*services)[0].service, "batch");
  EXPECT_EQ((*services)[0].spans, 0u);
  EXPECT_EQ((*services)[0].samples, 1u);
  const ServiceSummary& web = (*services)[2];
  EXPECT_EQ(web.spans, 2u);
  EXPECT_EQ(web.errors, 1u);
  EXPECT_DOUBLE_EQ(web.rate, 2.0 / 7200);
  EXPECT_EQ(web.samples, 2u);
  EXPECT_EQ(web.span_linked, 1u);
  EXPECT_THAT(web.profile_types, ElementsAre(kTestCpu));
  EXPECT_EQ(web.first.ns, kTestNow);
}

TEST_F(CatalogTest, OperationsHaveExactPercentiles) {
  std::vector<TestSpan> spans;
  for (int i = 1; i <= 100; ++i) {
    spans.push_back({.id = std::to_string(i), .name = "op", .start_ms = i, .duration_ms = i});
  }
  spans.push_back({.id = "abc", .name = "op", .kind = SpanKind::kClient});
  spans.push_back({.id = "abd", .service = "other", .name = "op"});
  Write(spans);
  const auto operations = ListOperations(*engine_, TenantId::kDefault, hour_, "shop");
  ASSERT_TRUE(operations.has_value());
  ASSERT_EQ(operations->size(), 2u);
  const OperationSummary& op = (*operations)[0];
  EXPECT_EQ(op.kind, SpanKind::kInternal);
  EXPECT_EQ(op.spans, 100u);
  EXPECT_EQ(op.sampled, 100u);
  EXPECT_EQ(op.p50.ns, 50'000'000);
  EXPECT_EQ(op.p95.ns, 95'000'000);
  EXPECT_EQ(op.p99.ns, 99'000'000);
  EXPECT_EQ(op.max.ns, 100'000'000);
  EXPECT_EQ(ListOperations(*engine_, TenantId::kDefault, hour_, "")->size(), 3u);
}

TEST(PercentileOf, IsTheNearestRank) {
  EXPECT_EQ(PercentileOf({}, 0.5).ns, 0);
  EXPECT_EQ(PercentileOf({7}, 0.99).ns, 7);
  EXPECT_EQ(PercentileOf({1, 2}, 0.5).ns, 1);
  EXPECT_EQ(PercentileOf({1, 2, 3}, 0.5).ns, 2);
}

TEST_F(CatalogTest, TagNamesComeByScope) {
  Write({{.attributes = {{"user", "Ann"}}, .resource = {{"host", "h"}}}});
  const auto names = ListTagNames(*engine_, TenantId::kDefault, hour_, 100);
  ASSERT_TRUE(names.has_value());
  EXPECT_THAT(names->span, ElementsAre("user"));
  EXPECT_THAT(names->resource, ElementsAre("host", "service.name"));
  EXPECT_THAT(names->intrinsic, Contains("duration"));
  EXPECT_THAT(names->intrinsic, Contains("trace:rootName"));
}

TEST_F(CatalogTest, TagValuesHaveTheirTypes) {
  Write({{.id = "1",
          .name = "GET",
          .attributes = {{"code", std::int64_t{200}}, {"zip", "12345"}},
          .resource = {{"zip", "res"}}},
         {.id = "2", .name = "PUT", .attributes = {{"code", std::int64_t{500}}, {"ok", true}}}});
  const auto values = [this](const std::string& tag) {
    const auto result = ListTagValues(*engine_, TenantId::kDefault, hour_, tag, 100);
    EXPECT_TRUE(result.has_value()) << tag;
    std::string out;
    for (const TagValue& value : *result) out += value.type + ":" + value.value + " ";
    return out;
  };
  EXPECT_EQ(values("span.code"), "int:200 int:500 ");
  EXPECT_EQ(values("code"), "int:200 int:500 ");
  EXPECT_EQ(values("span.zip"), "string:12345 ");
  EXPECT_EQ(values(".zip"), "string:12345 string:res ");
  EXPECT_EQ(values(".ok"), "bool:true ");
  EXPECT_EQ(values("resource.service.name"), "string:shop ");
  EXPECT_EQ(values("service.name"), "string:shop ");
  EXPECT_EQ(values("name"), "string:GET string:PUT ");
  EXPECT_EQ(values("rootServiceName"), "string:shop ");
  EXPECT_EQ(values("status"), "keyword:error keyword:ok keyword:unset ");
  EXPECT_EQ(values("duration"), "");
  EXPECT_FALSE(ListTagValues(*engine_, TenantId::kDefault, hour_, "a = b", 100).has_value());
}

}  // namespace
}  // namespace hotspan::query
