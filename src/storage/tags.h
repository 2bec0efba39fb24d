// Gathers names and values of attributes with a bound on each, for ReadTags.
//
// Threads: a value; one thread at a time.
#pragma once

#include <map>
#include <set>
#include <string>
#include <unordered_set>

#include "storage/engine.h"

namespace hotspan::storage {

class TagSet {
 public:
  // Values kept for one name; more are counted as truncated.
  static constexpr std::size_t kValuesMax = 1000;
  static constexpr std::size_t kNamesMax = 10'000;
  // Longer values are no tags anybody picks from a list.
  static constexpr std::size_t kValueBytesMax = 256;

  void Add(std::string_view key, std::string_view value);
  void AddName(std::string_view key);
  void AddAll(const AttributeList& attributes);
  void AddAll(const TagSet& other);
  const std::map<std::string, std::set<std::string, std::less<>>, std::less<>>& values() const {
    return values_;
  }
  bool truncated() const { return truncated_; }
  void SetTruncated() { truncated_ = true; }

 private:
  std::map<std::string, std::set<std::string, std::less<>>, std::less<>> values_;
  // Hashes of (name, value) pairs seen: most pairs repeat, and a look here is all they cost.
  std::unordered_set<std::uint64_t> seen_;
  bool truncated_ = false;
};

// The answer to a request from the tags of resources and of spans.
TagsResult AnswerTags(const TagsRequest& request, const TagSet& resource, const TagSet& span);

}  // namespace hotspan::storage
