#include "storage/catalog.h"

#include <algorithm>

namespace hotspan::storage {

void CatalogCounter::Add(std::int64_t slice, const OperationStats& stats) {
  auto [at, fresh] = operations_.try_emplace({slice, stats.service, stats.name, stats.kind}, stats);
  if (fresh) return;
  OperationStats& sum = at->second;
  sum.first = std::min(sum.first, stats.first);
  sum.last = std::max(sum.last, stats.last);
  sum.spans += stats.spans;
  sum.errors += stats.errors;
}

void CatalogCounter::Add(std::int64_t slice, const ProfileStats& stats) {
  auto [at, fresh] = profiles_.try_emplace(
      {slice, stats.service, stats.type, stats.version, stats.instance, stats.agent}, stats);
  if (fresh) return;
  ProfileStats& sum = at->second;
  sum.first = std::min(sum.first, stats.first);
  sum.last = std::max(sum.last, stats.last);
  sum.samples += stats.samples;
  sum.span_linked += stats.span_linked;
  sum.local_root_linked += stats.local_root_linked;
  if (sum.period != stats.period) sum.period = 0;
}

void CatalogCounter::Add(const SpanBatch& batch) {
  // Neighbours are mostly of few operations: a short list of views saves making keys.
  struct Seen {
    std::string_view service, name;
    SpanKind kind;
    std::int64_t slice;
    OperationStats* stats;
  };
  std::vector<Seen> seen;
  for (const SpanRow& span : batch.spans) {
    const std::string_view service = batch.ServiceOf(span);
    const std::string_view name = batch.Text(span.name);
    const std::int64_t slice = SliceOf(span.start);
    const auto known = std::ranges::find_if(seen, [&](const Seen& entry) {
      return entry.kind == span.kind && entry.slice == slice && entry.name == name &&
             entry.service == service;
    });
    OperationStats* stats = known != seen.end() ? known->stats : nullptr;
    if (stats == nullptr) {
      OperationStats fresh;
      fresh.service = service;
      fresh.name = name;
      fresh.kind = span.kind;
      fresh.first = fresh.last = span.start;
      stats =
          &operations_.try_emplace({slice, fresh.service, fresh.name, fresh.kind}, std::move(fresh))
               .first->second;
      if (seen.size() < 64) seen.push_back({service, name, span.kind, slice, stats});
    }
    stats->first = std::min(stats->first, span.start);
    stats->last = std::max(stats->last, span.start);
    ++stats->spans;
    if (span.status == SpanStatus::kError) ++stats->errors;
  }
}

void CatalogCounter::Add(const SampleBatch& batch) {
  struct Current {
    std::int64_t slice = INT64_MIN;
    ProfileStats* stats = nullptr;
  };
  std::vector<Current> current(batch.series.size());
  for (const SampleRow& sample : batch.samples) {
    Current& entry = current[sample.series];
    const std::int64_t slice = SliceOf(sample.time);
    if (entry.stats == nullptr || entry.slice != slice) {
      const SeriesRow& series = batch.series[sample.series];
      const SourceInfo source = SourceOf(batch, series);
      ProfileStats fresh;
      fresh.service = source.service;
      fresh.type = batch.Text(series.type);
      fresh.version = source.version;
      fresh.instance = source.instance;
      fresh.agent = source.agent;
      fresh.first = fresh.last = sample.time;
      fresh.period = series.period;
      auto [at, is_fresh] = profiles_.try_emplace(
          {slice, fresh.service, fresh.type, fresh.version, fresh.instance, fresh.agent}, fresh);
      if (!is_fresh && at->second.period != series.period) at->second.period = 0;
      entry = {slice, &at->second};
    }
    ProfileStats& stats = *entry.stats;
    stats.first = std::min(stats.first, sample.time);
    stats.last = std::max(stats.last, sample.time);
    ++stats.samples;
    if (sample.link != 0) {
      if (batch.links[sample.link].kind == LinkKind::kSpan) {
        ++stats.span_linked;
      } else {
        ++stats.local_root_linked;
      }
    }
  }
}

Catalog CatalogCounter::Answer(const CatalogRequest& request) const {
  Catalog catalog;
  const auto wanted = [&](const auto& stats) {
    return (request.service.empty() || stats.service == request.service) &&
           request.range.Touches(stats.first, stats.last);
  };
  for (const auto& [key, stats] : operations_) {
    if (wanted(stats)) catalog.operations.push_back(stats);
  }
  for (const auto& [key, stats] : profiles_) {
    if (wanted(stats)) catalog.profiles.push_back(stats);
  }
  return catalog;
}

}  // namespace hotspan::storage
