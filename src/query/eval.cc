#include "query/eval.h"

#include <re2/re2.h>

#include <algorithm>
#include <cctype>

namespace hotspan::query {
namespace {

using traceql::Expr;
using traceql::ExprKind;
using traceql::Intrinsic;
using traceql::Literal;
using traceql::Op;
using traceql::Scope;
using traceql::Type;

// A value of an operand. kAttribute: there is one, but of a kind that compares with nothing.
struct Scalar {
  Type type = Type::kAttribute;
  std::string_view text;
  std::int64_t number = 0;
  double real = 0;
};

// What an operand is for one span: nothing, one value, or several (arrays, events, links).
struct Operand {
  std::vector<Scalar> values;
  std::vector<std::string> owned;  // texts that the batch doesn't hold
  bool is_list = false;
  bool lacking = true;  // equals nil: absent, or absent from one event or link
};

struct Node {
  const Expr* expr = nullptr;
  Literal literal;  // of ids: padded
  std::unique_ptr<RE2> regex;
  std::vector<Node> operands;
};

struct Context {
  const SpanBatch& batch;
  const SpanRow& span;
  const TraceView* view;
  std::size_t index;
};

Scalar TextScalar(std::string_view text) { return {Type::kString, text, 0, 0}; }
Scalar NumberScalar(Type type, std::int64_t number) { return {type, {}, number, 0}; }

Scalar ScalarOf(const Value& value) {
  switch (value.kind()) {
    case ValueKind::kString:
      return TextScalar(value.text());
    case ValueKind::kBool:
      return NumberScalar(Type::kBool, value.AsBool() ? 1 : 0);
    case ValueKind::kInt:
      return NumberScalar(Type::kInt, value.AsInt());
    case ValueKind::kDouble:
      return {Type::kFloat, {}, 0, value.AsDouble()};
    case ValueKind::kEmpty:
    case ValueKind::kBytes:
    case ValueKind::kArray:
    case ValueKind::kMap:
      break;
  }
  return {};
}

void AddValue(Operand& out, const Value& value) {
  if (value.kind() != ValueKind::kArray) {
    out.values.push_back(ScalarOf(value));
    return;
  }
  out.is_list = true;
  for (const Value& element : ValueList(value.text())) out.values.push_back(ScalarOf(element));
}

void SetOne(Operand& out, Scalar value) {
  out.values.push_back(value);
  out.lacking = false;
}

void SetAttribute(Operand& out, const std::optional<Value>& value) {
  if (!value || value->kind() == ValueKind::kEmpty) return;
  out.lacking = false;
  AddValue(out, *value);
}

// Adds an attribute of an event or link; nil matches where one of them lacks it.
void AddElement(Operand& out, const std::optional<Value>& value, bool& any_lacks) {
  if (value) {
    AddValue(out, *value);
  } else {
    any_lacks = true;
  }
}

void ReadAttribute(const Context& context, const Expr& expr, Operand& out) {
  const SpanBatch& batch = context.batch;
  const SpanRow& span = context.span;
  const auto of_span = [&] { return batch.Attributes(span.attributes).Find(expr.name); };
  const auto of_resource = [&] {
    return batch.Attributes(batch.resources[span.resource].attributes).Find(expr.name);
  };
  bool any_lacks = false;
  switch (expr.scope) {
    case Scope::kAny: {
      std::optional<Value> value = of_span();
      if (!value) value = of_resource();
      SetAttribute(out, value);
      return;
    }
    case Scope::kSpan:
      SetAttribute(out, of_span());
      return;
    case Scope::kResource:
      if (expr.name == "service.name") return SetOne(out, TextScalar(batch.ServiceOf(span)));
      SetAttribute(out, of_resource());
      return;
    case Scope::kInstrumentation:
      SetAttribute(out, batch.Attributes(batch.scopes[span.scope].attributes).Find(expr.name));
      return;
    case Scope::kEvent:
      for (const SpanEvent& event : ReadEvents(batch.Text(span.events))) {
        AddElement(out, event.attributes.Find(expr.name), any_lacks);
      }
      break;
    case Scope::kLink:
      for (const SpanLink& link : ReadLinks(batch.Text(span.links))) {
        AddElement(out, link.attributes.Find(expr.name), any_lacks);
      }
      break;
  }
  out.is_list = true;
  out.lacking = any_lacks;
}

void ReadEventsAndLinks(const Context& context, Intrinsic intrinsic, Operand& out) {
  out.is_list = true;
  if (intrinsic == Intrinsic::kEventName || intrinsic == Intrinsic::kEventTimeSinceStart) {
    for (const SpanEvent& event : ReadEvents(context.batch.Text(context.span.events))) {
      out.values.push_back(
          intrinsic == Intrinsic::kEventName
              ? TextScalar(event.name)
              : NumberScalar(Type::kDuration, (event.time - context.span.start).ns));
    }
    return;
  }
  for (const SpanLink& link : ReadLinks(context.batch.Text(context.span.links))) {
    out.owned.push_back(intrinsic == Intrinsic::kLinkTraceId ? link.trace_id.ToHex()
                                                             : link.span_id.ToHex());
  }
  for (const std::string& text : out.owned) out.values.push_back(TextScalar(text));
}

void SetOwned(Operand& out, std::string text) {
  out.owned.push_back(std::move(text));
  SetOne(out, TextScalar(out.owned.back()));
}

// Without the trace such an intrinsic is absent; MightMatch asks no condition that names one.
void ReadTraceLevel(const Context& context, Intrinsic intrinsic, Operand& out) {
  const TraceView* view = context.view;
  if (view == nullptr) return;
  const SpanRow* root = view->root();
  const auto number = [&out](std::int64_t value) { SetOne(out, NumberScalar(Type::kInt, value)); };
  switch (intrinsic) {
    case Intrinsic::kTraceDuration:
      return SetOne(out, NumberScalar(Type::kDuration, view->duration().ns));
    case Intrinsic::kRootName:
      if (root != nullptr) SetOne(out, TextScalar(view->trace().Text(root->name)));
      return;
    case Intrinsic::kRootServiceName:
      if (root != nullptr) SetOne(out, TextScalar(view->trace().ServiceOf(*root)));
      return;
    case Intrinsic::kChildCount:
      return number(view->child_count(context.index));
    case Intrinsic::kNestedSetLeft:
      return number(view->nested_left(context.index));
    case Intrinsic::kNestedSetRight:
      return number(view->nested_right(context.index));
    case Intrinsic::kNestedSetParent:
      return number(view->nested_parent(context.index));
    default:
      return;
  }
}

void ReadIntrinsic(const Context& context, Intrinsic intrinsic, Operand& out) {
  const SpanBatch& batch = context.batch;
  const SpanRow& span = context.span;
  switch (intrinsic) {
    case Intrinsic::kDuration:
      return SetOne(out, NumberScalar(Type::kDuration, span.duration().ns));
    case Intrinsic::kName:
      return SetOne(out, TextScalar(batch.Text(span.name)));
    case Intrinsic::kStatus:
      return SetOne(out, NumberScalar(Type::kStatus, static_cast<int>(span.status)));
    case Intrinsic::kStatusMessage:
      return SetOne(out, TextScalar(batch.Text(span.status_message)));
    case Intrinsic::kKind:
      return SetOne(out, NumberScalar(Type::kKind, static_cast<int>(span.kind)));
    case Intrinsic::kSpanId:
      return SetOwned(out, span.span_id.ToHex());
    case Intrinsic::kParentId:
      return SetOwned(out, span.parent_span_id.IsZero() ? "" : span.parent_span_id.ToHex());
    case Intrinsic::kTraceId:
      return SetOwned(out, span.trace_id.ToHex());
    case Intrinsic::kInstrumentationName:
      return SetOne(out, TextScalar(batch.Text(batch.scopes[span.scope].name)));
    case Intrinsic::kInstrumentationVersion:
      return SetOne(out, TextScalar(batch.Text(batch.scopes[span.scope].version)));
    case Intrinsic::kEventName:
    case Intrinsic::kEventTimeSinceStart:
    case Intrinsic::kLinkTraceId:
    case Intrinsic::kLinkSpanId:
      return ReadEventsAndLinks(context, intrinsic, out);
    default:
      return ReadTraceLevel(context, intrinsic, out);
  }
}

template <typename T>
bool Holds(Op op, const T& a, const T& b) {
  switch (op) {
    case Op::kEqual:
      return a == b;
    case Op::kNotEqual:
      return a != b;
    case Op::kLess:
      return a < b;
    case Op::kLessEqual:
      return a <= b;
    case Op::kGreater:
      return a > b;
    case Op::kGreaterEqual:
      return a >= b;
    default:
      return false;
  }
}

bool IsIntegral(Type type) {
  return type == Type::kInt || type == Type::kDuration || type == Type::kStatus ||
         type == Type::kKind;
}
bool IsNumeric(Type type) { return IsIntegral(type) || type == Type::kFloat; }

double RealOf(const Scalar& scalar) {
  return scalar.type == Type::kFloat ? scalar.real : static_cast<double>(scalar.number);
}

bool CompareScalars(const Node& node, const Scalar& a, const Scalar& b) {
  const Op op = node.expr->op;
  if (a.type == Type::kString && b.type == Type::kString) {
    if (node.regex == nullptr) return Holds(op, a.text, b.text);
    return RE2::FullMatch(a.text, *node.regex) == (op == Op::kMatches);
  }
  if (a.type == Type::kBool && b.type == Type::kBool) {
    return (op == Op::kEqual || op == Op::kNotEqual) && Holds(op, a.number, b.number);
  }
  if (IsIntegral(a.type) && IsIntegral(b.type)) return Holds(op, a.number, b.number);
  return IsNumeric(a.type) && IsNumeric(b.type) && Holds(op, RealOf(a), RealOf(b));
}

bool IsNil(const Expr& expr) {
  return expr.kind == ExprKind::kLiteral && expr.literal.type == Type::kNil;
}

bool EvalNode(const Node& node, const Context& context);

void Read(const Node& node, const Context& context, Operand& out) {
  const Expr& expr = *node.expr;
  switch (expr.kind) {
    case ExprKind::kLiteral:
      return SetOne(out,
                    {node.literal.type, node.literal.text, node.literal.number, node.literal.real});
    case ExprKind::kAttribute:
      return ReadAttribute(context, expr, out);
    case ExprKind::kIntrinsic:
      return ReadIntrinsic(context, expr.intrinsic, out);
    case ExprKind::kOperation:
      return SetOne(out, NumberScalar(Type::kBool, EvalNode(node, context) ? 1 : 0));
  }
}

bool EvalNil(const Node& node, const Node& other, const Context& context) {
  if (IsNil(*other.expr)) return false;
  Operand operand;
  Read(other, context, operand);
  return node.expr->op == Op::kEqual ? operand.lacking : !operand.values.empty();
}

bool EvalComparison(const Node& node, const Context& context) {
  const Node& left = node.operands[0];
  const Node& right = node.operands[1];
  if (IsNil(*left.expr)) return EvalNil(node, right, context);
  if (IsNil(*right.expr)) return EvalNil(node, left, context);
  Operand a;
  Operand b;
  Read(left, context, a);
  if (a.values.empty()) return false;
  Read(right, context, b);
  if (b.values.empty() || (a.is_list && b.is_list)) return false;
  const bool needs_all = node.expr->op == Op::kNotEqual || node.expr->op == Op::kNotMatches;
  for (const Scalar& x : a.values) {
    for (const Scalar& y : b.values) {
      if (CompareScalars(node, x, y) != needs_all) return !needs_all;
    }
  }
  return needs_all;
}

bool EvalNode(const Node& node, const Context& context) {
  const Expr& expr = *node.expr;
  if (expr.kind != ExprKind::kOperation) {
    Operand operand;
    Read(node, context, operand);
    return operand.values.size() == 1 && operand.values[0].type == Type::kBool &&
           operand.values[0].number != 0;
  }
  const auto holds = [&context](const Node& operand) { return EvalNode(operand, context); };
  if (expr.op == Op::kAnd) return std::ranges::all_of(node.operands, holds);
  if (expr.op == Op::kOr) return std::ranges::any_of(node.operands, holds);
  if (expr.op == Op::kNot) return !EvalNode(node.operands[0], context);
  return EvalComparison(node, context);
}

// Digits of a trace's or span's id in the literal that one is compared with; 0: not an id.
std::size_t IdDigits(const Expr& expr) {
  if (expr.kind != ExprKind::kIntrinsic) return 0;
  switch (expr.intrinsic) {
    case Intrinsic::kTraceId:
    case Intrinsic::kLinkTraceId:
      return 32;
    case Intrinsic::kSpanId:
    case Intrinsic::kParentId:
    case Intrinsic::kLinkSpanId:
      return 16;
    default:
      return 0;
  }
}

void PadId(Node& literal, std::size_t digits) {
  std::string& text = literal.literal.text;
  if (digits == 0 || literal.literal.type != Type::kString || text.empty()) return;
  const auto is_hex = [](unsigned char c) { return std::isxdigit(c) != 0; };
  if (text.size() > digits || !std::ranges::all_of(text, is_hex)) return;
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  text.insert(0, digits - text.size(), '0');
}

Result<Node> CompileNode(const Expr& expr) {
  Node node;
  node.expr = &expr;
  node.literal = expr.literal;
  for (const Expr& operand : expr.operands) {
    TRY_ASSIGN(Node compiled, CompileNode(operand));
    node.operands.push_back(std::move(compiled));
  }
  if (expr.kind != ExprKind::kOperation || !traceql::IsComparison(expr.op)) return node;
  if (expr.op == Op::kMatches || expr.op == Op::kNotMatches) {
    RE2::Options options;
    options.set_log_errors(false);
    options.set_dot_nl(true);
    node.regex = std::make_unique<RE2>(expr.operands[1].literal.text, options);
    if (!node.regex->ok()) {
      return Fail(
          Error(Code::kInvalidArgument, "traceql: bad regular expression: " + node.regex->error())
              .At(expr.offset));
    }
    return node;
  }
  PadId(node.operands[1], IdDigits(expr.operands[0]));
  PadId(node.operands[0], IdDigits(expr.operands[1]));
  return node;
}

bool Names(const Expr& expr, bool (*wanted)(const Expr&)) {
  if (wanted(expr)) return true;
  return std::ranges::any_of(expr.operands,
                             [wanted](const Expr& operand) { return Names(operand, wanted); });
}

bool IsTraceLevel(const Expr& expr) {
  return expr.kind == ExprKind::kIntrinsic && traceql::IsTraceLevel(expr.intrinsic);
}

bool IsWide(const Expr& expr) {
  if (expr.kind == ExprKind::kAttribute) {
    return expr.scope != Scope::kResource || expr.name != "service.name";
  }
  if (expr.kind != ExprKind::kIntrinsic) return false;
  switch (expr.intrinsic) {
    case Intrinsic::kStatusMessage:
    case Intrinsic::kEventName:
    case Intrinsic::kEventTimeSinceStart:
    case Intrinsic::kLinkTraceId:
    case Intrinsic::kLinkSpanId:
    case Intrinsic::kInstrumentationName:
    case Intrinsic::kInstrumentationVersion:
      return true;
    default:
      return false;
  }
}

}  // namespace

struct SpanFilter::Compiled {
  std::shared_ptr<const traceql::Filter> filter;
  Node root;
  // The conditions of the outermost && that the span alone decides.
  std::vector<const Node*> of_span;
  bool needs_trace = false;
  bool needs_wide = false;
};

SpanFilter::SpanFilter(std::unique_ptr<Compiled> compiled) : compiled_(std::move(compiled)) {}
SpanFilter::SpanFilter(SpanFilter&&) noexcept = default;
SpanFilter& SpanFilter::operator=(SpanFilter&&) noexcept = default;
SpanFilter::~SpanFilter() = default;

Result<SpanFilter> SpanFilter::Compile(std::shared_ptr<const traceql::Filter> filter) {
  auto compiled = std::make_unique<Compiled>();
  compiled->filter = std::move(filter);
  if (compiled->filter->empty) return SpanFilter(std::move(compiled));
  const Expr& expr = compiled->filter->expr;
  TRY_ASSIGN(compiled->root, CompileNode(expr));
  compiled->needs_trace = Names(expr, IsTraceLevel);
  compiled->needs_wide = Names(expr, IsWide);
  if (!compiled->needs_trace) {
    compiled->of_span.push_back(&compiled->root);
  } else if (expr.IsOperation(Op::kAnd)) {
    for (const Node& operand : compiled->root.operands) {
      if (!Names(*operand.expr, IsTraceLevel)) compiled->of_span.push_back(&operand);
    }
  }
  return SpanFilter(std::move(compiled));
}

bool SpanFilter::needs_trace() const { return compiled_->needs_trace; }
bool SpanFilter::needs_wide() const { return compiled_->needs_wide; }
const traceql::Filter& SpanFilter::filter() const { return *compiled_->filter; }

bool SpanFilter::Matches(const TraceView& view, std::size_t index) const {
  if (compiled_->filter->empty) return true;
  const SpanBatch& batch = view.trace();
  return EvalNode(compiled_->root, {batch, batch.spans[index], &view, index});
}

bool SpanFilter::MightMatch(const SpanBatch& batch, const SpanRow& span) const {
  const Context context{batch, span, nullptr, 0};
  return std::ranges::all_of(compiled_->of_span,
                             [&context](const Node* node) { return EvalNode(*node, context); });
}

}  // namespace hotspan::query
