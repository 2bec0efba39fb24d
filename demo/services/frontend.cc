// frontend: the shop's front door. "/" computes a page and asks the gateway for its data, the other
// routes lead to one story each.
#include <memory>
#include <mutex>
#include <vector>

#include "agent/hotspan.hpp"
#include "demo/services/services.h"

namespace demo {
namespace {

constexpr int kTeaserCount = 60'000;
constexpr int kTeaserPasses = 20;

// CPU loop: scores teasers by how few divisors their number has.
[[gnu::noinline]] int RankTeasers(int passes) {
  int best = 0;
  for (int pass = 0; pass < passes; ++pass) {
    std::vector<unsigned> divisors(kTeaserCount, 0);
    for (std::size_t step = 1; step < divisors.size(); ++step) {
      for (std::size_t i = step; i < divisors.size(); i += step) ++divisors[i];
    }
    for (std::size_t i = 2; i < divisors.size(); ++i) {
      if (divisors[i] == 2 && static_cast<int>(i) % (pass + 3) == 1) best = static_cast<int>(i);
    }
  }
  return best;
}

class Frontend {
 public:
  explicit Frontend(const Settings& settings)
      : gateway_(settings.PeerNamed("api-gateway")),
        orders_(settings.PeerNamed("order-service")),
        users_(settings.PeerNamed("api_server")),
        checkout_(settings.PeerNamed("checkout-service")) {}

  Response Home(const Request& request) {
    int teaser = 0;
    {
      const hotspan::Span span("render_page");
      teaser = RankTeasers(kTeaserPasses);
    }
    Response data = FromGateway("/api/data", request.Query("token"));
    if (data.status != 200) return data;
    return {.body = "{\"teaser\":" + std::to_string(teaser) + ",\"data\":" + data.body + "}"};
  }

  Response Report(const Request& request) {
    return FromGateway("/api/report", request.Query("token"));
  }

  Response Order(const Request& request) {
    return orders_.Send(
        {.method = "POST", .target = "/orders?id=" + PercentEncode(request.Query("id", "1"))});
  }
  Response Users(const Request& request) {
    return users_.Send({.target = "/users?batch=" + PercentEncode(request.Query("batch", "0"))});
  }
  Response Checkout(const Request&) {
    return checkout_.Send({.method = "POST", .target = "/checkout"});
  }
  Response Prices(const Request& request) {
    if (request.Query("refresh") == "1") {
      return checkout_.Send({.method = "POST", .target = "/prices/refresh"});
    }
    return checkout_.Send({.target = "/prices"});
  }

 private:
  // With the caller's token, else with the frontend's own session, which is made anew where the
  // gateway no longer knows it.
  Response FromGateway(const std::string& target, const std::string& callers_token) {
    const std::string token = callers_token.empty() ? SessionToken({}) : callers_token;
    Response data = gateway_.Send({.target = target, .authorization = "Bearer " + token});
    if (data.status != 401 || !callers_token.empty()) return data;
    return gateway_.Send({.target = target, .authorization = "Bearer " + SessionToken(token)});
  }

  // The session's token; a new one where the current one is `refused` or there is none.
  std::string SessionToken(const std::string& refused) {
    const std::lock_guard lock(mutex_);
    if (token_.empty() || token_ == refused) {
      const Response login = gateway_.Send({.method = "POST", .target = "/api/login?user=shop"});
      token_ = login.status == 200 ? login.body : "";
    }
    return token_;
  }

  const Peer gateway_;
  const Peer orders_;
  const Peer users_;
  const Peer checkout_;
  std::mutex mutex_;
  std::string token_;
};

}  // namespace

Routes MakeFrontend(const Settings& settings) {
  const auto frontend = std::make_shared<Frontend>(settings);
  return {
      {"GET /", [frontend](const Request& request) { return frontend->Home(request); }},
      {"GET /report", [frontend](const Request& request) { return frontend->Report(request); }},
      {"GET /order", [frontend](const Request& request) { return frontend->Order(request); }},
      {"GET /users", [frontend](const Request& request) { return frontend->Users(request); }},
      {"GET /checkout", [frontend](const Request& request) { return frontend->Checkout(request); }},
      {"GET /prices", [frontend](const Request& request) { return frontend->Prices(request); }},
  };
}

}  // namespace demo
