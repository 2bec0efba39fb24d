#include "query/profile/selector.h"

#include <cctype>

#include "base/limits.h"

namespace hotspan::query::profile {
namespace {

bool IsNameChar(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '-' ||
         c == ':' || c == '/';
}

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Result<Selector> Parse(std::string_view default_type) {
    Selector selector;
    SkipSpace();
    const std::size_t begin = at_;
    while (at_ < text_.size() && IsNameChar(text_[at_])) ++at_;
    selector.type = text_.substr(begin, at_ - begin);
    if (selector.type.empty()) selector.type = default_type;
    if (selector.type.empty()) return Expected("a profile type");
    SkipSpace();
    if (Take("{")) TRY(ParseMatchers(selector));
    SkipSpace();
    if (at_ != text_.size()) return Expected("the end");
    return selector;
  }

 private:
  tl::unexpected<Error> Expected(std::string_view what) const {
    return Fail(
        Error(Code::kInvalidArgument, "profile selector: expected " + std::string(what)).At(at_));
  }

  void SkipSpace() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
  }

  bool Take(std::string_view token) {
    if (!text_.substr(at_).starts_with(token)) return false;
    at_ += token.size();
    return true;
  }

  Status ParseMatchers(Selector& selector) {
    SkipSpace();
    if (Take("}")) return {};
    while (true) {
      TRY(ParseMatcher(selector));
      SkipSpace();
      if (Take("}")) return {};
      if (!Take(",")) return Expected("',' or '}'");
      SkipSpace();
      if (Take("}")) return {};
    }
  }

  Status ParseMatcher(Selector& selector) {
    SkipSpace();
    storage::LabelMatcher matcher;
    if (at_ < text_.size() && text_[at_] == '"') {
      TRY_ASSIGN(matcher.name, ParseString());
    } else {
      const std::size_t begin = at_;
      while (at_ < text_.size() && IsNameChar(text_[at_])) ++at_;
      matcher.name = text_.substr(begin, at_ - begin);
    }
    if (matcher.name.empty()) return Expected("a label name");
    SkipSpace();
    if (Take("=~") || Take("!~")) {
      at_ -= 2;
      return Fail(
          Error(Code::kUnimplemented, "profile selector: regular expressions are not supported yet")
              .At(at_));
    }
    if (Take("!=")) {
      matcher.negated = true;
    } else if (!Take("=")) {
      return Expected("'=' or '!='");
    }
    SkipSpace();
    TRY_ASSIGN(matcher.value, ParseString());
    const bool is_service = matcher.name == "service_name" || matcher.name == "service.name";
    if (is_service && !matcher.negated && selector.service.empty()) {
      selector.service = matcher.value;
      return {};
    }
    if (is_service) matcher.name = "service.name";
    selector.matchers.push_back(std::move(matcher));
    return {};
  }

  Result<std::string> ParseString() {
    if (!Take("\"")) return Expected("a quoted value");
    std::string out;
    while (at_ < text_.size() && text_[at_] != '"') {
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) {
        ++at_;
        out += text_[at_] == 'n' ? '\n' : text_[at_] == 't' ? '\t' : text_[at_];
        ++at_;
        continue;
      }
      out += text_[at_++];
    }
    if (!Take("\"")) return Expected("the end of a quoted value");
    return out;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

Result<Selector> ParseSelector(std::string_view text, std::string_view default_type) {
  if (text.size() > limits::kQueryBytesMax) {
    return Fail(Code::kInvalidArgument, "profile selector: longer than 131072 bytes");
  }
  return Parser(text).Parse(default_type);
}

storage::SampleMerge ToSampleMerge(const Selector& selector, TenantId tenant, TimeRange range,
                                   const storage::Budget& budget) {
  storage::SampleMerge merge;
  merge.tenant = tenant;
  merge.type = selector.type;
  merge.service = selector.service;
  merge.matchers = selector.matchers;
  merge.range = range;
  merge.budget = budget;
  return merge;
}

std::string_view UnitOfType(std::string_view type) {
  std::string_view rest = type;
  for (int skipped = 0; skipped < 2; ++skipped) {
    const std::size_t colon = rest.find(':');
    if (colon == std::string_view::npos) return {};
    rest.remove_prefix(colon + 1);
  }
  return rest.substr(0, rest.find(':'));
}

}  // namespace hotspan::query::profile
