// api-gateway: checks the caller's token with auth-service and asks data-service for the data.
#include <memory>

#include "agent/hotspan.hpp"
#include "demo/services/services.h"

namespace demo {
namespace {

class ApiGateway {
 public:
  explicit ApiGateway(const Settings& settings)
      : auth_(settings.PeerNamed("auth-service")), data_(settings.PeerNamed("data-service")) {}

  Response Forward(const Request& request, const std::string& target) const {
    hotspan::Span processing("api_gateway_processing");
    if (!Authenticated(request)) {
      processing.Set("auth.outcome", "refused");
      return ErrorResponse(401, "unknown or expired token");
    }
    const hotspan::Span span("data_service_call");
    return data_.Send({.target = target});
  }

  Response Login(const Request& request) const {
    return auth_.Send(
        {.method = "POST", .target = "/login?user=" + PercentEncode(request.Query("user"))});
  }

 private:
  bool Authenticated(const Request& request) const {
    hotspan::Span span("authentication_check");
    if (request.BearerToken().empty()) {
      span.Error("no bearer token");
      return false;
    }
    const Response answer =
        auth_.Send({.target = "/verify", .authorization = request.authorization});
    if (answer.status != 200) span.Error("token refused");
    return answer.status == 200;
  }

  const Peer auth_;
  const Peer data_;
};

}  // namespace

Routes MakeApiGateway(const Settings& settings) {
  const auto gateway = std::make_shared<ApiGateway>(settings);
  return {
      {"GET /api/data",
       [gateway](const Request& request) { return gateway->Forward(request, "/data"); }},
      {"GET /api/report",
       [gateway](const Request& request) { return gateway->Forward(request, "/report"); }},
      {"POST /api/login", [gateway](const Request& request) { return gateway->Login(request); }},
  };
}

}  // namespace demo
