#include "query/traceql/parser.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "base/limits.h"
#include "query/traceql/lexer.h"

namespace hotspan::query::traceql {
namespace {

struct IntrinsicWord {
  std::string_view word;
  Intrinsic intrinsic;
};

constexpr std::array kBareIntrinsics = {
    IntrinsicWord{"duration", Intrinsic::kDuration},
    IntrinsicWord{"name", Intrinsic::kName},
    IntrinsicWord{"status", Intrinsic::kStatus},
    IntrinsicWord{"statusMessage", Intrinsic::kStatusMessage},
    IntrinsicWord{"kind", Intrinsic::kKind},
    IntrinsicWord{"rootName", Intrinsic::kRootName},
    IntrinsicWord{"rootServiceName", Intrinsic::kRootServiceName},
    IntrinsicWord{"traceDuration", Intrinsic::kTraceDuration},
    IntrinsicWord{"nestedSetLeft", Intrinsic::kNestedSetLeft},
    IntrinsicWord{"nestedSetRight", Intrinsic::kNestedSetRight},
    IntrinsicWord{"nestedSetParent", Intrinsic::kNestedSetParent},
};

constexpr std::array kScopedIntrinsics = {
    IntrinsicWord{"span:duration", Intrinsic::kDuration},
    IntrinsicWord{"span:name", Intrinsic::kName},
    IntrinsicWord{"span:status", Intrinsic::kStatus},
    IntrinsicWord{"span:statusMessage", Intrinsic::kStatusMessage},
    IntrinsicWord{"span:kind", Intrinsic::kKind},
    IntrinsicWord{"span:id", Intrinsic::kSpanId},
    IntrinsicWord{"span:parentID", Intrinsic::kParentId},
    IntrinsicWord{"span:childCount", Intrinsic::kChildCount},
    IntrinsicWord{"trace:id", Intrinsic::kTraceId},
    IntrinsicWord{"trace:duration", Intrinsic::kTraceDuration},
    IntrinsicWord{"trace:rootName", Intrinsic::kRootName},
    IntrinsicWord{"trace:rootService", Intrinsic::kRootServiceName},
    IntrinsicWord{"event:name", Intrinsic::kEventName},
    IntrinsicWord{"event:timeSinceStart", Intrinsic::kEventTimeSinceStart},
    IntrinsicWord{"link:traceID", Intrinsic::kLinkTraceId},
    IntrinsicWord{"link:spanID", Intrinsic::kLinkSpanId},
    IntrinsicWord{"instrumentation:name", Intrinsic::kInstrumentationName},
    IntrinsicWord{"instrumentation:version", Intrinsic::kInstrumentationVersion},
};

template <std::size_t size>
std::optional<Intrinsic> Find(const std::array<IntrinsicWord, size>& words, std::string_view word) {
  for (const IntrinsicWord& entry : words) {
    if (entry.word == word) return entry.intrinsic;
  }
  return std::nullopt;
}

struct Constant {
  std::string_view word;
  Type type;
  std::int64_t number;
};

constexpr std::array kConstants = {
    Constant{"true", Type::kBool, 1},
    Constant{"false", Type::kBool, 0},
    Constant{"nil", Type::kNil, 0},
    Constant{"unset", Type::kStatus, 0},
    Constant{"ok", Type::kStatus, 1},
    Constant{"error", Type::kStatus, 2},
    Constant{"unspecified", Type::kKind, 0},
    Constant{"internal", Type::kKind, 1},
    Constant{"server", Type::kKind, 2},
    Constant{"client", Type::kKind, 3},
    Constant{"producer", Type::kKind, 4},
    Constant{"consumer", Type::kKind, 5},
    Constant{"minInt", Type::kInt, INT64_MIN},
    Constant{"maxInt", Type::kInt, INT64_MAX},
};

std::optional<Op> ComparisonOf(const Token& token) {
  if (token.kind != TokenKind::kSymbol) return std::nullopt;
  for (const Op op : {Op::kEqual, Op::kNotEqual, Op::kLess, Op::kLessEqual, Op::kGreater,
                      Op::kGreaterEqual, Op::kMatches, Op::kNotMatches}) {
    if (token.text == OpText(op)) return op;
  }
  return std::nullopt;
}

bool IsArithmetic(const Token& token) {
  return token.kind == TokenKind::kSymbol && token.text.size() == 1 &&
         std::string_view("+-*/%^").find(token.text[0]) != std::string_view::npos;
}

tl::unexpected<Error> NotYet(std::string_view what, std::size_t offset) {
  return Fail(Error(Code::kUnimplemented, std::string(what) + " not supported yet").At(offset));
}

tl::unexpected<Error> Refuse(std::string message, std::size_t offset) {
  return Fail(Error(Code::kInvalidArgument, std::move(message)).At(offset));
}

class Parser {
 public:
  explicit Parser(std::string_view text) : lexer_(text) {}

