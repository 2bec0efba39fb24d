// Findings from code samples: repeated work, loops that samples betray, leaf families, hot
// functions.
//
// Each sample is explained once, by the first rule that names its frame, so the findings' times may
// be added. A frame is named only for what the frames below it, named already, don't explain.
//
// Threads: pure functions over values.
#pragma once

#include <vector>

#include "correlate/cohort.h"
#include "correlate/explanation.h"

namespace hotspan::correlate {

struct CodeRulesOptions {
  // Spans of the same operation, for what is done again in each; null: not known.
  const CodeView* cohort = nullptr;
  // Whether the span has child spans; a loop over calls that are spans is another finding.
  bool has_children = false;
};

std::vector<Finding> FindCode(const CodeView& view, const CodeRulesOptions& options);

}  // namespace hotspan::correlate
