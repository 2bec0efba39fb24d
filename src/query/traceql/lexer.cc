#include "query/traceql/lexer.h"

#include <array>
#include <charconv>
#include <cmath>
#include <optional>

#include "query/traceql/parser.h"

namespace hotspan::query::traceql {
namespace {

bool IsSpace(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

// What ends the name of an attribute.
bool EndsName(char c) {
  return IsSpace(c) || std::string_view("{}()=~!<>&|^,").find(c) != std::string_view::npos;
}

int DigitValue(char c) {
  if (IsDigit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return 99;
}

void AppendUtf8(std::string& out, std::uint32_t point) {
  const auto add = [&out](std::uint32_t byte) { out += static_cast<char>(byte); };
  if (point < 0x80) {
    add(point);
  } else if (point < 0x800) {
    add(0xc0 | (point >> 6));
    add(0x80 | (point & 63));
  } else if (point < 0x10000) {
    add(0xe0 | (point >> 12));
    add(0x80 | ((point >> 6) & 63));
    add(0x80 | (point & 63));
  } else {
    add(0xf0 | (point >> 18));
    add(0x80 | ((point >> 12) & 63));
    add(0x80 | ((point >> 6) & 63));
    add(0x80 | (point & 63));
  }
}

std::optional<Scope> ScopeOf(std::string_view word) {
  if (word == "span") return Scope::kSpan;
  if (word == "resource") return Scope::kResource;
  if (word == "event") return Scope::kEvent;
  if (word == "link") return Scope::kLink;
  if (word == "instrumentation") return Scope::kInstrumentation;
  return std::nullopt;
}

struct Unit {
  std::string_view text;
  std::int64_t ns;
};
// Longer units before those that begin them.
constexpr std::array kUnits = {
    Unit{"ns", 1},
    Unit{"us", 1000},
    Unit{"\u00b5s", 1000},
    Unit{"\u03bcs", 1000},
    Unit{"ms", 1'000'000},
    Unit{"s", 1'000'000'000},
    Unit{"m", 60'000'000'000},
    Unit{"h", 3'600'000'000'000},
    Unit{"d", 86'400'000'000'000},
    Unit{"w", 604'800'000'000'000},
    Unit{"y", 31'536'000'000'000'000},
};

// One "12.5ms" off the front of `text`, in nanoseconds.
std::optional<std::int64_t> TakeDurationPart(std::string_view& text) {
  std::int64_t whole = 0;
  long double fraction = 0;
  long double place = 1;
  bool has_digits = false;
  bool in_fraction = false;
  std::size_t at = 0;
  for (; at < text.size() && (IsDigit(text[at]) || (text[at] == '.' && !in_fraction)); ++at) {
    if (text[at] == '.') {
      in_fraction = true;
      continue;
    }
    has_digits = true;
    const int digit = text[at] - '0';
    if (in_fraction) {
      place /= 10;
      fraction += place * static_cast<long double>(digit);
    } else if (__builtin_mul_overflow(whole, 10, &whole) ||
               __builtin_add_overflow(whole, digit, &whole)) {
      return std::nullopt;
    }
  }
  if (!has_digits) return std::nullopt;
  for (const Unit& unit : kUnits) {
    if (!text.substr(at).starts_with(unit.text)) continue;
    std::int64_t ns = 0;
    const auto below =
        static_cast<std::int64_t>(std::llround(fraction * static_cast<long double>(unit.ns)));
    if (__builtin_mul_overflow(whole, unit.ns, &ns) || __builtin_add_overflow(ns, below, &ns)) {
      return std::nullopt;
    }
    text.remove_prefix(at + unit.text.size());
    return ns;
  }
  return std::nullopt;
}

std::optional<std::int64_t> ParseInt(std::string_view text) {
  int base = 10;
  if (text.starts_with("0x") || text.starts_with("0X")) {
    base = 16;
    text.remove_prefix(2);
  }
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || end != text.data() + text.size() || text.starts_with('-')) {
    return std::nullopt;
  }
  return value;
}

std::optional<double> ParseFloat(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  if (!std::isfinite(value)) return std::nullopt;
  return value;
}

}  // namespace

Result<std::int64_t> ParseDurationNs(std::string_view text) {
  const std::string shown(text.substr(0, 40));
  std::int64_t sum = 0;
  if (text.empty()) return Fail(Code::kInvalidArgument, "duration: empty");
  if (text == "0") return 0;
  while (!text.empty()) {
    const std::optional<std::int64_t> part = TakeDurationPart(text);
    if (!part || __builtin_add_overflow(sum, *part, &sum)) {
      return Fail(Code::kInvalidArgument,
                  "duration: \"" + shown + "\" is none; write it like 500ms or 1h30m");
    }
  }
  return sum;
}

bool IsPlainName(std::string_view name) {
  if (name.empty() || IsDigit(name.front())) return false;
  for (const char c : name) {
    if (EndsName(c) || c == '"' || c == '\\' || c == '\0') return false;
  }
  return true;
}

tl::unexpected<Error> Lexer::Refuse(std::string message, std::size_t offset) const {
  return Fail(Error(Code::kInvalidArgument, std::move(message)).At(offset));
}

Status Lexer::SkipSpaceAndComments() {
  while (at_ < text_.size()) {
    if (IsSpace(Peek())) {
      ++at_;
    } else if (Peek() == '/' && Peek(1) == '/') {
      const std::size_t end = text_.find('\n', at_);
      at_ = end == std::string_view::npos ? text_.size() : end;
    } else if (Peek() == '/' && Peek(1) == '*') {
      const std::size_t end = text_.find("*/", at_ + 2);
      if (end == std::string_view::npos) return Refuse("comment without an end", at_);
      at_ = end + 2;
    } else {
      break;
    }
  }
  return {};
}

Result<Token> Lexer::Next() {
  TRY(SkipSpaceAndComments());
  Token token;
  token.offset = at_;
  if (at_ == text_.size()) return token;
  const char c = Peek();
  if (c == '"') return LexString();
  if (c == '`') return LexRawString();
  if (IsDigit(c) || (c == '.' && IsDigit(Peek(1)))) return LexNumber();
  if (c == '.') {
    ++at_;
    return LexAttribute(Scope::kAny, token.offset);
  }
  if (IsLetter(c)) return LexWord();
  token.kind = TokenKind::kSymbol;
  for (const std::string_view symbol : {"=~", "!=", "!~", "<=", ">=", "&&", "||", ">>", "<<"}) {
    if (!text_.substr(at_).starts_with(symbol)) continue;
    token.text = symbol;
    at_ += symbol.size();
    return token;
  }
  if (std::string_view("{}()=<>!&|~,+-*/%^").find(c) == std::string_view::npos) {
    return Refuse("unexpected character", at_);
  }
  token.text = c;
  ++at_;
  return token;
}

Result<Token> Lexer::LexNumber() {
  Token token;
  token.kind = TokenKind::kLiteral;
  token.offset = at_;
  const auto is_part = [this](char c) {
    // The bytes of the two letters that stand for micro.
    const auto byte = static_cast<unsigned char>(c);
    if (IsDigit(c) || IsLetter(c) || c == '.' || byte == 0xc2 || byte == 0xb5 || byte == 0xce ||
        byte == 0xbc) {
      return true;
    }
    const char before = text_[at_ - 1];
    return (c == '+' || c == '-') && (before == 'e' || before == 'E') && IsDigit(Peek(1));
  };
  do ++at_;
  while (at_ < text_.size() && is_part(Peek()));
  const std::string_view number = text_.substr(token.offset, at_ - token.offset);
  if (const auto value = ParseInt(number)) {
    token.literal.type = Type::kInt;
    token.literal.number = *value;
  } else if (const auto real = ParseFloat(number);
             real && number.find_first_of(".eE") != std::string_view::npos) {
    token.literal.type = Type::kFloat;
    token.literal.real = *real;
  } else if (const auto duration = ParseDurationNs(number)) {
    token.literal.type = Type::kDuration;
    token.literal.number = *duration;
  } else {
    return Refuse("no number or duration, or one out of range", token.offset);
  }
  return token;
}

Result<Token> Lexer::LexString() {
  Token token;
  token.kind = TokenKind::kLiteral;
  token.offset = at_++;
  token.literal.type = Type::kString;
  while (at_ < text_.size() && Peek() != '"' && Peek() != '\n') {
    if (Peek() == '\\') {
      TRY(AppendEscape(token.literal.text));
    } else {
      token.literal.text += text_[at_++];
    }
  }
  if (Peek() != '"') return Refuse("string without an end", token.offset);
  ++at_;
  return token;
}

Result<Token> Lexer::LexRawString() {
  Token token;
  token.kind = TokenKind::kLiteral;
  token.offset = at_;
  token.literal.type = Type::kString;
  const std::size_t end = text_.find('`', at_ + 1);
  if (end == std::string_view::npos) return Refuse("string without an end", at_);
  for (const char c : text_.substr(at_ + 1, end - at_ - 1)) {
    if (c != '\r') token.literal.text += c;  // as Go has it
  }
  at_ = end + 1;
  return token;
}

Result<std::uint32_t> Lexer::DigitsOf(std::size_t count, std::uint32_t base) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < count; ++i, ++at_) {
    const int digit = DigitValue(Peek());
    if (digit >= static_cast<int>(base)) return Refuse("bad escape in a string", at_);
    value = value * base + static_cast<std::uint32_t>(digit);
  }
  if (value > 0x10ffff) return Refuse("bad escape in a string", at_);
  return static_cast<std::uint32_t>(value);
}

Status Lexer::AppendEscape(std::string& out) {
  const std::size_t offset = at_;
  ++at_;
  const char c = Peek();
  constexpr std::string_view kNames = "abfnrtv\\\"";
  constexpr std::string_view kMeant = "\a\b\f\n\r\t\v\\\"";
  if (const std::size_t i = kNames.find(c); c != '\0' && i != std::string_view::npos) {
    out += kMeant[i];
    ++at_;
    return {};
  }
  if (c >= '0' && c <= '7') {
    TRY_ASSIGN(const std::uint32_t byte, DigitsOf(3, 8));
    if (byte > 255) return Refuse("bad escape in a string", offset);
    out += static_cast<char>(byte);
    return {};
  }
  if (c != 'x' && c != 'u' && c != 'U') return Refuse("bad escape in a string", offset);
  ++at_;
  TRY_ASSIGN(const std::uint32_t point, DigitsOf(c == 'x' ? 2 : c == 'u' ? 4 : 8, 16));
  if (c == 'x') {
    out += static_cast<char>(point);
  } else if (point >= 0xd800 && point < 0xe000) {
    return Refuse("bad escape in a string", offset);
  } else {
    AppendUtf8(out, point);
  }
  return {};
}

Result<Token> Lexer::LexWord() {
  Token token;
  token.kind = TokenKind::kWord;
  token.offset = at_;
  while (at_ < text_.size() && (IsLetter(Peek()) || IsDigit(Peek()))) ++at_;
  token.text = text_.substr(token.offset, at_ - token.offset);
  if (Peek() == '.') {
    if (token.text == "parent") {
      return Fail(Error(Code::kUnimplemented, "attributes of the parent are not supported yet")
                      .At(token.offset));
    }
    const std::optional<Scope> scope = ScopeOf(token.text);
    if (!scope) return Refuse("unknown scope \"" + token.text + "\"", token.offset);
    ++at_;
    return LexAttribute(*scope, token.offset);
  }
  if (Peek() == ':' && (ScopeOf(token.text) || token.text == "trace")) {
    ++at_;
    while (at_ < text_.size() && IsLetter(Peek())) ++at_;
    token.kind = TokenKind::kScoped;
    token.text = text_.substr(token.offset, at_ - token.offset);
  }
  return token;
}

Result<Token> Lexer::LexAttribute(Scope scope, std::size_t offset) {
  Token token;
  token.kind = TokenKind::kAttribute;
  token.scope = scope;
  token.offset = offset;
  while (at_ < text_.size() && !EndsName(Peek())) {
    if (Peek() == '"') {
      TRY(AppendQuotedPart(token.text));
    } else {
      token.text += text_[at_++];
    }
  }
  if (token.text.empty()) return Refuse("attribute without a name", offset);
  return token;
}

Status Lexer::AppendQuotedPart(std::string& name) {
  const std::size_t offset = at_++;
  while (at_ < text_.size() && Peek() != '"') {
    if (Peek() == '\\') {
      ++at_;
      if (Peek() != '"' && Peek() != '\\') return Refuse("bad escape in a name", at_);
    }
    name += text_[at_++];
  }
  if (at_ == text_.size()) return Refuse("quoted name without an end", offset);
  ++at_;
  return {};
}

}  // namespace hotspan::query::traceql
