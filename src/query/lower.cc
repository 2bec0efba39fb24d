#include "query/lower.h"

#include <algorithm>
#include <utility>

#include "base/limits.h"

namespace hotspan::query {
namespace {

using storage::Compare;
using storage::Condition;
using storage::SpanField;
using traceql::Expr;
using traceql::ExprKind;
using traceql::Intrinsic;
using traceql::Literal;
using traceql::Op;
using traceql::Scope;
using traceql::Type;

std::optional<Compare> CompareOf(Op op, bool flipped) {
  switch (op) {
    case Op::kEqual:
      return Compare::kEqual;
    case Op::kNotEqual:
      return Compare::kNotEqual;
    case Op::kLess:
      return flipped ? Compare::kGreater : Compare::kLess;
    case Op::kLessEqual:
      return flipped ? Compare::kGreaterEqual : Compare::kLessEqual;
    case Op::kGreater:
      return flipped ? Compare::kLess : Compare::kGreater;
    case Op::kGreaterEqual:
      return flipped ? Compare::kLessEqual : Compare::kGreaterEqual;
    default:
      return std::nullopt;
  }
}

bool SetValue(Condition& condition, const Literal& literal) {
  switch (literal.type) {
    case Type::kString:
      condition.value = literal.text;
      return true;
    case Type::kFloat:
      condition.value = literal.real;
      return true;
    case Type::kBool:
      condition.value = literal.number != 0;
      return true;
    case Type::kInt:
    case Type::kDuration:
    case Type::kStatus:
    case Type::kKind:
      condition.value = literal.number;
      return true;
    case Type::kNil:
    case Type::kAttribute:
      return false;
  }
  return false;
}

bool SetField(Condition& condition, const Expr& expr) {
  if (expr.kind == ExprKind::kIntrinsic) {
    switch (expr.intrinsic) {
      case Intrinsic::kDuration:
        condition.field = SpanField::kDuration;
        return true;
      case Intrinsic::kName:
        condition.field = SpanField::kName;
        return true;
      case Intrinsic::kStatus:
        condition.field = SpanField::kStatus;
        return true;
      case Intrinsic::kKind:
        condition.field = SpanField::kKind;
        return true;
      default:
        return false;
    }
  }
  if (expr.kind != ExprKind::kAttribute) return false;
  condition.key = expr.name;
  switch (expr.scope) {
    case Scope::kAny:
      condition.field = SpanField::kAnyAttribute;
      return true;
    case Scope::kSpan:
      condition.field = SpanField::kSpanAttribute;
      return true;
    case Scope::kResource:
      condition.field = SpanField::kResourceAttribute;
      if (expr.name == "service.name") {
        condition.field = SpanField::kService;
        condition.key.clear();
      }
      return true;
    default:
      return false;
  }
}

// Statuses and kinds in attributes are words of TraceQL, not of the sender.
bool IsWordOnAttribute(const Expr& field, const Literal& literal) {
  return field.kind == ExprKind::kAttribute &&
         (literal.type == Type::kStatus || literal.type == Type::kKind);
}

bool LowerId(const Expr& field, const Literal& literal, Compare compare, Lowered& out) {
  if (field.kind != ExprKind::kIntrinsic || compare != Compare::kEqual) return false;
  if (literal.type != Type::kString || literal.text.empty()) return false;
  if (field.intrinsic == Intrinsic::kTraceId) {
    const auto id = TraceId::FromHex(literal.text);
    if (!id || (out.trace_id && *out.trace_id != *id)) {
      out.nothing = true;
    } else {
      out.trace_id = id;
    }
    return true;
  }
  if (field.intrinsic != Intrinsic::kSpanId) return false;
  const auto id = SpanId::FromHex(literal.text);
  if (!id) {
    out.nothing = true;
    return true;
  }
  Condition condition;
  condition.field = SpanField::kSpanId;
  condition.value = id->ToHex();
  out.conditions.push_back(std::move(condition));
  return true;
}

bool LowerComparison(const Expr& expr, Lowered& out) {
  const bool flipped = expr.operands[0].kind == ExprKind::kLiteral;
  const Expr& field = expr.operands[flipped ? 1 : 0];
  const Expr& constant = expr.operands[flipped ? 0 : 1];
  const std::optional<Compare> compare = CompareOf(expr.op, flipped);
  if (!compare || constant.kind != ExprKind::kLiteral) return false;
  if (LowerId(field, constant.literal, *compare, out)) return true;
  Condition condition;
  condition.compare = *compare;
  if (!SetField(condition, field) || IsWordOnAttribute(field, constant.literal)) return false;
  if (!SetValue(condition, constant.literal)) return false;
  const bool is_bool = constant.literal.type == Type::kBool;
  if (is_bool && *compare != Compare::kEqual && *compare != Compare::kNotEqual) return false;
  out.conditions.push_back(std::move(condition));
  return true;
}

void LowerExpr(const Expr& expr, Lowered& out) {
  if (expr.IsOperation(Op::kAnd)) {
    for (const Expr& operand : expr.operands) LowerExpr(operand, out);
    return;
  }
  const bool lowered = expr.kind == ExprKind::kOperation && traceql::IsComparison(expr.op) &&
                       LowerComparison(expr, out);
  if (!lowered) out.complete = false;
}

tl::unexpected<Error> RefuseTags(std::string message, std::size_t offset) {
  return Fail(
      Error(Code::kInvalidArgument, "tags: " + std::move(message)).Field("tags").At(offset));
}

// A quoted value that begins at `at`; moves `at` behind it.
Result<std::string> TakeQuoted(std::string_view text, std::size_t& at) {
  const std::size_t begin = at++;
  std::string out;
  while (at < text.size() && text[at] != '"') {
    if (text[at] == '\\' && at + 1 < text.size()) ++at;
    out += text[at++];
  }
  if (at == text.size()) return RefuseTags("quoted value without an end", begin);
  ++at;
  return out;
}

}  // namespace

Lowered Lower(const traceql::Filter& filter) {
  Lowered out;
  if (!filter.empty) LowerExpr(filter.expr, out);
  return out;
}

Result<std::vector<TagCondition>> ParseTags(std::string_view text) {
  if (text.size() > limits::kQueryBytesMax) return RefuseTags("longer than 131072 bytes", 0);
  std::vector<TagCondition> tags;
  std::size_t at = 0;
  while (true) {
    while (at < text.size() && text[at] == ' ') ++at;
    if (at == text.size()) return tags;
    const std::size_t begin = at;
    while (at < text.size() && text[at] != ' ' && text[at] != '=') ++at;
    TagCondition tag;
    tag.key = text.substr(begin, at - begin);
    if (tag.key.empty()) return RefuseTags("expected a key", begin);
    if (at < text.size() && text[at] == '=') {
      ++at;
      if (at < text.size() && text[at] == '"') {
        TRY_ASSIGN(tag.value, TakeQuoted(text, at));
      } else {
        const std::size_t value = at;
        while (at < text.size() && text[at] != ' ') ++at;
        tag.value = text.substr(value, at - value);
      }
    }
    const bool seen = std::ranges::any_of(
        tags, [&tag](const TagCondition& other) { return other.key == tag.key; });
    if (seen) return RefuseTags("key \"" + tag.key + "\" comes twice", begin);
    if (tags.size() == limits::kAttributesPerSpanMax)
      return RefuseTags("more than 1024 tags", begin);
    tags.push_back(std::move(tag));
  }
}

}  // namespace hotspan::query
