// One line on standard error, beginning with "hotspan: ". The library lives in other people's
// programs: it says when it starts (if asked), and once when something does not work.
//
// Threads: any; a line is one write.
#pragma once

#include <string_view>

namespace hotspan::agent {

void LogLine(std::string_view text);

}  // namespace hotspan::agent
