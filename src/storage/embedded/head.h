// The head: acknowledged batches that are not yet cut into blocks, with indexes by trace and by
// span.
//
// Threads: HeadEntry is immutable but for lazily computed summaries, which lock for themselves.
// Head is guarded by the engine's lock while it grows and immutable once frozen.
#pragma once

#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/mutex.h"
#include "storage/catalog.h"
#include "storage/engine.h"
#include "storage/tags.h"

namespace hotspan::storage::embedded {

// Tags of the resources and spans of one slice of time.
struct SliceTags {
  TagSet resource;
  TagSet span;
};

class HeadEntry {
 public:
  // `stacks` are the numbers of the batch's stacks.
  HeadEntry(WriteBatch batch, std::vector<std::uint32_t> stacks);

  const WriteBatch& batch() const { return batch_; }
  StackNumber StackOf(const SampleRow& row) const { return StackNumber{stacks_[row.stack]}; }
  // Rows of the samples that carry a link.
  std::span<const std::uint32_t> SamplesOfLink(std::uint32_t link) const;
  std::uint64_t ThreadOfLabels(std::uint32_t labels) const { return threads_[labels]; }
  std::size_t bytes() const { return bytes_; }

  const CatalogCounter& catalog() const EXCLUDES(mutex_);
  const std::map<std::int64_t, SliceTags>& tags() const EXCLUDES(mutex_);

 private:
  WriteBatch batch_;
  std::vector<std::uint32_t> stacks_;
  std::vector<std::uint32_t> link_ends_;  // ends of each link's rows in link_rows_
  std::vector<std::uint32_t> link_rows_;
  std::vector<std::uint64_t> threads_;  // by label set
  std::size_t bytes_ = 0;
  mutable Mutex mutex_;
  mutable std::unique_ptr<CatalogCounter> catalog_ GUARDED_BY(mutex_);
  mutable std::unique_ptr<std::map<std::int64_t, SliceTags>> tags_ GUARDED_BY(mutex_);
};

class Head {
 public:
  // Where a span's row, or a link's samples, are.
  struct Place {
    std::uint32_t entry = 0;
    std::uint32_t row = 0;
  };

  void Add(std::shared_ptr<const HeadEntry> entry);

  const std::vector<std::shared_ptr<const HeadEntry>>& entries() const { return entries_; }
  std::size_t bytes() const { return bytes_; }
  bool empty() const { return entries_.empty(); }
  // Spans of a trace, in the order they came; links of a span id.
  std::span<const Place> SpansOf(const TraceId& id) const;
  std::span<const Place> LinksOf(const SpanId& id) const;

 private:
  std::vector<std::shared_ptr<const HeadEntry>> entries_;
  std::unordered_map<TraceId, std::vector<Place>, TraceIdHasher> by_trace_;
  std::unordered_map<SpanId, std::vector<Place>, SpanIdHasher> by_span_;
  std::size_t bytes_ = 0;
};

}  // namespace hotspan::storage::embedded
