// Lowers TraceQL to the conditions that engines evaluate; internal to query.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/ids.h"
#include "query/traceql/ast.h"
#include "storage/engine.h"

namespace hotspan::query {

struct Lowered {
  std::vector<storage::Condition> conditions;
  std::optional<TraceId> trace_id;  // the filter asks for this trace alone
  bool nothing = false;             // the filter asks for an id that no trace can have
  bool complete = true;             // the conditions say all that the filter says
};

// Conditions of the outermost && that engines know; the rest is left to SpanFilter.
Lowered Lower(const traceql::Filter& filter);

// A tag of Tempo's older search: a substring, in any case, of the text of what `key` names.
struct TagCondition {
  std::string key;
  std::string value;
};

// logfmt: key=value key2="two words". Refuses a key that comes twice.
Result<std::vector<TagCondition>> ParseTags(std::string_view text);

}  // namespace hotspan::query
