// The SpanExplanation and findings as JSON, in the shape of docs/http-api.md.
#pragma once

#include <string>

#include "correlate/explanation.h"

namespace hotspan::serve {

std::string ExplanationJson(const correlate::SpanExplanation& explanation);
std::string FindingsJson(const correlate::OperationFindings& findings);

}  // namespace hotspan::serve
