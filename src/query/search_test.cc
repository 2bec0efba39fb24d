#include "query/search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "query/lower.h"
#include "query/test_store.h"
#include "query/traceql/parser.h"

namespace hotspan::query {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

class SearchTest : public StoreTest {
 protected:
  SearchTest() {
    Write({{.trace = "a",
            .id = "a1",
            .service = "web",
            .name = "GET /",
            .start_ms = 100,
            .duration_ms = 500,
            .kind = SpanKind::kServer},
           {.trace = "a",
            .id = "a2",
            .parent = "a1",
            .service = "shop",
            .name = "order",
            .start_ms = 110,
            .duration_ms = 300,
            .status = SpanStatus::kError,
            .attributes = {{"items", std::int64_t{3}}, {"user", "Ann"}}},
           {.trace = "a",
            .id = "a3",
            .parent = "a2",
            .service = "shop",
            .name = "order",
            .start_ms = 120,
            .duration_ms = 10,
            .attributes = {{"items", std::int64_t{9}}}},
           {.trace = "b",
            .id = "b1",
            .service = "web",
            .name = "GET /",
            .start_ms = 2000,
            .duration_ms = 50},
           {.trace = "b",
            .id = "b2",
            .parent = "b1",
            .service = "shop",
            .name = "order",
            .start_ms = 2010,
            .duration_ms = 20,
            .attributes = {{"items", std::int64_t{1}}}},
           {.trace = "c",
            .id = "c2",
            .parent = "c1",
            .service = "shop",
            .name = "late",
            .start_ms = 3000,
            .duration_ms = 100,
            .attributes = {{"user", "Bob"}}}});
  }

