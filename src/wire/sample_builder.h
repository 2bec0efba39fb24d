// What the decoders of profiles share: names of series, links and labels from sample attributes,
// stacks cut at the limit, rows added under the limits of a message.
//
// Threads: one thread at a time.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "model/attributes.h"
#include "wire/decode.h"

namespace hotspan::wire {

// What is counted and what a sample is taken for every so much of, as the sender names them.
struct SampleTypeNames {
  std::string_view type, unit, period_type, period_unit;
};

struct SeriesType {
  std::string text;  // "NAME:type:unit:period type:period unit"
  // Whether values are counts of samples that stand for one period of CPU time each.
  bool times_period = false;
};

// The series of a sample type. `contention_name` is the NAME of contentions and delays; with
// `has_cpu_time` counts of CPU samples stay counts, because the profile has their time as well.
SeriesType NameSeries(const SampleTypeNames& names, std::int64_t period, bool has_cpu_time,
                      std::string_view contention_name);

// "ns" to "nanoseconds", "By" to "bytes"; others as they are.
std::string_view NormaliseUnit(std::string_view unit);

// The labels of one sample, apart: those that name a span, and the rest.
class SampleLabels {
 public:
  void Clear();
  // Takes a string label; span_id, trace_id and profile_id become the link, thread labels get their
  // standard names.
  void AddText(std::string_view key, std::string_view text);
  void AddInt(std::string_view key, std::int64_t number);
  // The link that the labels name; its span id is zero if they name none.
  const LinkRow& link() const { return link_; }
  std::string& packed() { return packed_; }

 private:
  std::string packed_;
  LinkRow link_;
};

class SampleBuilder {
 public:
  SampleBuilder(SampleBatch& batch, DecodeCounts& counts) : batch_(batch), counts_(counts) {}

  // 0 for a link without span id.
  std::uint32_t Link(const LinkRow& link);
  // 0 for an empty list.
  std::uint32_t Labels(std::string_view packed);

  // A stack of the batch's locations, leaf first: Begin, Push each, End gives its index.
  void BeginStack();
  void PushLocation(std::uint32_t location);
  std::uint32_t EndStack();

  // Samples of value zero are left out, negative ones are counted as dropped.
  Status AddSample(const SampleRow& row);
  // Refuses a batch whose tables or text grew over their limits.
  Status CheckSize() const;

 private:
  std::uint32_t CutMarker();

  SampleBatch& batch_;
  DecodeCounts& counts_;
  std::unordered_map<std::string, std::uint32_t> links_;
  std::unordered_map<std::string, std::uint32_t> labels_;
  std::size_t stack_begin_ = 0;
  std::uint32_t cut_marker_ = UINT32_MAX;
  bool cut_ = false;
};

// The file offset of an address of a mapping that has a build id, else the address as it is.
std::uint64_t ToFileOffset(const MappingRow& mapping, std::uint64_t address);

// Whether text is a build id as MappingRow keeps it: hex digits, an even number, at most 128.
bool IsHexBuildId(std::string_view text);

}  // namespace hotspan::wire
