#include "agent/log_line.h"

#include <unistd.h>

#include <cerrno>
#include <string>

namespace hotspan::agent {

void LogLine(std::string_view text) {
  std::string line("hotspan: ");
  line += text;
  line += '\n';
  const int saved_errno = errno;
  // Nobody can be told when standard error does not take the line.
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, line.data(), line.size());
  errno = saved_errno;
}

}  // namespace hotspan::agent
