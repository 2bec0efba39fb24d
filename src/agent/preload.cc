// In libhotspan.so alone: starts the library in a program that does not know of it, when it is
// loaded with LD_PRELOAD and HOTSPAN_AUTOSTART is set.

#include <cstdlib>
#include <string_view>

#include "agent/hotspan.h"

namespace {

__attribute__((constructor)) void StartIfAsked() {
  const char* const asked = std::getenv("HOTSPAN_AUTOSTART");
  if (asked == nullptr) return;
  const std::string_view value(asked);
  if (value != "1" && value != "true") return;
  hotspan_options options{};
  options.size = sizeof(options);
  hotspan_start(&options);
}

}  // namespace
