#include "serve/http/router.h"

#include <gtest/gtest.h>

namespace hotspan::serve {
namespace {

Router MakeTestRouter() {
  Router router;
  const Handler none = [](const Request&) { return Response{}; };
  router.Add("GET", "/", none);
  router.Add("GET", "/api/traces/{id}", none);
  router.Add("GET", "/api/search/tag/{tag}/values", none);
  router.Add("POST", "/v1/traces", none);
  router.Add("GET", "/files/{*}", none);
  return router;
}

TEST(Router, FindsLiteralAndArgument) {
  const Router router = MakeTestRouter();
  EXPECT_EQ(router.Find("GET", "/").route->pattern, "/");
  const auto match = router.Find("GET", "/api/traces/abc");
  ASSERT_NE(match.route, nullptr);
  EXPECT_EQ(match.arguments, std::vector<std::string>{"abc"});
}

TEST(Router, DecodesArgumentsAfterSplitting) {
  const Router router = MakeTestRouter();
  const auto match = router.Find("GET", "/api/search/tag/span.%22a%2Fb%22/values");
  ASSERT_NE(match.route, nullptr);
  EXPECT_EQ(match.arguments[0], "span.\"a/b\"");
}

TEST(Router, TakesTheRestOfThePath) {
  const Router router = MakeTestRouter();
  EXPECT_EQ(router.Find("GET", "/files/a/b.js").arguments[0], "a/b.js");
}

TEST(Router, AnswersHeadByGet) {
  EXPECT_NE(MakeTestRouter().Find("HEAD", "/api/traces/1").route, nullptr);
}

TEST(Router, NamesTheMethodsOfAPath) {
  const auto match = MakeTestRouter().Find("GET", "/v1/traces");
  EXPECT_EQ(match.route, nullptr);
  EXPECT_EQ(match.allowed, "POST");
}

TEST(Router, RefusesEmptyArgumentsAndLongerPaths) {
  const Router router = MakeTestRouter();
  EXPECT_EQ(router.Find("GET", "/api/traces/").route, nullptr);
  EXPECT_EQ(router.Find("GET", "/api/traces/a/b").route, nullptr);
  EXPECT_TRUE(router.Find("GET", "/nothing").allowed.empty());
}

}  // namespace
}  // namespace hotspan::serve