  Result<Filter> ParseWhole() {
    TRY(Advance());
    if (token_.kind == TokenKind::kEnd) return Refuse("expected '{'", token_.offset);
    if (!token_.Is("{")) {
      if (token_.Is("(") || token_.kind == TokenKind::kWord || token_.kind == TokenKind::kLiteral) {
        return NotYet("queries of more than one spanset filter are", token_.offset);
      }
      return Refuse("expected '{'", token_.offset);
    }
    TRY(Advance());
    Filter filter;
    if (!token_.Is("}")) {
      TRY_ASSIGN(filter.expr, ParseExpr());
      filter.empty = false;
    }
    if (!token_.Is("}")) return RefuseToken("an operator or '}'");
    TRY(Advance());
    if (token_.kind != TokenKind::kEnd) return RefuseRest();
    return filter;
  }

  Result<Expr> ParseOne() {
    TRY(Advance());
    TRY_ASSIGN(Expr expr, ParsePrimary());
    if (expr.kind != ExprKind::kAttribute && expr.kind != ExprKind::kIntrinsic) {
      return Refuse("expected an attribute or an intrinsic", expr.offset);
    }
    if (token_.kind != TokenKind::kEnd) return RefuseToken("the end");
    return expr;
  }

 private:
  Status Advance() {
    TRY_ASSIGN(token_, lexer_.Next());
    return {};
  }

  tl::unexpected<Error> RefuseToken(std::string_view expected) const {
    if (IsArithmetic(token_)) return NotYet("arithmetic is", token_.offset);
    return Refuse("expected " + std::string(expected), token_.offset);
  }

  tl::unexpected<Error> RefuseRest() const {
    if (token_.Is("|")) return NotYet("pipelines are", token_.offset);
    if (token_.kind == TokenKind::kWord && token_.text == "with") {
      return NotYet("hints are", token_.offset);
    }
    if (token_.kind == TokenKind::kSymbol && !token_.Is("{") && !token_.Is("}")) {
      return NotYet("operators between spansets are", token_.offset);
    }
    return Refuse("expected the end after '}'", token_.offset);
  }

  // && and || share one level and group from the left.
  Result<Expr> ParseExpr() {
    TRY_ASSIGN(Expr left, ParseComparison());
    while (token_.Is("&&") || token_.Is("||")) {
      const Op op = token_.Is("&&") ? Op::kAnd : Op::kOr;
      const std::size_t offset = token_.offset;
      TRY(Advance());
      TRY_ASSIGN(Expr right, ParseComparison());
      if (left.IsOperation(op)) {
        left.depth = std::max(left.depth, right.depth + 1);
        left.operands.push_back(std::move(right));
      } else {
        left = Operation(op, std::move(left), std::move(right), offset);
      }
      TRY(CheckDepth(left));
    }
    return left;
  }

  Result<Expr> ParseComparison() {
    TRY_ASSIGN(Expr left, ParseUnary());
    while (const std::optional<Op> op = ComparisonOf(token_)) {
      const std::size_t offset = token_.offset;
      TRY(Advance());
      TRY_ASSIGN(Expr right, ParseUnary());
      left = Operation(*op, std::move(left), std::move(right), offset);
      TRY(CheckDepth(left));
    }
    return left;
  }

  Result<Expr> ParseUnary() {
    const std::size_t offset = token_.offset;
    if (token_.Is("!")) {
      TRY(Enter());
      TRY(Advance());
      TRY_ASSIGN(Expr operand, ParseUnary());
      --nesting_;
      Expr expr;
      expr.kind = ExprKind::kOperation;
      expr.op = Op::kNot;
      expr.offset = offset;
      expr.depth = operand.depth + 1;
      expr.operands.push_back(std::move(operand));
      TRY(CheckDepth(expr));
      return expr;
    }
    if (token_.Is("-")) {
      TRY(Advance());
      return ParseNegative(offset);
    }
    return ParsePrimary();
  }

  Result<Expr> ParseNegative(std::size_t offset) {
    TRY_ASSIGN(Expr expr, ParsePrimary());
    Literal& literal = expr.literal;
    const bool is_number = literal.type == Type::kInt || literal.type == Type::kFloat ||
                           literal.type == Type::kDuration;
    if (expr.kind != ExprKind::kLiteral || !is_number) return NotYet("arithmetic is", offset);
    if (literal.number == INT64_MIN) return Refuse("number out of range", offset);
    literal.number = -literal.number;
    literal.real = -literal.real;
    expr.offset = offset;
    return expr;
  }

