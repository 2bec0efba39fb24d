// How the command line reaches the API: over HTTP, or inside this process on a data folder.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "cli/api.h"

namespace hotspan::app {

std::unique_ptr<cli::Api> MakeHttpApi(std::string server);
Result<std::unique_ptr<cli::Api>> MakeLocalApi(const std::string& folder);

}  // namespace hotspan::app
