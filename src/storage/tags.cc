#include "storage/tags.h"

namespace hotspan::storage {

void TagSet::AddName(std::string_view key) {
  if (values_.contains(key)) return;
  if (values_.size() >= kNamesMax) {
    truncated_ = true;
    return;
  }
  values_.emplace(std::string(key), std::set<std::string, std::less<>>());
}

void TagSet::Add(std::string_view key, std::string_view value) {
  AddName(key);
  const auto at = values_.find(key);
  if (at == values_.end()) return;
  auto& values = at->second;
  if (value.size() > kValueBytesMax || values.contains(value)) return;
  if (values.size() >= kValuesMax) {
    truncated_ = true;
    return;
  }
  values.emplace(value);
}

void TagSet::AddAll(const AttributeList& attributes) {
  for (const auto& [key, value] : attributes) {
    const std::uint64_t content = value.kind() == ValueKind::kInt ||
                                          value.kind() == ValueKind::kDouble ||
                                          value.kind() == ValueKind::kBool
                                      ? static_cast<std::uint64_t>(value.AsInt())
                                      : HashOf(value.text());
    const std::uint64_t pair = HashOf(key) * 31 + content * 7 + static_cast<unsigned>(value.kind());
    if (!seen_.insert(pair).second) continue;
    if (value.kind() == ValueKind::kString) {
      Add(key, value.text());
    } else {
      Add(key, value.ToText());
    }
  }
}

void TagSet::AddAll(const TagSet& other) {
  for (const auto& [key, values] : other.values_) {
    AddName(key);
    for (const auto& value : values) Add(key, value);
  }
  truncated_ |= other.truncated_;
}

TagsResult AnswerTags(const TagsRequest& request, const TagSet& resource, const TagSet& span) {
  TagsResult result;
  const auto fill = [&](const TagSet& tags, std::vector<std::string>& out) {
    result.truncated |= tags.truncated();
    const auto add = [&](const std::string& text) {
      if (out.size() < request.limit) {
        out.push_back(text);
      } else {
        result.truncated = true;
      }
    };
    if (request.key.empty()) {
      for (const auto& [name, values] : tags.values()) add(name);
      return;
    }
    const auto at = tags.values().find(request.key);
    if (at == tags.values().end()) return;
    for (const auto& value : at->second) add(value);
  };
  if (request.resource) fill(resource, result.resource);
  if (request.span) fill(span, result.span);
  return result;
}

}  // namespace hotspan::storage
