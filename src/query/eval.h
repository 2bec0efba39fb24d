// Evaluates TraceQL filters on spans, with Tempo's rules for missing attributes and mixed types.
//
// Threads: a compiled filter is immutable; Matches may be called from any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "model/span.h"
#include "query/traceql/ast.h"

namespace hotspan::query {

// What trace-level intrinsics need of a whole trace. Refers to the batch, which must outlive it.
class TraceView {
 public:
  explicit TraceView(const SpanBatch& trace);

  const SpanBatch& trace() const { return trace_; }
  // The earliest span without a parent; null if there is none.
  const SpanRow* root() const { return root_; }
  TimeNs start() const { return start_; }
  DurationNs duration() const { return end_ - start_; }

  // Of the span at an index of the batch. Nested sets number each root's tree depth first; a root's
  // parent is -1, spans that no root leads to have 0 in all three.
  std::int64_t child_count(std::size_t index) const { return child_counts_[index]; }
  std::int64_t nested_left(std::size_t index) const { return left_[index]; }
  std::int64_t nested_right(std::size_t index) const { return right_[index]; }
  std::int64_t nested_parent(std::size_t index) const { return parent_[index]; }

 private:
  void Number(const std::vector<std::vector<std::uint32_t>>& children,
              const std::vector<std::uint32_t>& roots);

  const SpanBatch& trace_;
  const SpanRow* root_ = nullptr;
  TimeNs start_;
  TimeNs end_;
  std::vector<std::int64_t> child_counts_;
  std::vector<std::int64_t> left_;
  std::vector<std::int64_t> right_;
  std::vector<std::int64_t> parent_;
};

class SpanFilter {
 public:
  // Compiles the regular expressions. The expression has passed traceql::Check.
  static Result<SpanFilter> Compile(std::shared_ptr<const traceql::Filter> filter);
  SpanFilter(SpanFilter&&) noexcept;
  SpanFilter& operator=(SpanFilter&&) noexcept;
  ~SpanFilter();

  // Whether an intrinsic of the whole trace is named.
  bool needs_trace() const;
  // Whether more than ids, times, kind, status, name and service is named.
  bool needs_wide() const;
  // `index` names a span of the view's batch.
  bool Matches(const TraceView& view, std::size_t index) const;
  // False if the span can't match, whatever the rest of its trace; looks at conditions on the span
  // alone.
  bool MightMatch(const SpanBatch& batch, const SpanRow& span) const;

  const traceql::Filter& filter() const;

 private:
  struct Compiled;
  explicit SpanFilter(std::unique_ptr<Compiled> compiled);

  std::unique_ptr<Compiled> compiled_;
};

}  // namespace hotspan::query
