// The dictionary of an OTLP profiles message as rows of a SampleBatch. Internal to wire/otlp.
//
// Entries that refer outside of a table are kept as empty rows and marked bad, so that only the
// profiles that use them are rejected. Threads: one thread at a time; throws protozero::exception.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "wire/decode.h"
#include "wire/sample_builder.h"

namespace hotspan::wire {

class ProfileTables {
 public:
  struct Attribute {
    std::string_view key;
    std::string_view value;  // an AnyValue message
    std::uint64_t key_index = 0;
  };

  ProfileTables(SampleBatch& batch, DecodeCounts& counts, SampleBuilder& builder)
      : batch_(batch), counts_(counts), builder_(builder) {}

  // Notes where the entries are; a message may have its dictionary in several parts.
  Status Collect(std::string_view dictionary);
  // Turns all that was collected into rows.
  Status Build();

  const std::vector<std::string_view>& strings() const { return strings_; }
  const std::vector<Attribute>& attributes() const { return attributes_; }
  std::string_view StringAt(std::int64_t index) const {
    return index >= 0 && static_cast<std::size_t>(index) < strings_.size()
               ? strings_[static_cast<std::size_t>(index)]
               : std::string_view();
  }
  std::size_t stack_count() const { return stack_is_bad_.size(); }
  std::size_t link_count() const { return link_rows_.size(); }
  bool IsBadStack(std::uint64_t index) const { return stack_is_bad_[index] != 0; }
  // The batch's row of a link, 0 if it names no span, kBadLink if its ids have a wrong size.
  std::uint32_t LinkRowOf(std::uint64_t index) const { return link_rows_[index]; }
  static constexpr std::uint32_t kBadLink = UINT32_MAX;
  // Whether attributes spell out their keys, as they did up to OTLP 1.7.
  bool spells_keys() const { return spells_keys_; }

 private:
  Slice SliceOf(std::int64_t index, bool& bad);
  void BuildFunction(std::string_view message);
  void BuildMapping(std::string_view message);
  void BuildLocation(std::string_view message);
  bool BuildLine(std::string_view message);
  void BuildStack(std::string_view message);
  void BuildLink(std::string_view message);
  void ReadAttribute(std::string_view message);
  Slice FindBuildId(std::uint64_t attribute, bool& bad);

  SampleBatch& batch_;
  DecodeCounts& counts_;
  SampleBuilder& builder_;
  std::vector<std::string_view> mappings_, locations_, functions_, links_, stacks_;
  std::vector<std::string_view> strings_;
  std::vector<Slice> slices_;  // of strings_; offset UINT32_MAX: not stored yet
  std::vector<Attribute> attributes_;
  std::vector<std::uint8_t> mapping_is_bad_, location_is_bad_, function_is_bad_, stack_is_bad_;
  std::vector<std::uint32_t> link_rows_;
  bool spells_keys_ = false;
  std::string scratch_;
};

}  // namespace hotspan::wire
