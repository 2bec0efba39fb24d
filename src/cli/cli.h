// The command line: finds the verb, reads its flags and runs it.
//
// Exit codes: 0 fine, 1 the answer is "no" or nothing was found, 2 wrong use, 3 no server.
#pragma once

#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "cli/api.h"

namespace hotspan::cli {

inline constexpr int kExitFine = 0;
inline constexpr int kExitNo = 1;
inline constexpr int kExitUsage = 2;
inline constexpr int kExitNoServer = 3;

struct Environment {
  std::ostream& out;
  std::ostream& err;
  std::function<std::unique_ptr<Api>(std::string server)> open_http;
  std::function<Result<std::unique_ptr<Api>>(const std::string& folder)> open_folder;
};

int Run(const std::vector<std::string>& arguments, const Environment& environment);

}  // namespace hotspan::cli
