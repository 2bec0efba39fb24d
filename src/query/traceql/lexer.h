// Tokens of TraceQL; internal to query/traceql.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "query/traceql/ast.h"

namespace hotspan::query::traceql {

enum class TokenKind : std::uint8_t {
  kEnd,
  kSymbol,     // operators and brackets, in `text`
  kWord,       // a bare identifier, in `text`
  kScoped,     // "span:id", in `text`
  kAttribute,  // scope and name
  kLiteral,    // string, number or duration
};

struct Token {
  TokenKind kind = TokenKind::kEnd;
  std::string text;
  Scope scope = Scope::kAny;
  Literal literal;
  std::size_t offset = 0;

  bool Is(std::string_view symbol) const { return kind == TokenKind::kSymbol && text == symbol; }
};

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  Result<Token> Next();

 private:
  Status SkipSpaceAndComments();
  Result<Token> LexNumber();
  Result<Token> LexString();
  Result<Token> LexRawString();
  Result<Token> LexWord();
  Result<Token> LexAttribute(Scope scope, std::size_t offset);
  Status AppendQuotedPart(std::string& name);
  Status AppendEscape(std::string& out);
  Result<std::uint32_t> DigitsOf(std::size_t count, std::uint32_t base);
  char Peek(std::size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  tl::unexpected<Error> Refuse(std::string message, std::size_t offset) const;

  std::string_view text_;
  std::size_t at_ = 0;
};

// Whether a name can be written without quotes.
bool IsPlainName(std::string_view name);

}  // namespace hotspan::query::traceql
