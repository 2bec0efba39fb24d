// Folded stacks, "root;caller;leaf 12" a line, to samples.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "wire/decode.h"

namespace hotspan::wire {

struct FoldedOptions {
  ProfileSource source;
  std::string type = "process_cpu:samples:count:cpu:nanoseconds";
  std::int64_t scale = 1;  // each count is multiplied by it
  std::int64_t period = 0;
};

// Blank lines, lines beginning with '#' and lines of stacks without a count are skipped; a body in
// which nothing else is left, or a count that is no number, is kInvalidArgument.
// Threads: callable from any thread.
Result<ProfileDecode> DecodeFolded(std::string_view body, const FoldedOptions& options);

// Whether the body is text whose first lines are stacks with counts.
bool LooksLikeFolded(std::string_view body);

}  // namespace hotspan::wire
