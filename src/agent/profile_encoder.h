// The tables of a profiles request (strings, attributes, links, stacks) and the profiles that point
// into them, written from one chunk of samples.
//
// Threads: an object belongs to one thread.
#pragma once

#include <protozero/pbf_writer.hpp>

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "agent/otlp_encode.h"
#include "agent/profile_chunk.h"

namespace hotspan::agent {

class ProfileEncoder {
 public:
  // Both are to outlive the encoder.
  ProfileEncoder(const ProfileChunk& chunk, const ThreadNames& thread_names);

  // Writes the profiles of that kind, if the chunk has samples of it, as items of ScopeProfiles;
  // waits for locks make two, of their number and of their time.
  void WriteProfiles(protozero::pbf_writer& scope_profiles, SampleKind kind);
  static std::size_t ProfilesOf(SampleKind kind) { return kind == SampleKind::kLock ? 2 : 1; }
  // After all profiles.
  void WriteDictionary(protozero::pbf_writer& dictionary);

 private:
  // Samples of the same stack, thread and span: one Sample message.
  struct Group {
    std::vector<std::int64_t> values;
    std::vector<std::uint64_t> times;
  };
  using GroupKey = std::tuple<std::uint32_t, std::uint32_t, std::int32_t>;  // stack, thread, link
  struct Attribute {
    std::int32_t key;
    std::string text;
    bool is_number;
    std::int64_t number;
  };

  struct ValueType {
    std::string_view name;
    std::string_view unit;
    bool counts = false;  // each sample is one, whatever its value
  };

  bool IsKnownStack(std::uint32_t stack) const;
  std::map<GroupKey, Group> GroupSamples(SampleKind kind);
  void WriteProfile(protozero::pbf_writer& scope_profiles, SampleKind kind,
                    const std::map<GroupKey, Group>& groups, const ValueType& value_type);
  void WriteSample(protozero::pbf_writer& profile, const GroupKey& key, const Group& group,
                   bool counts);
  void WriteProfileAttributes(protozero::pbf_writer& profile, SampleKind kind);
  void WriteMappings(protozero::pbf_writer& dictionary);
  void WriteLocations(protozero::pbf_writer& dictionary);
  void WriteStacks(protozero::pbf_writer& dictionary);
  void WriteAttributes(protozero::pbf_writer& dictionary);

  std::int32_t StringIndex(std::string_view text);
  std::int32_t FunctionIndex(const std::string& name);
  std::int32_t LinkIndex(const CollectedSample& sample);
  std::int32_t TextAttribute(std::string_view key, std::string_view text);
  std::int32_t NumberAttribute(std::string_view key, std::int64_t number);
  const std::vector<std::int32_t>& ThreadAttributes(std::uint32_t thread_id);

  const ProfileChunk& chunk_;
  const ThreadNames& thread_names_;
  // In every table, element 0 stands for "none".
  std::vector<std::string> strings_{std::string()};
  std::unordered_map<std::string, std::int32_t> string_index_{{std::string(), 0}};
  std::vector<std::int32_t> functions_{0};  // each the index of its name
  std::unordered_map<std::string, std::int32_t> function_index_;
  std::vector<const CollectedSample*> links_{nullptr};
  std::map<std::pair<std::array<std::uint8_t, 16>, std::array<std::uint8_t, 8>>, std::int32_t>
      link_index_;
  std::vector<Attribute> attributes_{Attribute{0, {}, false, 0}};
  std::unordered_map<std::uint32_t, std::vector<std::int32_t>> thread_attributes_;
};

}  // namespace hotspan::agent
