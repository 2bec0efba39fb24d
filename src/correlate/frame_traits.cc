#include "correlate/frame_traits.h"

#include <algorithm>
#include <array>
#include <optional>

#include "correlate/frame_patterns.h"

namespace hotspan::correlate {
namespace {

constexpr std::array<WorkText, 13> kFamilyTexts = {{
    {"", "look at what this function does and whether it must be done for each request"},
    {"regular expression matching",
     "compile the expression once, anchor it and avoid nested quantifiers, or replace it by a "
     "plain "
     "scan or RE2"},
    {"JSON parsing", "parse once and keep the result, or read only the fields that are needed"},
    {"XML parsing", "parse once and keep the result, or use a streaming parser"},
    {"protobuf coding", "decode only what is needed, reuse messages (arena), or send less"},
    {"serialization",
     "send fewer fields, build the output in one buffer, or cache the serialized form"},
    {"compression", "use a lower level or a faster codec (zstd, lz4), or compress once and cache"},
    {"cryptography",
     "reuse sessions and derived keys, cache verified results, or lower the work factor "
     "where that is safe"},
    {"logging", "log less on this path: raise the level, sample, or write asynchronously"},
    {"sorting", "keep the data sorted, sort fewer elements, or use partial sorting"},
    {"hashing", "hash once and keep the value, or use a cheaper hash"},
    {"database driver work",
     "fetch fewer rows and columns, batch the calls, or prepare statements once"},
    {"HTTP client work", "reuse connections, batch the calls, or call in parallel"},
}};

constexpr std::array<WorkText, 6> kReusableTexts = {{
    {"", ""},
    {"a regular expression is compiled", "compile the expression once, outside of the request"},
    {"configuration or rules are parsed",
     "parse them once, keep the result in memory and reload only when the source changes"},
    {"a TLS handshake is made", "keep the connection alive or resume the session"},
    {"a connection is opened", "take connections from a pool"},
    {"a host name is looked up", "keep the connection, or cache the address"},
}};

bool HasPrefixOf(std::string_view text, std::span<const std::string_view> prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(),
                     [&](std::string_view prefix) { return text.starts_with(prefix); });
}

bool HasPartOf(std::string_view text, std::span<const std::string_view> parts) {
  return std::any_of(parts.begin(), parts.end(), [&](std::string_view part) {
    return text.find(part) != std::string_view::npos;
  });
}

char ToLower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

std::string Lower(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(), ToLower);
  return lower;
}

template <typename Kind>
Kind FirstMatch(std::span<const Pattern<Kind>> patterns, std::string_view name,
                std::string_view canonical_last) {
  for (const Pattern<Kind>& pattern : patterns) {
    const bool fits = pattern.match == Match::kPrefix ? name.starts_with(pattern.text)
                      : pattern.match == Match::kContains
                          ? name.find(pattern.text) != name.npos
                          : canonical_last.find(pattern.text) != canonical_last.npos;
    if (fits) return pattern.kind;
  }
  return Kind::kNone;
}

// The size of the bracketed group that begins at `at`, to the end of the text if it isn't closed.
std::size_t GroupSize(std::string_view text, std::size_t at) {
  const char open = text[at];
  const char close = open == '<' ? '>' : ')';
  int depth = 0;
  for (std::size_t i = at; i < text.size(); ++i) {
    if (text[i] == open) ++depth;
    if (text[i] == close && (close != '>' || i == 0 || text[i - 1] != '-') && --depth == 0) {
      return i - at + 1;
    }
  }
  return text.size() - at;
}

}  // namespace

const WorkText& TextOf(Family family) { return kFamilyTexts[static_cast<std::size_t>(family)]; }
const WorkText& TextOf(Reusable reusable) {
  return kReusableTexts[static_cast<std::size_t>(reusable)];
}

std::string QualifiedName(std::string_view function) {
  constexpr std::string_view kAnonymous = "(anonymous namespace)::";
  constexpr std::string_view kOperatorText = "operator";
  // Go's receivers, "pkg.(*Type).Method", and pseudo-frames, "[io] read", stay as they are.
  if (function.find(".(") != function.npos || function.starts_with('[')) {
    return std::string(function);
  }
  std::string name;
  std::size_t i = 0;
  while (i < function.size()) {
    const std::string_view rest = function.substr(i);
    if (rest.starts_with(kAnonymous)) {
      i += kAnonymous.size();
    } else if (rest.starts_with(kOperatorText) &&
               (name.empty() || name.ends_with("::") || name.ends_with(' '))) {
      // The operator's own signs are no brackets; parameters begin after them.
      const std::size_t end = rest.starts_with("operator()")
                                  ? 10
                                  : std::min(rest.find('(', kOperatorText.size()), rest.size());
      if (name.ends_with(' ')) name.clear();
      name.append(rest.substr(0, end));
      return name;
    } else if (function[i] == '<') {
      // Java's "<init>" and Python's "<module>" are names; template arguments follow one.
      const std::size_t size = GroupSize(function, i);
      if (name.empty() || name.ends_with('.')) name.append(function.substr(i, size));
      i += size;
    } else if (function[i] == '(') {
      const std::size_t size = GroupSize(function, i);
      // Local entities: "f(int)::{lambda()#1}::operator()" keeps its outer function's name.
      if (!function.substr(i + size).starts_with("::")) break;
      i += size;
    } else if (function[i] == '{' && function.find('}', i) != function.npos) {
      name.append("{lambda}");
      i = function.find('}', i) + 1;
    } else if (function[i] == ' ') {
      name.clear();  // what came so far was the return type
      ++i;
    } else {
      name.push_back(function[i]);
      ++i;
    }
  }
  return name.empty() ? std::string(function) : name;
}

std::string_view LastPart(std::string_view name) {
  const std::size_t at = name.find_last_of(":./");
  return at == name.npos || at + 1 == name.size() ? name : name.substr(at + 1);
}

std::string Canonical(std::string_view name) {
  std::string out;
  out.reserve(name.size());
  for (const char c : name) {
    if (c != '-' && c != '_' && c != '.') out.push_back(ToLower(c));
  }
  return out;
}

FrameTraits TraitsOf(const Frame& frame) {
  const std::string name = QualifiedName(frame.function);
  const std::string_view last = LastPart(name);
  const std::string canonical_last = Canonical(last);
  FrameTraits traits;
  traits.library = FirstMatch(LibraryPatterns(), name, canonical_last);
  if (traits.library == Family::kNone && !frame.module.empty()) {
    traits.library = FirstMatch(ModulePatterns(), frame.module, {});
  }
  const auto names = VendorNames();
  traits.vendor =
      traits.library != Family::kNone || !frame.symbolized || HasPrefixOf(name, VendorPrefixes()) ||
      HasPrefixOf(frame.module, VendorModules()) || HasPartOf(frame.file, VendorPaths()) ||
      std::find(names.begin(), names.end(), name) != names.end();
  traits.reusable = FirstMatch(ReusablePatterns(), name, canonical_last);
  traits.gc = HasPrefixOf(name, GcPrefixes());
  if (traits.vendor) return traits;
  traits.by_name = FirstMatch(NamePatterns(), name, canonical_last);
  const std::string lower_last = Lower(last);
  if (traits.reusable == Reusable::kNone && HasPrefixOf(canonical_last, ConfigVerbs()) &&
      HasPartOf(canonical_last, ConfigNouns())) {
    traits.reusable = Reusable::kConfigParse;
  }
  traits.mapper = HasPartOf(Lower(name), MapperParts());
  traits.look_up = HasPrefixOf(lower_last, LookUpPrefixes());
  return traits;
}

}  // namespace hotspan::correlate