  // Last digits of the traces found.
  std::vector<std::string> Find(SearchRequest request) {
    const auto result = SearchTraces(*engine_, request);
    EXPECT_TRUE(result.has_value()) << result.error().message();
    std::vector<std::string> out;
    for (const TraceHit& hit : result->traces) out.push_back(hit.trace_id.ToHex().substr(31));
    return out;
  }
  std::vector<std::string> Find(const std::string& query) {
    SearchRequest request;
    request.query = query;
    return Find(request);
  }
};

TEST_F(SearchTest, ReturnsAllTracesNewestFirst) {
  EXPECT_THAT(Find(""), ElementsAre("c", "b", "a"));
}

TEST_F(SearchTest, OrdersByDuration) {
  SearchRequest request;
  request.order = SearchOrder::kLongest;
  EXPECT_THAT(Find(request), ElementsAre("a", "c", "b"));
  request.limit = 1;
  EXPECT_THAT(Find(request), ElementsAre("a"));
}

TEST_F(SearchTest, FiltersByTraceql) {
  EXPECT_THAT(Find("{ .items > 2 }"), ElementsAre("a"));
  EXPECT_THAT(Find("{ .items = 1 || .user = \"Bob\" }"), ElementsAre("c", "b"));
  EXPECT_THAT(Find("{ rootServiceName = \"web\" && name = \"order\" }"), ElementsAre("b", "a"));
  EXPECT_THAT(Find("{ status = error }"), ElementsAre("a"));
  EXPECT_THAT(Find("{ name =~ \"l.*\" }"), ElementsAre("c"));
  EXPECT_THAT(Find("{ trace:id = \"b\" }"), ElementsAre("b"));
  EXPECT_THAT(Find("{ trace:id = \"b\" && .items = 7 }"), IsEmpty());
  EXPECT_THAT(Find("{ trace:id = \"zz\" }"), IsEmpty());
  EXPECT_THAT(Find("{ span:id = \"00a2\" }"), ElementsAre("a"));
  EXPECT_THAT(Find("{ .gone != nil }"), IsEmpty());
  EXPECT_THAT(Find("{ 2 < .items && !(status = unset) }"), ElementsAre("a"));
}

TEST_F(SearchTest, DescribesATraceAndItsMatchedSpans) {
  SearchRequest request;
  request.query = "{ .items > 2 && status != ok }";
  request.spans_per_spanset = 1;
  request.keep_spans = true;
  const auto result = SearchTraces(*engine_, request);
  ASSERT_TRUE(result.has_value());
  ASSERT_EQ(result->traces.size(), 1u);
  const TraceHit& hit = result->traces[0];
  EXPECT_TRUE(hit.has_root);
  EXPECT_EQ(hit.root_service, "web");
  EXPECT_EQ(hit.root_name, "GET /");
  EXPECT_EQ(hit.start.ns, kTestNow + 100'000'000);
  EXPECT_EQ(hit.duration.ns, 500'000'000);
  EXPECT_EQ(hit.spans, 3u);
  EXPECT_EQ(hit.errors, 1u);
  ASSERT_EQ(hit.services.size(), 2u);
  EXPECT_EQ(hit.services[0].service, "shop");
  EXPECT_EQ(hit.services[0].spans, 2u);
  EXPECT_EQ(hit.services[0].errors, 1u);
  EXPECT_EQ(hit.matched_total, 2u);
  ASSERT_EQ(hit.matched.size(), 1u);
  EXPECT_EQ(hit.matched[0].name, "order");
  EXPECT_THAT(hit.matched[0].attributes,
              ElementsAre(Pair("items", ResultValue(std::int64_t{3})),
                          Pair("status", ResultValue(std::string("error")))));
  ASSERT_NE(hit.trace, nullptr);
  EXPECT_EQ(hit.trace->spans.size(), 3u);
}

TEST_F(SearchTest, TraceWithoutRootIsNamedByItsFirstSpan) {
  SearchRequest request;
  request.query = "{ .user = \"Bob\" }";
  const auto result = SearchTraces(*engine_, request);
  ASSERT_EQ(result->traces.size(), 1u);
  EXPECT_FALSE(result->traces[0].has_root);
  EXPECT_EQ(result->traces[0].root_name, "late");
}

TEST_F(SearchTest, DurationsAreOfTheTrace) {
  SearchRequest request;
  request.min_duration = DurationNs{100'000'000};
  EXPECT_THAT(Find(request), ElementsAre("c", "a"));
  request.name = "order";
  EXPECT_THAT(Find(request), ElementsAre("a"));
  request = {};
  request.max_duration = DurationNs{100'000'000};
  EXPECT_THAT(Find(request), ElementsAre("c", "b"));
}

TEST_F(SearchTest, ServiceAndNameAreOfOneSpan) {
  SearchRequest request;
  request.service = "web";
  request.name = "order";
  EXPECT_THAT(Find(request), IsEmpty());
  request.service = "shop";
  EXPECT_THAT(Find(request), ElementsAre("b", "a"));
}

TEST_F(SearchTest, TagsAreSubstringsInAnyCase) {
  SearchRequest request;
  request.tags = "user=aN service.name=\"SHOP\"";
  EXPECT_THAT(Find(request), ElementsAre("a"));
  request.tags = "root.service.name=web name=order";
  EXPECT_THAT(Find(request), ElementsAre("b", "a"));
  request.tags = "error=true";
  EXPECT_THAT(Find(request), ElementsAre("a"));
  request.tags = "status.code=error";
  EXPECT_THAT(Find(request), ElementsAre("a"));
}

TEST_F(SearchTest, RefusesBadRequests) {
  const auto code = [this](SearchRequest request) {
    return SearchTraces(*engine_, request).error().code();
  };
  EXPECT_EQ(code({.query = "{ .a = }"}), Code::kInvalidArgument);
  EXPECT_EQ(code({.query = "{ } | count() > 1"}), Code::kUnimplemented);
  EXPECT_EQ(code({.query = "{ }", .tags = "a=b"}), Code::kInvalidArgument);
  EXPECT_EQ(code({.tags = "a=b a=c"}), Code::kInvalidArgument);
  EXPECT_EQ(code({.tags = "a=\"b"}), Code::kInvalidArgument);
  EXPECT_EQ(code({.limit = 0}), Code::kInvalidArgument);
  EXPECT_EQ(code({.min_duration = DurationNs{2}, .max_duration = DurationNs{1}}),
            Code::kInvalidArgument);
}

TEST_F(SearchTest, TimeRangeIsOfMatchedSpans) {
  SearchRequest request;
  request.range = {{kTestNow + 1'000'000'000}, {kTestNow + 2'500'000'000}};
  EXPECT_THAT(Find(request), ElementsAre("b"));
}

TEST_F(SearchTest, FindsRareTracesBehindManySpansOfOthers) {
  std::vector<TestSpan> many;
  for (int i = 1; i <= 3000; ++i) {
    many.push_back({.trace = "d", .id = std::to_string(i), .start_ms = 10'000 + i});
  }
  Write(many);
  EXPECT_THAT(Find(""), ElementsAre("d", "c", "b", "a"));
}

TEST_F(SearchTest, SaysWhenTheBudgetEndedIt) {
  SearchRequest request;
  request.budget.rows_max = 2;
  const auto result = SearchTraces(*engine_, request);
  ASSERT_TRUE(result.has_value());
  EXPECT_TRUE(result->inspected.truncated);
  request = {};
  request.limit = 2;
  EXPECT_FALSE(SearchTraces(*engine_, request)->inspected.truncated);
}

TEST_F(SearchTest, FindSpansReturnsTheNewestThatMatch) {
  const auto names = [this](const std::string& query, std::size_t limit) {
    std::vector<std::string> out;
    const auto found = FindSpans(*engine_, TenantId::kDefault, {}, query, limit);
    EXPECT_TRUE(found.has_value());
    for (const FoundSpan& span : found->spans) {
      out.push_back(span.span_id.ToHex().substr(14));
    }
    return out;
  };
  EXPECT_THAT(names("{ name = \"order\" }", 10), ElementsAre("b2", "a3", "a2"));
  EXPECT_THAT(names("{ name = \"order\" }", 2), ElementsAre("b2", "a3"));
  EXPECT_THAT(names("{ name = \"order\" && rootName = \"GET /\" && .items != 9 }", 10),
              ElementsAre("b2", "a2"));
  EXPECT_THAT(names("{ trace:id = \"a\" && span.items > 1 }", 10), ElementsAre("a3", "a2"));
}

TEST(Lower, PushesConditionsOfTheOutermostAnd) {
  const auto filter = traceql::ParseFilter(
      "{ resource.service.name = \"s\" && 5ms < duration && (.a != 1 && span.b = true) && "
      "status = error }");
  const Lowered lowered = Lower(*filter);
  EXPECT_TRUE(lowered.complete);
  ASSERT_EQ(lowered.conditions.size(), 5u);
  EXPECT_EQ(lowered.conditions[0].field, storage::SpanField::kService);
  EXPECT_EQ(lowered.conditions[1].compare, storage::Compare::kGreater);
  EXPECT_EQ(std::get<std::int64_t>(lowered.conditions[1].value), 5'000'000);
  EXPECT_EQ(lowered.conditions[4].field, storage::SpanField::kStatus);
}

TEST(Lower, LeavesTheRestToTheFilter) {
  const auto filter =
      traceql::ParseFilter("{ name = \"n\" && (.a = 1 || .b = 2) && .c =~ \"x\" && .d != nil }");
  const Lowered lowered = Lower(*filter);
  EXPECT_FALSE(lowered.complete);
  EXPECT_EQ(lowered.conditions.size(), 1u);
}

}  // namespace
}  // namespace hotspan::query
