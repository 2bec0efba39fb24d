// Groups of routes, one file each. Internal to serve/api.
#pragma once

#include "serve/api/api.h"

namespace hotspan::serve {

void AddExploreRoutes(Router& router, Api& api);  // services, operations, traces
void AddExplainRoutes(Router& router, Api& api);  // explain, findings
void AddFlameRoutes(Router& router, Api& api);
void AddTempoRoutes(Router& router, Api& api);
void AddWriteRoutes(Router& router, Api& api);    // OTLP, /ingest
void AddOperateRoutes(Router& router, Api& api);  // health, metrics
void AddPageRoutes(Router& router, Api& api);     // the web page

}  // namespace hotspan::serve
