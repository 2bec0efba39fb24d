// hotspan: one binary, verbs as arguments.
#include <iostream>
#include <string>
#include <vector>

#include "app/api_access.h"
#include "app/serve_command.h"
#include "cli/cli.h"

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (!arguments.empty() && arguments[0] == "serve") {
    return hotspan::app::ServeMain({arguments.begin() + 1, arguments.end()});
  }
  hotspan::cli::Environment environment{std::cout, std::cerr, &hotspan::app::MakeHttpApi,
                                        &hotspan::app::MakeLocalApi};
  return hotspan::cli::Run(arguments, environment);
}
