// Profile selectors: TYPE{service_name="x", version="y", region!="z"}.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/ids.h"
#include "model/time.h"
#include "storage/engine.h"

namespace hotspan::query::profile {

struct Selector {
  std::string type;
  std::string service;  // empty: all
  std::vector<storage::LabelMatcher> matchers;
};

// `service_name` (or `service.name`) with `=` becomes `service`. Regex matchers are refused. An
// absent type is an error unless `default_type` is given.
Result<Selector> ParseSelector(std::string_view text, std::string_view default_type = {});

storage::SampleMerge ToSampleMerge(const Selector& selector, TenantId tenant, TimeRange range,
                                   const storage::Budget& budget = {});

// "process_cpu:cpu:nanoseconds:cpu:nanoseconds" has the unit "nanoseconds".
std::string_view UnitOfType(std::string_view type);

}  // namespace hotspan::query::profile
