#include <fmt/format.h>

#include <string>

#include "query/traceql/lexer.h"
#include "query/traceql/parser.h"

namespace hotspan::query::traceql {
namespace {

void AppendQuoted(std::string& out, std::string_view text) {
  out += '"';
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (byte < 0x20 || byte == 0x7f) {
      out += fmt::format("\\x{:02x}", byte);
    } else {
      out += c;
    }
  }
  out += '"';
}

void AppendName(std::string& out, std::string_view name) {
  if (IsPlainName(name)) {
    out += name;
    return;
  }
  out += '"';
  for (const char c : name) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  out += '"';
}

std::string_view ScopeText(Scope scope) {
  switch (scope) {
    case Scope::kAny:
      return ".";
    case Scope::kSpan:
      return "span.";
    case Scope::kResource:
      return "resource.";
    case Scope::kEvent:
      return "event.";
    case Scope::kLink:
      return "link.";
    case Scope::kInstrumentation:
      return "instrumentation.";
  }
  return ".";
}

std::string_view StatusText(std::int64_t status) {
  return status == 2 ? "error" : status == 1 ? "ok" : "unset";
}

std::string_view KindText(std::int64_t kind) {
  switch (kind) {
    case 1:
      return "internal";
    case 2:
      return "server";
    case 3:
      return "client";
    case 4:
      return "producer";
    case 5:
      return "consumer";
    default:
      return "unspecified";
  }
}

void AppendLiteral(std::string& out, const Literal& literal) {
  switch (literal.type) {
    case Type::kNil:
    case Type::kAttribute:
      out += "nil";
      break;
    case Type::kInt:
      out += literal.number == INT64_MIN ? "minInt" : fmt::format("{}", literal.number);
      break;
    case Type::kFloat: {
      const std::string number = fmt::format("{}", literal.real);
      out += number;
      if (number.find_first_of(".e") == std::string::npos) out += ".0";
      break;
    }
    case Type::kString:
      AppendQuoted(out, literal.text);
      break;
    case Type::kBool:
      out += literal.number != 0 ? "true" : "false";
      break;
    case Type::kDuration:
      out += fmt::format("{}ns", literal.number);
      break;
    case Type::kStatus:
      out += StatusText(literal.number);
      break;
    case Type::kKind:
      out += KindText(literal.number);
      break;
  }
}

void AppendExpr(std::string& out, const Expr& expr);

void AppendOperand(std::string& out, const Expr& expr) {
  const bool needs_parentheses = expr.kind == ExprKind::kOperation && expr.op != Op::kNot;
  if (needs_parentheses) out += '(';
  AppendExpr(out, expr);
  if (needs_parentheses) out += ')';
}

// Comparisons bind tighter than && and ||.
void AppendLogicOperand(std::string& out, const Expr& expr) {
  if (expr.kind == ExprKind::kOperation && IsComparison(expr.op)) {
    AppendExpr(out, expr);
  } else {
    AppendOperand(out, expr);
  }
}

void AppendExpr(std::string& out, const Expr& expr) {
  switch (expr.kind) {
    case ExprKind::kLiteral:
      AppendLiteral(out, expr.literal);
      return;
    case ExprKind::kIntrinsic:
      out += IntrinsicName(expr.intrinsic);
      return;
    case ExprKind::kAttribute:
      out += ScopeText(expr.scope);
      AppendName(out, expr.name);
      return;
    case ExprKind::kOperation:
      break;
  }
  if (expr.op == Op::kNot) {
    out += '!';
    AppendOperand(out, expr.operands[0]);
    return;
  }
  for (std::size_t i = 0; i < expr.operands.size(); ++i) {
    if (i > 0) out += fmt::format(" {} ", OpText(expr.op));
    if (IsComparison(expr.op)) {
      AppendOperand(out, expr.operands[i]);
    } else {
      AppendLogicOperand(out, expr.operands[i]);
    }
  }
}

}  // namespace

std::string Print(const Expr& expr) {
  std::string out;
  AppendExpr(out, expr);
  return out;
}

std::string Print(const Filter& filter) {
  return filter.empty ? "{ }" : "{ " + Print(filter.expr) + " }";
}

}  // namespace hotspan::query::traceql