  Result<Expr> ParsePrimary() {
    Expr expr;
    expr.offset = token_.offset;
    switch (token_.kind) {
      case TokenKind::kLiteral:
        expr.literal = token_.literal;
        break;
      case TokenKind::kAttribute:
        expr.kind = ExprKind::kAttribute;
        expr.scope = token_.scope;
        expr.name = token_.text;
        break;
      case TokenKind::kScoped: {
        const auto intrinsic = Find(kScopedIntrinsics, token_.text);
        if (!intrinsic) return Refuse("unknown intrinsic \"" + token_.text + "\"", expr.offset);
        expr.kind = ExprKind::kIntrinsic;
        expr.intrinsic = *intrinsic;
        break;
      }
      case TokenKind::kWord:
        TRY(FillFromWord(expr));
        break;
      case TokenKind::kSymbol:
        if (token_.Is("(")) return ParseParentheses();
        return RefuseToken("an attribute, an intrinsic or a value");
      case TokenKind::kEnd:
        return RefuseToken("an attribute, an intrinsic or a value");
    }
    TRY(Advance());
    return expr;
  }

  Status FillFromWord(Expr& expr) const {
    if (const auto intrinsic = Find(kBareIntrinsics, token_.text)) {
      expr.kind = ExprKind::kIntrinsic;
      expr.intrinsic = *intrinsic;
      return {};
    }
    for (const Constant& constant : kConstants) {
      if (constant.word != token_.text) continue;
      expr.literal.type = constant.type;
      expr.literal.number = constant.number;
      return {};
    }
    if (token_.text == "parent" || token_.text == "childCount") {
      return NotYet("\"" + token_.text + "\" is", token_.offset);
    }
    return Refuse("unknown word \"" + token_.text.substr(0, 40) +
                      "\"; attributes are written .name, span.name or resource.name",
                  token_.offset);
  }

  Result<Expr> ParseParentheses() {
    TRY(Enter());
    TRY(Advance());
    TRY_ASSIGN(Expr expr, ParseExpr());
    if (!token_.Is(")")) return RefuseToken("an operator or ')'");
    TRY(Advance());
    --nesting_;
    return expr;
  }

  static Expr Operation(Op op, Expr left, Expr right, std::size_t offset) {
    Expr expr;
    expr.kind = ExprKind::kOperation;
    expr.op = op;
    expr.offset = offset;
    expr.depth = std::max(left.depth, right.depth) + 1;
    expr.operands.reserve(2);
    expr.operands.push_back(std::move(left));
    expr.operands.push_back(std::move(right));
    return expr;
  }

  Status Enter() {
    if (++nesting_ > limits::kQueryDepthMax) return RefuseDepth(token_.offset);
    return {};
  }
  static Status CheckDepth(const Expr& expr) {
    if (expr.depth > limits::kQueryDepthMax) return RefuseDepth(expr.offset);
    return {};
  }
  static tl::unexpected<Error> RefuseDepth(std::size_t offset) {
    return Refuse("nested deeper than " + std::to_string(limits::kQueryDepthMax), offset);
  }

  Lexer lexer_;
  Token token_;
  int nesting_ = 0;
};

template <typename T>
Result<T> Explained(Result<T> result) {
  if (result) return result;
  Error error = std::move(result).error();
  const std::optional<std::size_t> offset = error.offset();
  std::string message = "traceql: " + error.message();
  if (offset) message += " (at offset " + std::to_string(*offset) + ")";
  Error out(error.code(), std::move(message));
  return offset ? Fail(std::move(out).At(*offset)) : Fail(std::move(out));
}

Status CheckSize(std::string_view text) {
  if (text.size() <= limits::kQueryBytesMax) return {};
  return Fail(Code::kInvalidArgument,
              "query longer than " + std::to_string(limits::kQueryBytesMax) + " bytes");
}

Result<Filter> ParseAndCheck(std::string_view text) {
  TRY(CheckSize(text));
  TRY_ASSIGN(Filter filter, Parser(text).ParseWhole());
  TRY(Check(filter));
  return filter;
}

Result<Expr> ParseOneSized(std::string_view text) {
  TRY(CheckSize(text));
  return Parser(text).ParseOne();
}

}  // namespace

Result<Filter> ParseFilter(std::string_view text) { return Explained(ParseAndCheck(text)); }

Result<Expr> ParseIdentifier(std::string_view text) { return Explained(ParseOneSized(text)); }

}  // namespace hotspan::query::traceql
