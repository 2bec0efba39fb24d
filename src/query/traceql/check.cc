#include <re2/re2.h>

#include <string>

#include "query/traceql/parser.h"

namespace hotspan::query::traceql {
namespace {

bool IsNumeric(Type type) {
  return type == Type::kInt || type == Type::kFloat || type == Type::kDuration;
}
bool IsEnum(Type type) { return type == Type::kStatus || type == Type::kKind; }

tl::unexpected<Error> Refuse(std::string message, const Expr& at) {
  return Fail(Error(Code::kInvalidArgument, std::move(message)).At(at.offset));
}

bool Comparable(Type a, Type b) {
  if (a == b || a == Type::kAttribute || b == Type::kAttribute) return true;
  if (IsNumeric(a) && IsNumeric(b)) return true;
  return (IsEnum(a) && b == Type::kInt) || (a == Type::kInt && IsEnum(b));
}

bool Takes(Op op, Type type) {
  const bool is_equality = op == Op::kEqual || op == Op::kNotEqual;
  const bool is_regex = op == Op::kMatches || op == Op::kNotMatches;
  if (type == Type::kAttribute || type == Type::kString || is_equality) return true;
  return IsNumeric(type) && !is_regex;
}

Status CheckRegex(const Expr& pattern) {
  if (pattern.kind != ExprKind::kLiteral || pattern.literal.type != Type::kString) {
    return Refuse("a regular expression must be a string", pattern);
  }
  RE2::Options options;
  options.set_log_errors(false);
  const RE2 regex(pattern.literal.text, options);
  if (!regex.ok()) return Refuse("bad regular expression: " + regex.error(), pattern);
  return {};
}

Status CheckNil(const Expr& expr, const Expr& other) {
  if (expr.op != Op::kEqual && expr.op != Op::kNotEqual) {
    return Refuse("nil takes = and != only", expr);
  }
  const bool is_service = other.kind == ExprKind::kAttribute && other.scope == Scope::kResource &&
                          other.name == "service.name";
  if (other.kind == ExprKind::kIntrinsic || is_service) {
    return Refuse("what every span has can't be compared with nil", expr);
  }
  return {};
}

bool IsNil(const Expr& expr) {
  return expr.kind == ExprKind::kLiteral && expr.literal.type == Type::kNil;
}

Result<Type> CheckExpr(const Expr& expr);

Status CheckComparison(const Expr& expr) {
  const Expr& left = expr.operands[0];
  const Expr& right = expr.operands[1];
  TRY_ASSIGN(const Type left_type, CheckExpr(left));
  TRY_ASSIGN(const Type right_type, CheckExpr(right));
  if (IsNil(left)) return CheckNil(expr, right);
  if (IsNil(right)) return CheckNil(expr, left);
  if (!Comparable(left_type, right_type)) {
    return Refuse("operands of " + std::string(OpText(expr.op)) + " have different types", expr);
  }
  if (!Takes(expr.op, left_type) || !Takes(expr.op, right_type)) {
    return Refuse(std::string(OpText(expr.op)) + " is not defined for this type", expr);
  }
  if (expr.op == Op::kMatches || expr.op == Op::kNotMatches) return CheckRegex(right);
  return {};
}

Result<Type> CheckExpr(const Expr& expr) {
  switch (expr.kind) {
    case ExprKind::kLiteral:
      return expr.literal.type;
    case ExprKind::kAttribute:
      return Type::kAttribute;
    case ExprKind::kIntrinsic:
      return TypeOf(expr.intrinsic);
    case ExprKind::kOperation:
      break;
  }
  if (IsComparison(expr.op)) {
    TRY(CheckComparison(expr));
    return Type::kBool;
  }
  for (const Expr& operand : expr.operands) {
    TRY_ASSIGN(const Type type, CheckExpr(operand));
    if (type != Type::kBool && type != Type::kAttribute) {
      return Refuse(std::string(OpText(expr.op)) + " takes conditions only", operand);
    }
  }
  return Type::kBool;
}

}  // namespace

Status Check(const Filter& filter) {
  if (filter.empty) return {};
  TRY_ASSIGN(const Type type, CheckExpr(filter.expr));
  if (type != Type::kBool && type != Type::kAttribute) {
    return Refuse("a filter must be a condition", filter.expr);
  }
  return {};
}

}  // namespace hotspan::query::traceql
