// Sample blocks: samples of one service, type and slice of time. Sums by stack stand in front, so
// that a merge over the whole block costs its distinct stacks; rows with times follow for partial
// ranges.
//
// Threads: values and views.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "storage/embedded/column.h"
#include "storage/engine.h"

namespace hotspan::storage::embedded {

inline constexpr std::uint32_t kSamplesPerBlock = 65'536;

struct BlockSample {
  std::int64_t time = 0;
  std::int64_t value = 0;
  std::uint32_t stack = 0;
  std::uint32_t series = 0;  // index into the block's series
};

struct BlockSeries {
  std::string_view resource;  // packed attributes
  std::string_view labels;    // packed attributes
  std::int64_t period = 0;
};

// Sorts `samples` by stack and encodes them.
std::string EncodeSampleBlock(std::vector<BlockSample>& samples,
                              const std::vector<BlockSeries>& series);

class SampleBlock {
 public:
  static Result<SampleBlock> Open(std::string_view bytes);

  std::int64_t min_time() const { return min_time_; }
  std::int64_t max_time() const { return max_time_; }
  const std::vector<BlockSeries>& series() const { return series_; }

  // Sums of the whole block, by stack.
  std::uint32_t stacks() const { return stacks_.size(); }
  StackSum Sum(std::uint32_t i) const {
    return {StackNumber{static_cast<std::uint32_t>(stacks_[i])}, sums_[i],
            static_cast<std::uint64_t>(counts_[i])};
  }
  std::uint32_t size() const { return times_.size(); }
  BlockSample Row(std::uint32_t i) const {
    return {times_[i], values_[i],
            static_cast<std::uint32_t>(stacks_[static_cast<std::size_t>(stack_indices_[i])]),
            static_cast<std::uint32_t>(series_indices_[i])};
  }

 private:
  std::int64_t min_time_ = 0, max_time_ = 0;
  std::vector<BlockSeries> series_;
  ColumnView stacks_, sums_, counts_;
  ColumnView times_, values_, stack_indices_, series_indices_;
};

// The samples of one span id: what ReadSamples needs, inline.
struct LinkSample {
  TraceId trace_id;
  LinkKind link = LinkKind::kSpan;
  std::uint32_t type = 0;  // number of the type's name
  std::int64_t period = 0;
  std::uint32_t stack = 0;
  std::int64_t value = 0;
  std::int64_t time = 0;
  std::uint64_t thread = 0;
};

// Begins with the newest slice of the samples (8 bytes), by which retention finds it.
std::string EncodeLinkSamples(std::vector<LinkSample>& samples);
// Gives each sample to `sink`; false where the bytes are damaged.
bool DecodeLinkSamples(std::string_view bytes, std::vector<LinkSample>& samples);

}  // namespace hotspan::storage::embedded
