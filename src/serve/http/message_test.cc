#include "serve/http/message.h"

#include <gtest/gtest.h>

#include "serve/http/gzip.h"

namespace hotspan::serve {
namespace {

TEST(Message, SplitsAndDecodesTheTarget) {
  Request request;
  ASSERT_TRUE(SetTarget(request, "/a%20b?x=1&y=a%2Bb+c&empty&=z"));
  EXPECT_EQ(request.path, "/a%20b");
  const TextPairs want = {{"x", "1"}, {"y", "a+b c"}, {"empty", ""}, {"", "z"}};
  EXPECT_EQ(request.query, want);
}

TEST(Message, RefusesBrokenEscapes) {
  Request request;
  EXPECT_FALSE(SetTarget(request, "/?x=%"));
  EXPECT_FALSE(SetTarget(request, "/?x=%2"));
  EXPECT_FALSE(SetTarget(request, "/?x=%zz"));
}

TEST(Message, EncodesWhatDecodes) {
  std::string back;
  const std::string text = "{ .a = \"x/y\" && é }";
  ASSERT_TRUE(DecodePercent(EncodePercent(text), true, back));
  EXPECT_EQ(back, text);
}

TEST(Message, TakesMediaTypesWithoutParameters) {
  EXPECT_EQ(MediaType(" Application/JSON ; charset=utf-8"), "application/json");
  EXPECT_EQ(MediaType(""), "");
}

TEST(Gzip, ReadsAcceptEncoding) {
  EXPECT_TRUE(AcceptsGzip("br, gzip;q=0.5"));
  EXPECT_TRUE(AcceptsGzip("*"));
  EXPECT_FALSE(AcceptsGzip("gzip;q=0, br"));
  EXPECT_FALSE(AcceptsGzip("gzip;q=0.0"));
  EXPECT_FALSE(AcceptsGzip("identity"));
  EXPECT_FALSE(AcceptsGzip(""));
}

}  // namespace
}  // namespace hotspan::serve
