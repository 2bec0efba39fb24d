#include "serve/api/routes.h"

namespace hotspan::serve {

Router MakeRouter(Api& api) {
  Router router;
  AddWriteRoutes(router, api);
  AddExploreRoutes(router, api);
  AddExplainRoutes(router, api);
  AddFlameRoutes(router, api);
  AddTempoRoutes(router, api);
  AddOperateRoutes(router, api);
  AddPageRoutes(router, api);
  return router;
}

}  // namespace hotspan::serve
