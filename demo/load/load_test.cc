#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "demo/load/load_plan.h"
#include "demo/load/load_report.h"

namespace demo {
namespace {

std::map<std::string, int> CountRoutes(const std::vector<PlannedRequest>& requests) {
  std::map<std::string, int> counts;
  for (const PlannedRequest& request : requests) ++counts[request.route];
  return counts;
}

TEST(LoadPlan, FollowsTheMixExactly) {
  const std::vector<PlannedRequest> requests = LoadPlan(DefaultMix(), 1).Next(150);
  EXPECT_EQ(requests.size(), 150u);
  EXPECT_EQ(CountRoutes(requests), (std::map<std::string, int>{{"home", 36},
                                                               {"home-401", 4},
                                                               {"order", 40},
                                                               {"users", 20},
                                                               {"checkout", 20},
                                                               {"prices", 10},
                                                               {"prices-refresh", 10},
                                                               {"report", 10}}));
}

TEST(LoadPlan, IsTheSameForTheSameSeed) {
  const std::vector<PlannedRequest> first = LoadPlan(DefaultMix(), 5).Next(60);
  const std::vector<PlannedRequest> second = LoadPlan(DefaultMix(), 5).Next(60);
  EXPECT_TRUE(
      std::equal(first.begin(), first.end(), second.begin(), second.end(),
                 [](const auto& left, const auto& right) { return left.target == right.target; }));
}

TEST(LoadPlan, LetsAReaderFollowEachRefreshOfPrices) {
  const std::vector<PlannedRequest> requests = LoadPlan({{"prices", 1}, {"home", 1}}, 3).Next(40);
  for (std::size_t i = 0; i < requests.size(); ++i) {
    if (requests[i].route != "prices-refresh") continue;
    ASSERT_LT(i + 1, requests.size());
    EXPECT_EQ(requests[i + 1].route, "prices");
  }
}

TEST(LoadPlan, GivesAsManyRequestsAsAskedFor) {
  LoadPlan plan(DefaultMix(), 2);
  for (int i = 0; i < 200; ++i) EXPECT_EQ(plan.Next(1).size(), 1u);
  EXPECT_EQ(plan.Next(0).size(), 0u);
  EXPECT_EQ(plan.Next(7).size(), 7u);
}

TEST(ParseMix, KnowsItsRoutes) {
  EXPECT_EQ(ParseMix("order=4,users=2"), (Mix{{"order", 4}, {"users", 2}}));
  EXPECT_FALSE(ParseMix(""));
  EXPECT_FALSE(ParseMix("order"));
  EXPECT_FALSE(ParseMix("order=0"));
  EXPECT_FALSE(ParseMix("orders=1"));
}

TEST(LoadQueue, HoldsHeavyRequestsBackButNotTheOthers) {
  LoadQueue queue(1);
  queue.Add({{.route = "order", .target = "/1", .heavy = true},
             {.route = "order", .target = "/2", .heavy = true},
             {.route = "home", .target = "/3"}});
  queue.Finish();
  const std::optional<PlannedRequest> heavy = queue.Take();
  ASSERT_TRUE(heavy);
  EXPECT_EQ(heavy->target, "/1");
  const std::optional<PlannedRequest> light = queue.Take();
  ASSERT_TRUE(light);
  EXPECT_EQ(light->target, "/3");
  queue.Done(*light);
  queue.Done(*heavy);
  const std::optional<PlannedRequest> second = queue.Take();
  ASSERT_TRUE(second);
  EXPECT_EQ(second->target, "/2");
  EXPECT_FALSE(queue.Take());
}

TEST(LoadQueue, DropsWhatHasNotBegunWhenClosed) {
  LoadQueue queue(1);
  queue.Add({{.route = "home", .target = "/"}});
  queue.Close();
  EXPECT_FALSE(queue.Take());
}

TEST(Percentile, IsByNearestRank) {
  EXPECT_EQ(Percentile({}, 0.5), 0);
  EXPECT_EQ(Percentile({4, 1, 3, 2}, 0.5), 2);
  EXPECT_EQ(Percentile({4, 1, 3, 2}, 0.99), 4);
  EXPECT_EQ(Percentile({4, 1, 3, 2}, 0.0), 1);
}

TEST(LoadReport, SumsUpRoutesAndFailures) {
  LoadReport report;
  report.Add("home", 10, true, "");
  report.Add("home", 30, true, "");
  report.Add("order", 500, false, "status 500, \"x\"");
  EXPECT_EQ(report.Ok(), 2u);
  EXPECT_EQ(report.Failed(), 1u);
  const std::string json = report.Json(2);
  EXPECT_NE(json.find(R"("all":{"ok":2,"failed":1,"mean_ms":180.000,"min_ms":10.000)"),
            std::string::npos)
      << json;
  EXPECT_NE(json.find(R"("last_failure":"order: status 500, \"x\"")"), std::string::npos) << json;
  EXPECT_NE(report.Text(2).find("1.5 requests a second"), std::string::npos);
}

}  // namespace
}  // namespace demo
