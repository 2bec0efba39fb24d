// The demo's services: each function opens what the service needs and gives its routes.
#pragma once

#include <string>

#include "demo/common/http_server.h"
#include "demo/common/settings.h"

namespace demo {

Routes MakeFrontend(const Settings& settings);
Routes MakeApiGateway(const Settings& settings);
Routes MakeAuthService(const Settings& settings);
Routes MakeDataService(const Settings& settings);
Routes MakeOrderService(const Settings& settings);
Routes MakeUserDb(const Settings& settings);
Routes MakeApiServer(const Settings& settings);
Routes MakeCheckoutService(const Settings& settings);

// A new database file of this name in the data folder, filled by `schema`; gives its path.
std::string CreateDatabase(const Settings& settings, const std::string& name,
                           const std::string& schema);

}  // namespace demo
