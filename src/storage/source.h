// What a resource and a profile series say of where they come from, read the same by all engines.
//
// Threads: pure functions.
#pragma once

#include <span>
#include <string>

#include "storage/engine.h"

namespace hotspan::storage {

struct SourceInfo {
  std::string service;
  std::string version;
  std::string instance;
  std::string agent;
};

// From a series' resource, and its own labels where the resource is silent.
SourceInfo SourceOf(const SampleBatch& batch, const SeriesRow& series);

// Whether the text of the resource attribute of that name, else of the series' own label, matches;
// a missing one is the empty string.
bool MatchesLabels(const SampleBatch& batch, const SeriesRow& series,
                   std::span<const LabelMatcher> matchers);
bool MatchesLabels(const AttributeList& resource, const AttributeList& labels,
                   std::span<const LabelMatcher> matchers);

// The thread.id label of a sample's label set, 0 if there is none.
std::uint64_t ThreadOf(const AttributeList& labels);

// Appends the frames a location shows, innermost first: its inline chain, or one frame with only an
// address.
void AppendFrames(const SampleBatch& batch, const LocationRow& location, std::vector<Frame>& out);

// The slice of time that something belongs to; blocks hold one slice and retention drops whole
// ones.
inline constexpr DurationNs kSlice = kHour;
inline constexpr std::int64_t SliceOf(TimeNs time) {
  const std::int64_t quotient = time.ns / kSlice.ns;
  return time.ns % kSlice.ns < 0 ? quotient - 1 : quotient;
}
// Slices before this one are older than `kept` at `now`.
inline constexpr std::int64_t FirstSliceKept(TimeNs now, DurationNs kept) {
  return SliceOf(now - kept);
}

}  // namespace hotspan::storage
