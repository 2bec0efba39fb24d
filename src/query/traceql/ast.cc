#include "query/traceql/ast.h"

#include <array>

namespace hotspan::query::traceql {
namespace {

struct IntrinsicInfo {
  Intrinsic intrinsic;
  std::string_view name;
  Type type;
  bool trace_level;
};

constexpr std::array kIntrinsics = {
    IntrinsicInfo{Intrinsic::kDuration, "duration", Type::kDuration, false},
    IntrinsicInfo{Intrinsic::kName, "name", Type::kString, false},
    IntrinsicInfo{Intrinsic::kStatus, "status", Type::kStatus, false},
    IntrinsicInfo{Intrinsic::kStatusMessage, "statusMessage", Type::kString, false},
    IntrinsicInfo{Intrinsic::kKind, "kind", Type::kKind, false},
    IntrinsicInfo{Intrinsic::kSpanId, "span:id", Type::kString, false},
    IntrinsicInfo{Intrinsic::kParentId, "span:parentID", Type::kString, false},
    IntrinsicInfo{Intrinsic::kChildCount, "span:childCount", Type::kInt, true},
    IntrinsicInfo{Intrinsic::kTraceId, "trace:id", Type::kString, false},
    IntrinsicInfo{Intrinsic::kTraceDuration, "traceDuration", Type::kDuration, true},
    IntrinsicInfo{Intrinsic::kRootName, "rootName", Type::kString, true},
    IntrinsicInfo{Intrinsic::kRootServiceName, "rootServiceName", Type::kString, true},
    IntrinsicInfo{Intrinsic::kNestedSetLeft, "nestedSetLeft", Type::kInt, true},
    IntrinsicInfo{Intrinsic::kNestedSetRight, "nestedSetRight", Type::kInt, true},
    IntrinsicInfo{Intrinsic::kNestedSetParent, "nestedSetParent", Type::kInt, true},
    IntrinsicInfo{Intrinsic::kEventName, "event:name", Type::kString, false},
    IntrinsicInfo{Intrinsic::kEventTimeSinceStart, "event:timeSinceStart", Type::kDuration, false},
    IntrinsicInfo{Intrinsic::kLinkTraceId, "link:traceID", Type::kString, false},
    IntrinsicInfo{Intrinsic::kLinkSpanId, "link:spanID", Type::kString, false},
    IntrinsicInfo{Intrinsic::kInstrumentationName, "instrumentation:name", Type::kString, false},
    IntrinsicInfo{Intrinsic::kInstrumentationVersion, "instrumentation:version", Type::kString,
                  false},
};

constexpr bool InEnumOrder() {
  for (std::size_t i = 0; i < kIntrinsics.size(); ++i) {
    if (static_cast<std::size_t>(kIntrinsics[i].intrinsic) != i) return false;
  }
  return true;
}
static_assert(InEnumOrder());

const IntrinsicInfo& InfoOf(Intrinsic intrinsic) {
  return kIntrinsics[static_cast<std::size_t>(intrinsic)];
}

}  // namespace

bool IsComparison(Op op) { return op <= Op::kNotMatches; }

std::string_view OpText(Op op) {
  switch (op) {
    case Op::kEqual:
      return "=";
    case Op::kNotEqual:
      return "!=";
    case Op::kLess:
      return "<";
    case Op::kLessEqual:
      return "<=";
    case Op::kGreater:
      return ">";
    case Op::kGreaterEqual:
      return ">=";
    case Op::kMatches:
      return "=~";
    case Op::kNotMatches:
      return "!~";
    case Op::kAnd:
      return "&&";
    case Op::kOr:
      return "||";
    case Op::kNot:
      return "!";
  }
  return "?";
}

Type TypeOf(Intrinsic intrinsic) { return InfoOf(intrinsic).type; }
bool IsTraceLevel(Intrinsic intrinsic) { return InfoOf(intrinsic).trace_level; }
std::string_view IntrinsicName(Intrinsic intrinsic) { return InfoOf(intrinsic).name; }

std::vector<std::string_view> IntrinsicNames() {
  std::vector<std::string_view> names;
  for (const IntrinsicInfo& info : kIntrinsics) {
    // Tempo lists all but the numbers of nested sets, which mean nothing to people.
    if (info.name.starts_with("nestedSet")) continue;
    names.push_back(info.name);
  }
  for (const std::string_view scoped :
       {"span:duration", "span:name", "span:kind", "span:status", "span:statusMessage",
        "trace:duration", "trace:rootName", "trace:rootService"}) {
    names.push_back(scoped);
  }
  return names;
}

bool SameExpr(const Expr& a, const Expr& b) {
  if (a.kind != b.kind) return false;
  switch (a.kind) {
    case ExprKind::kLiteral:
      return a.literal == b.literal;
    case ExprKind::kAttribute:
      return a.scope == b.scope && a.name == b.name;
    case ExprKind::kIntrinsic:
      return a.intrinsic == b.intrinsic;
    case ExprKind::kOperation:
      break;
  }
  if (a.op != b.op || a.operands.size() != b.operands.size()) return false;
  for (std::size_t i = 0; i < a.operands.size(); ++i) {
    if (!SameExpr(a.operands[i], b.operands[i])) return false;
  }
  return true;
}

}  // namespace hotspan::query::traceql
