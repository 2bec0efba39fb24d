#include "serve/http/front.h"

#include <gtest/gtest.h>

#include <future>

namespace hotspan::serve {
namespace {

Router MakeTestRouter() {
  Router router;
  router.Add("GET", "/big",
             [](const Request&) { return TextResponse(200, std::string(5000, 'x')); });
  router.Add("POST", "/change", [](const Request&) { return TextResponse(200, "changed"); });
  router.Add("POST", "/v1/traces", [](const Request&) { return TextResponse(200, "taken"); },
             {.writes = true, .otlp = true, .cross_origin = true});
  return router;
}

class FrontTest : public testing::Test {
 protected:
  Response Send(const std::string& method, const std::string& path, TextPairs headers,
                Port port = Port::kMain) {
    Request request;
    request.method = method;
    request.path = path;
    request.headers = std::move(headers);
    request.port = port;
    std::promise<Response> answer;
    front_.Handle(std::move(request), [&](Response r) { answer.set_value(std::move(r)); });
    return answer.get_future().get();
  }

  static std::string HeaderOf(const Response& response, const std::string& name) {
    for (const auto& [key, value] : response.headers) {
      if (key == name) return value;
    }
    return {};
  }

  Front front_{MakeTestRouter(), {.allowed_hosts = {"hotspan.example"}}};
};

TEST_F(FrontTest, RefusesHostsThatDnsRebindingCouldUse) {
  EXPECT_EQ(Send("GET", "/big", {{"host", "evil.example:4040"}}).status, 403);
  for (const char* host : {"localhost:4040", "127.0.0.1:4040", "[::1]:4040", "10.1.2.3",
                           "hotspan.example", "app.localhost"}) {
    EXPECT_EQ(Send("GET", "/big", {{"host", host}}).status, 200) << host;
  }
}

TEST_F(FrontTest, RefusesPostsOfOtherOrigins) {
  const auto status = [&](const char* origin) {
    return Send("POST", "/change", {{"host", "localhost:4040"}, {"origin", origin}}).status;
  };
  EXPECT_EQ(status("http://localhost:4040"), 200);
  EXPECT_EQ(status("http://evil.example"), 403);
  EXPECT_EQ(status("null"), 403);
}

TEST_F(FrontTest, LetsEveryPageSendOtlp) {
  const Response preflight =
      Send("OPTIONS", "/v1/traces",
           {{"host", "x.example"}, {"access-control-request-headers", "content-type,x-a"}});
  EXPECT_EQ(preflight.status, 204);
  EXPECT_EQ(HeaderOf(preflight, "Access-Control-Allow-Headers"), "content-type,x-a");
  const Response answer = Send("POST", "/v1/traces", {{"origin", "http://evil.example"}});
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(HeaderOf(answer, "Access-Control-Allow-Origin"), "*");
  EXPECT_EQ(Send("OPTIONS", "/change", {}).status, 405);
}

TEST_F(FrontTest, CompressesLargeAnswersForThoseWhoTakeIt) {
  const Response plain = Send("GET", "/big", {});
  EXPECT_EQ(plain.body.size(), 5000u);
  EXPECT_EQ(HeaderOf(plain, "Vary"), "Accept-Encoding");
  const Response packed = Send("GET", "/big", {{"accept-encoding", "gzip, br"}});
  EXPECT_LT(packed.body.size(), 200u);
  EXPECT_EQ(HeaderOf(packed, "Content-Encoding"), "gzip");
}

TEST_F(FrontTest, AnswersOtlpAloneOnOtlpPorts) {
  EXPECT_EQ(Send("GET", "/big", {}, Port::kOtlpHttp).status, 404);
  EXPECT_EQ(Send("POST", "/v1/traces", {}, Port::kOtlpGrpc).status, 200);
}

TEST_F(FrontTest, NamesTheAllowedMethod) {
  const Response response = Send("GET", "/v1/traces", {});
  EXPECT_EQ(response.status, 405);
  EXPECT_EQ(HeaderOf(response, "Allow"), "POST");
  EXPECT_EQ(Send("GET", "/nothing", {}).status, 404);
}

TEST_F(FrontTest, CountsByRouteAndStatus) {
  Send("GET", "/big", {});
  Send("GET", "/big", {});
  Send("GET", "/nothing", {});
  const auto stats = front_.Stats();
  EXPECT_EQ(stats.at({"/big", 200}).requests, 2u);
  EXPECT_EQ(stats.at({"(none)", 404}).requests, 1u);
}

}  // namespace
}  // namespace hotspan::serve
