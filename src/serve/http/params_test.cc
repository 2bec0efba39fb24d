#include "serve/http/params.h"

#include <gtest/gtest.h>

namespace hotspan::serve {
namespace {

constexpr TimeNs kNow{1'700'000'000'000'000'000};

Request WithQuery(std::string_view query) {
  Request request;
  EXPECT_TRUE(SetTarget(request, "/?" + std::string(query)));
  return request;
}

TEST(ParseTime, TakesNumbersByMagnitude) {
  for (const char* text :
       {"1700000000", "1700000000000", "1700000000000000", "1700000000000000000", "1700000000.0"}) {
    EXPECT_EQ(ParseTime(text, kNow)->ns, 1'700'000'000'000'000'000) << text;
  }
  EXPECT_EQ(ParseTime("1700000000.5", kNow)->ns, 1'700'000'000'500'000'000);
}

TEST(ParseTime, TakesRfc3339) {
  EXPECT_EQ(ParseTime("2023-11-14T22:13:20Z", kNow)->ns, kNow.ns);
  EXPECT_EQ(ParseTime("2023-11-15T00:13:20.25+02:00", kNow)->ns, kNow.ns + 250'000'000);
  EXPECT_EQ(ParseTime("2023-11-14", kNow)->ns, 1'699'920'000ll * 1'000'000'000);
}

TEST(ParseTime, TakesNow) {
  EXPECT_EQ(ParseTime("now", kNow)->ns, kNow.ns);
  EXPECT_EQ(ParseTime("now-1h", kNow)->ns, kNow.ns - kHour.ns);
}

TEST(ParseTime, RefusesWhatIsNoTime) {
  for (const char* text :
       {"", "yesterday", "-5", "2023-13-01", "now-", "2023-11-14T25:00:00Z", "1e300", "nan"}) {
    EXPECT_FALSE(ParseTime(text, kNow)) << text;
  }
}

TEST(Params, DefaultsToTheLastHour) {
  const Request request = WithQuery("");
  Params params(request, kNow);
  const TimeRange range = params.Range();
  EXPECT_TRUE(params.status());
  EXPECT_EQ(range.end - range.begin, kHour);
  EXPECT_TRUE(range.Contains(kNow));
}

TEST(Params, NamesTheFieldAtFault) {
  const auto field_of = [](std::string_view query, auto read) {
    const Request request = WithQuery(query);
    Params params(request, kNow);
    read(params);
    return params.status() ? std::string("fine") : params.status().error().field();
  };
  EXPECT_EQ(field_of("limit=0", [](Params& p) { p.Int("limit", 20, 1, 500); }), "limit");
  EXPECT_EQ(field_of("limit=9x", [](Params& p) { p.Int("limit", 20, 1, 500); }), "limit");
  EXPECT_EQ(field_of("start=soon", [](Params& p) { p.Range(); }), "start");
  EXPECT_EQ(field_of("start=200000000&end=100000000", [](Params& p) { p.Range(); }), "end");
  EXPECT_EQ(field_of("trace_id=xyz", [](Params& p) { p.Trace("trace_id"); }), "trace_id");
  EXPECT_EQ(field_of("trace_id=00", [](Params& p) { p.Trace("trace_id"); }), "trace_id");
  EXPECT_EQ(field_of("min=fast", [](Params& p) { p.Duration("min"); }), "min");
  EXPECT_EQ(field_of("", [](Params& p) { p.Required("service"); }), "service");
  EXPECT_EQ(field_of("mode=both", [](Params& p) { p.Word("mode", {"self", "all"}); }), "mode");
  EXPECT_EQ(field_of("mode=all", [](Params& p) { p.Word("mode", {"self", "all"}); }), "fine");
}

TEST(Params, NamesTheWordsThatAreAllowed) {
  const Request request = WithQuery("format=gif");
  Params params(request, kNow);
  params.Word("format", {"json", "svg"});
  EXPECT_EQ(params.status().error().message(), "format \"gif\" is not one of: json, svg");
}

TEST(ErrorResponse, CarriesCodeMessageAndField) {
  const Response response =
      ErrorResponse(Error(Code::kInvalidArgument, "bad \"id\"").Field("trace_id"));
  EXPECT_EQ(response.status, 400);
  EXPECT_EQ(response.body,
            R"({"error":{"code":"invalid_argument","message":"bad \"id\"","field":"trace_id"}})");
}

}  // namespace
}  // namespace hotspan::serve
