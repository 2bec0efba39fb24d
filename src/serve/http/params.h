// Parameters of a query string: each has a kind, a default and an error that names it.
//
//   Params params(request, now);
//   const TimeRange range = params.Range();
//   const auto limit = params.Int("limit", 20, 1, 500);
//   if (!params.status()) return ErrorResponse(params.status().error());
//
// The first error stays; after it values are defaults. Threads: one thread at a time.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/ids.h"
#include "model/time.h"
#include "serve/http/message.h"

namespace hotspan::serve {

// Seconds, milliseconds, microseconds or nanoseconds by magnitude, RFC 3339, now, now-1h.
Result<TimeNs> ParseTime(std::string_view text, TimeNs now);

class Params {
 public:
  Params(const Request& request, TimeNs now) : request_(request), now_(now) {}

  // Whether it is given and not empty.
  bool Has(std::string_view name) const { return !Text(name).empty(); }
  std::string_view Text(std::string_view name) const;
  std::string Required(std::string_view name);
  std::int64_t Int(std::string_view name, std::int64_t missing, std::int64_t min, std::int64_t max);
  std::optional<DurationNs> Duration(std::string_view name);
  // One of the words; the first is the default.
  std::string_view Word(std::string_view name, std::initializer_list<std::string_view> words);
  std::optional<TraceId> Trace(std::string_view name);
  std::optional<SpanId> Span(std::string_view name);
  // start and end; [end - `back`, now] without them.
  TimeRange Range(DurationNs back = kHour);
  // start and end where given, else all times.
  TimeRange RangeOrAll();

  TimeNs now() const { return now_; }
  const Status& status() const { return status_; }
  void SetError(std::string_view field, std::string message);

 private:
  std::optional<TimeNs> Time(std::string_view name);
  TimeRange Ordered(TimeRange range);

  const Request& request_;
  const TimeNs now_;
  Status status_;
};

// {"error":{"code","message","field"}} with the status that fits the code.
Response ErrorResponse(const Error& error);
int HttpStatusOf(Code code);

}  // namespace hotspan::serve
