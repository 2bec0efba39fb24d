#include "app/api_access.h"

#include <utility>

#include "app/wiring.h"
#include "serve/http/client.h"
#include "serve/http/front.h"

namespace hotspan::app {
namespace {

class HttpApi final : public cli::Api {
 public:
  explicit HttpApi(std::string server) : server_(std::move(server)) {}

  Result<cli::Reply> Call(const cli::Call& call) override {
    serve::ClientRequest request;
    request.method = call.method;
    request.target = call.target;
    request.body = call.body;
    if (!call.content_type.empty()) request.headers.emplace_back("Content-Type", call.content_type);
    TRY_ASSIGN(auto response, serve::HttpCall(server_, request));
    return cli::Reply{response.status, std::move(response.body)};
  }

 private:
  const std::string server_;
};

class LocalApi final : public cli::Api {
 public:
  explicit LocalApi(std::unique_ptr<Core> core)
      : core_(std::move(core)),
        front_(serve::MakeRouter(core_->api()), {.allowed_hosts = {}, .readers = 0, .writers = 0}) {
  }
  ~LocalApi() override { static_cast<void>(core_->engine().Flush()); }

  Result<cli::Reply> Call(const cli::Call& call) override {
    serve::Request request;
    request.method = call.method;
    request.body = call.body;
    if (!call.content_type.empty()) request.headers.emplace_back("content-type", call.content_type);
    if (!serve::SetTarget(request, call.target)) {
      return Fail(Code::kInvalidArgument, "broken percent-encoding in " + call.target);
    }
    serve::Response response = front_.HandleNow(std::move(request));
    return cli::Reply{response.status, std::move(response.body)};
  }

 private:
  const std::unique_ptr<Core> core_;
  serve::Front front_;
};

}  // namespace

std::unique_ptr<cli::Api> MakeHttpApi(std::string server) {
  return std::make_unique<HttpApi>(std::move(server));
}

Result<std::unique_ptr<cli::Api>> MakeLocalApi(const std::string& folder) {
  TRY_ASSIGN(auto core, Core::Open("embedded", folder, {}));
  return std::make_unique<LocalApi>(std::move(core));
}

}  // namespace hotspan::app
