// The tree of a TraceQL spanset filter, and what every attribute, intrinsic and literal is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hotspan::query::traceql {

enum class Scope : std::uint8_t { kAny, kSpan, kResource, kEvent, kLink, kInstrumentation };

enum class Intrinsic : std::uint8_t {
  kDuration,
  kName,
  kStatus,
  kStatusMessage,
  kKind,
  kSpanId,
  kParentId,
  kChildCount,
  kTraceId,
  kTraceDuration,
  kRootName,
  kRootServiceName,
  kNestedSetLeft,
  kNestedSetRight,
  kNestedSetParent,
  kEventName,
  kEventTimeSinceStart,
  kLinkTraceId,
  kLinkSpanId,
  kInstrumentationName,
  kInstrumentationVersion,
};

enum class Type : std::uint8_t {
  kNil,
  kInt,
  kFloat,
  kString,
  kBool,
  kDuration,
  kStatus,
  kKind,
  kAttribute,  // known when read
};

struct Literal {
  Type type = Type::kNil;
  std::string text;  // kString
  std::int64_t number =
      0;            // kInt, kBool (0, 1), kDuration (ns), kStatus and kKind (OTLP's numbers)
  double real = 0;  // kFloat

  bool operator==(const Literal&) const = default;
};

enum class Op : std::uint8_t {
  kEqual,
  kNotEqual,
  kLess,
  kLessEqual,
  kGreater,
  kGreaterEqual,
  kMatches,
  kNotMatches,
  kAnd,
  kOr,
  kNot,
};

enum class ExprKind : std::uint8_t { kLiteral, kAttribute, kIntrinsic, kOperation };

// kAnd and kOr have two or more operands (a && b && c is one node), comparisons two, kNot one.
struct Expr {
  ExprKind kind = ExprKind::kLiteral;
  Op op = Op::kAnd;
  Scope scope = Scope::kAny;
  Intrinsic intrinsic = Intrinsic::kDuration;
  Literal literal;
  std::string name;  // of an attribute
  std::vector<Expr> operands;
  int depth = 1;           // of this tree
  std::size_t offset = 0;  // in the text

  bool IsOperation(Op o) const { return kind == ExprKind::kOperation && op == o; }
};

// { } has no expression and matches every span.
struct Filter {
  bool empty = true;
  Expr expr;
};

bool IsComparison(Op op);
std::string_view OpText(Op op);
Type TypeOf(Intrinsic intrinsic);
// Whether a whole trace is needed to know it.
bool IsTraceLevel(Intrinsic intrinsic);
// The canonical name: "duration", "trace:id".
std::string_view IntrinsicName(Intrinsic intrinsic);
// Every canonical name, for tag lists.
std::vector<std::string_view> IntrinsicNames();

// The same tree, wherever it stands in a text.
bool SameExpr(const Expr& a, const Expr& b);

}  // namespace hotspan::query::traceql
