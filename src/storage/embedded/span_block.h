// Span chunks: up to 1,024 spans of one slice of time. The hot part holds what scans look at (ids,
// times, names, services) as columns readable in place; wide parts of 128 spans each hold the rest.
//
// Threads: values and views.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/span.h"
#include "storage/embedded/column.h"
#include "storage/engine.h"

namespace hotspan::storage::embedded {

inline constexpr std::uint32_t kSpansPerChunk = 1024;
inline constexpr std::uint32_t kSpansPerWidePart = 128;

struct SpanRef {
  const SpanBatch* batch = nullptr;
  const SpanRow* row = nullptr;
};

struct EncodedSpanChunk {
  std::string hot;
  std::vector<std::string> wide;
};

// Encodes at most kSpansPerChunk spans in their order.
EncodedSpanChunk EncodeSpanChunk(const std::vector<SpanRef>& spans);

// A view of a hot part; valid while its bytes are.
class HotSpans {
 public:
  static Result<HotSpans> Open(std::string_view bytes);

  std::uint32_t size() const { return rows_; }
  TimeNs min_start() const { return min_start_; }
  TimeNs max_start() const { return max_start_; }
  DurationNs max_duration() const { return max_duration_; }
  std::int64_t start_ns(std::uint32_t row) const { return start_[row]; }
  std::int64_t duration_ns(std::uint32_t row) const { return duration_[row]; }
  std::uint32_t name(std::uint32_t row) const { return static_cast<std::uint32_t>(name_[row]); }
  std::uint32_t resource(std::uint32_t row) const {
    return static_cast<std::uint32_t>(resource_[row]);
  }
  const std::vector<std::string_view>& names() const { return names_; }
  const std::vector<std::string_view>& services() const { return services_; }  // by resource
  // Ids, times, kind and status of a row; slices and indices are left zero.
  SpanRow Row(std::uint32_t row) const;
  // Appends a row to `out`; `wide` is its wide part or empty where that is not wanted. Resources
  // and scopes are appended once for each call sequence with the same `appender`.
  class Appender;

 private:
  friend class Appender;
  std::uint32_t rows_ = 0;
  TimeNs min_start_, max_start_;
  DurationNs max_duration_;
  std::vector<std::string_view> names_;
  std::vector<std::string_view> services_;
  std::string_view trace_ids_, span_ids_, parents_, kinds_, statuses_;
  ColumnView start_, duration_, name_, resource_, scope_;
  std::string_view sources_;  // resources and scopes in full, for Appender
};

// Copies rows of one chunk into a batch.
class HotSpans::Appender {
 public:
  Appender(const HotSpans& chunk, SpanBatch& out);
  // `wide_part` is the bytes of the wide part that holds the row, or empty.
  Status Append(std::uint32_t row, std::string_view wide_part);

 private:
  Status LoadSources();
  const HotSpans& chunk_;
  SpanBatch& out_;
  bool loaded_ = false;
  struct Source {
    std::string_view bytes;
    std::uint32_t index = UINT32_MAX;  // in out_, once appended
  };
  std::vector<Source> resources_;
  std::vector<Source> scopes_;
};

}  // namespace hotspan::storage::embedded
