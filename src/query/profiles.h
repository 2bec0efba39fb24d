// Profiles as correlate and serve want them: of spans, of all spans a query finds, of a selector.
//
// Threads: functions; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/stack.h"
#include "query/flame/flame.h"
#include "query/frames.h"
#include "query/profile/selector.h"
#include "query/profile/weigh.h"
#include "storage/engine.h"

namespace hotspan::query {

// Weighted stacks of one type, with their frames.
struct MergedProfile {
  std::string type;
  std::shared_ptr<const FrameTable> frames;  // never null
  std::vector<flame::WeightedStack> stacks;  // sorted by number, each once
  std::uint64_t samples = 0;
  std::int64_t total = 0;
  std::int64_t period = 0;  // 0: not known or mixed
  storage::Inspected inspected;
};

// All samples of a selector in a range.
Result<MergedProfile> ReadProfile(storage::Engine& engine, FrameReader& frames, TenantId tenant,
                                  const profile::Selector& selector, TimeRange range,
                                  const storage::Budget& budget = {});

// Samples of given spans, of one type or (if `type` is empty) of all, one MergedProfile a type.
// `link`: samples of that kind only (active span, or local root); empty: both.
struct SpanProfile {
  std::vector<MergedProfile> types;  // sorted by type; they share one frame table
  storage::SpanSamples samples;      // as read, for those who need times and threads
};
Result<SpanProfile> ReadSpanProfile(storage::Engine& engine, FrameReader& frames, TenantId tenant,
                                    std::span<const storage::SpanKey> spans,
                                    const std::string& type,
                                    std::optional<LinkKind> link = std::nullopt,
                                    const storage::Budget& budget = {});

// Samples of all spans that a TraceQL filter finds, at most kPooledSpansMax of them, newest first.
struct PooledProfile {
  MergedProfile profile;
  std::uint64_t spans = 0;  // found
  std::uint64_t spans_with_samples = 0;
  bool truncated = false;  // more spans match than were taken
};
Result<PooledProfile> ReadPooledProfile(storage::Engine& engine, FrameReader& frames,
                                        TenantId tenant, TimeRange range, const std::string& query,
                                        const std::string& type,
                                        std::optional<LinkKind> link = LinkKind::kSpan,
                                        const storage::Budget& budget = {});

}  // namespace hotspan::query
