// `hotspan serve`: runs until SIGTERM or SIGINT.
#pragma once

#include <string>
#include <vector>

namespace hotspan::app {

// The exit code: 0, or 2 if it could not start (one line on standard error says why).
int ServeMain(const std::vector<std::string>& arguments);

}  // namespace hotspan::app
