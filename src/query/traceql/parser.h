// Parses, checks and prints TraceQL: one spanset filter `{ ... }` of comparisons, &&, ||, ! and
// parentheses. The rest of the language is refused with Code::kUnimplemented.
//
// Threads: pure functions over values.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "query/traceql/ast.h"

namespace hotspan::query::traceql {

// Parses and checks types. Errors carry the byte offset.
Result<Filter> ParseFilter(std::string_view text);

// One attribute or intrinsic, as in tag requests: resource.service.name, span."a b", .x, name.
Result<Expr> ParseIdentifier(std::string_view text);

// "1h30m", "500ms", "1.5s", "2d": Prometheus' form or Go's.
Result<std::int64_t> ParseDurationNs(std::string_view text);

// Text that parses to the same tree.
std::string Print(const Filter& filter);
std::string Print(const Expr& expr);

// Refuses operands that an operator doesn't take; part of ParseFilter.
Status Check(const Filter& filter);

}  // namespace hotspan::query::traceql
