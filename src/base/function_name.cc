#include "base/function_name.h"

#include <array>

namespace hotspan {
namespace {

constexpr std::string_view kOperator = "operator";
constexpr std::string_view kAnonymous = "(anonymous namespace)";

bool IsNameByte(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}

// The size of an operator's symbol at text[at], which may hold brackets that open nothing.
std::size_t OperatorSize(std::string_view text, std::size_t at) {
  static constexpr std::array<std::string_view, 14> kSymbols = {
      "()", "<=>", "<<=", ">>=", "->*", "<<", ">>", "<=", ">=", "->", "<", ">", "[]", "="};
  for (const std::string_view symbol : kSymbols) {
    if (text.substr(at).starts_with(symbol)) return symbol.size();
  }
  return 0;
}

// Where the bracket that opens at text[at] closes, or npos.
std::size_t Closing(std::string_view text, std::size_t at) {
  const char open = text[at];
  const char close = open == '(' ? ')' : open == '<' ? '>' : open == '[' ? ']' : '}';
  int depth = 0;
  for (std::size_t i = at; i < text.size(); ++i) {
    if (text[i] == open) ++depth;
    if (text[i] == close && !(close == '>' && i > 0 && text[i - 1] == '-') && --depth == 0)
      return i;
  }
  return std::string_view::npos;
}

}  // namespace

std::string ShortFunctionName(std::string_view text) {
  // Only C++ names are written like this; a Java or Go name with brackets means something else.
  if (text.find("::") == std::string_view::npos && !text.ends_with(')') &&
      text.find("[abi:") == std::string_view::npos && !text.ends_with('>') &&
      !text.ends_with(" const")) {
    return std::string(text);
  }
  std::string name;
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view rest = text.substr(at);
    if (rest.starts_with(kOperator) && (name.empty() || !IsNameByte(name.back()))) {
      const std::size_t size = kOperator.size() + OperatorSize(text, at + kOperator.size());
      if (size > kOperator.size()) {
        name.append(rest.substr(0, size));
        at += size;
        // "operator<< <char>": the space is no end of a return type.
        if (at < text.size() && text[at] == ' ') ++at;
        continue;
      }
    }
    if (rest.starts_with(kAnonymous)) {
      name.append(kAnonymous);
      at += kAnonymous.size();
      continue;
    }
    const char c = text[at];
    if (c == '<' || c == '(' || c == '[' || c == '{') {
      const std::size_t end = Closing(text, at);
      if (end == std::string_view::npos) return std::string(text);
      const bool is_part = c == '{' || (c == '<' && rest.starts_with("<lambda"));
      if (is_part) {
        // A lambda's own parameters tell nothing.
        const std::size_t stop = std::min(end, text.find('(', at));
        name.append(text.substr(at, stop - at));
        name += c == '{' ? '}' : '>';
      }
      const bool parameters_end = c == '(' && !text.substr(end + 1).starts_with("::");
      at = end + 1;
      if (parameters_end && !name.empty()) break;
      continue;
    }
    // What stands before a space on the outer level is a return type, but for "operator new".
    if (c == ' ' && !name.ends_with(kOperator)) {
      name.clear();
    } else {
      name += c;
    }
    ++at;
  }
  return name.empty() ? std::string(text) : name;
}

}  // namespace hotspan
