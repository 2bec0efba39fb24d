#include "demo/common/http_message.h"

#include <gtest/gtest.h>

namespace demo {
namespace {

TEST(ParseTarget, CutsPathAndDecodesQuery) {
  const std::optional<Target> target = ParseTarget("/users%2Fall?domain=acme.example&q=a+b%26c&x");
  ASSERT_TRUE(target);
  EXPECT_EQ(target->path, "/users/all");
  EXPECT_EQ(target->query, (std::map<std::string, std::string>{
                               {"domain", "acme.example"}, {"q", "a b&c"}, {"x", ""}}));
}

TEST(ParseTarget, TakesTheLastOfRepeatedParametersAndSkipsEmptyOnes) {
  const std::optional<Target> target = ParseTarget("/?a=1&&a=2&");
  ASSERT_TRUE(target);
  EXPECT_EQ(target->query, (std::map<std::string, std::string>{{"a", "2"}}));
}

TEST(ParseTarget, RefusesRelativeTargetsAndBrokenEscapes) {
  EXPECT_FALSE(ParseTarget(""));
  EXPECT_FALSE(ParseTarget("users"));
  EXPECT_FALSE(ParseTarget("/%4"));
  EXPECT_FALSE(ParseTarget("/%zz"));
  EXPECT_FALSE(ParseTarget("/?a=%f"));
}

TEST(PercentEncode, IsUndoneByDecoding) {
  EXPECT_EQ(PercentEncode("a-1 '\r\n\xff"), "a-1%20%27%0D%0A%FF");
  EXPECT_EQ(PercentDecode(PercentEncode("a b&c=%+\xc3\xa4")), "a b&c=%+\xc3\xa4");
}

TEST(Request, GivesTheBearerTokenOnly) {
  Request request;
  EXPECT_EQ(request.BearerToken(), "");
  request.authorization = "Basic abc";
  EXPECT_EQ(request.BearerToken(), "");
  request.authorization = "Bearer abc";
  EXPECT_EQ(request.BearerToken(), "abc");
}

TEST(ParseAddress, WantsHostAndPort) {
  EXPECT_EQ(ParseAddress("127.0.0.1:8080"), (Address{.host = "127.0.0.1", .port = 8080}));
  EXPECT_FALSE(ParseAddress("127.0.0.1"));
  EXPECT_FALSE(ParseAddress(":8080"));
  EXPECT_FALSE(ParseAddress("host:0"));
  EXPECT_FALSE(ParseAddress("host:65536"));
  EXPECT_FALSE(ParseAddress("host:80x"));
}

TEST(ErrorResponse, EscapesItsMessage) {
  EXPECT_EQ(ErrorResponse(400, "a \"b\"\n").body, "{\"error\":\"a \\\"b\\\" \"}");
}

}  // namespace
}  // namespace demo
