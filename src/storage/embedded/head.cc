#include "storage/embedded/head.h"

#include "storage/source.h"

namespace hotspan::storage::embedded {
namespace {

std::size_t BytesHeld(const WriteBatch& batch) {
  std::size_t bytes = 256;
  if (batch.spans) {
    bytes += batch.spans->arena.size() + batch.spans->spans.size() * (sizeof(SpanRow) + 16);
  }
  if (batch.samples) {
    const SampleBatch& samples = *batch.samples;
    bytes += samples.arena.size() + samples.samples.size() * (sizeof(SampleRow) + 4) +
             samples.stack_locations.size() * 4 + samples.locations.size() * sizeof(LocationRow) +
             samples.links.size() * sizeof(LinkRow);
  }
  return bytes;
}

}  // namespace

HeadEntry::HeadEntry(WriteBatch batch, std::vector<std::uint32_t> stacks)
    : batch_(std::move(batch)), stacks_(std::move(stacks)), bytes_(BytesHeld(batch_)) {
  if (!batch_.samples) return;
  const SampleBatch& samples = *batch_.samples;
  for (const Slice& labels : samples.label_sets) {
    threads_.push_back(ThreadOf(samples.Attributes(labels)));
  }
  // Rows by link, by counting.
  link_ends_.assign(samples.links.size(), 0);
  std::uint32_t linked = 0;
  for (const SampleRow& row : samples.samples) {
    if (row.link == 0) continue;
    ++link_ends_[row.link];
    ++linked;
  }
  std::uint32_t end = 0;
  for (auto& count : link_ends_) {
    end += count;
    count = end - count;
  }
  link_rows_.resize(linked);
  for (std::uint32_t i = 0; i < samples.samples.size(); ++i) {
    const std::uint32_t link = samples.samples[i].link;
    if (link != 0) link_rows_[link_ends_[link]++] = i;
  }
}

std::span<const std::uint32_t> HeadEntry::SamplesOfLink(std::uint32_t link) const {
  const std::uint32_t begin = link == 0 ? 0 : link_ends_[link - 1];
  return std::span(link_rows_).subspan(begin, link_ends_[link] - begin);
}

const CatalogCounter& HeadEntry::catalog() const {
  MutexLock lock(mutex_);
  if (!catalog_) {
    catalog_ = std::make_unique<CatalogCounter>();
    if (batch_.spans) catalog_->Add(*batch_.spans);
    if (batch_.samples) catalog_->Add(*batch_.samples);
  }
  return *catalog_;
}

const std::map<std::int64_t, SliceTags>& HeadEntry::tags() const {
  MutexLock lock(mutex_);
  if (tags_) return *tags_;
  tags_ = std::make_unique<std::map<std::int64_t, SliceTags>>();
  if (!batch_.spans) return *tags_;
  std::uint32_t resource = UINT32_MAX;
  std::int64_t slice = INT64_MIN;
  SliceTags* current = nullptr;
  for (const SpanRow& row : batch_.spans->spans) {
    const std::int64_t row_slice = SliceOf(row.start);
    if (current == nullptr || row_slice != slice) {
      current = &(*tags_)[row_slice];
      slice = row_slice;
      resource = UINT32_MAX;
    }
    if (row.resource != resource) {
      resource = row.resource;
      current->resource.AddAll(
          batch_.spans->Attributes(batch_.spans->resources[resource].attributes));
    }
    current->span.AddAll(batch_.spans->Attributes(row.attributes));
  }
  return *tags_;
}

void Head::Add(std::shared_ptr<const HeadEntry> entry) {
  const auto number = static_cast<std::uint32_t>(entries_.size());
  const WriteBatch& batch = entry->batch();
  if (batch.spans) {
    for (std::uint32_t row = 0; row < batch.spans->spans.size(); ++row) {
      by_trace_[batch.spans->spans[row].trace_id].push_back({number, row});
    }
  }
  if (batch.samples) {
    for (std::uint32_t link = 1; link < batch.samples->links.size(); ++link) {
      if (!entry->SamplesOfLink(link).empty()) {
        by_span_[batch.samples->links[link].span_id].push_back({number, link});
      }
    }
  }
  bytes_ += entry->bytes();
  entries_.push_back(std::move(entry));
}

std::span<const Head::Place> Head::SpansOf(const TraceId& id) const {
  const auto found = by_trace_.find(id);
  return found == by_trace_.end() ? std::span<const Place>()
                                  : std::span<const Place>(found->second);
}

std::span<const Head::Place> Head::LinksOf(const SpanId& id) const {
  const auto found = by_span_.find(id);
  return found == by_span_.end() ? std::span<const Place>() : std::span<const Place>(found->second);
}

}  // namespace hotspan::storage::embedded
