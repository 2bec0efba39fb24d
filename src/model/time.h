// Points in time and durations as types of their own, in nanoseconds.
#pragma once

#include <compare>
#include <cstdint>

namespace hotspan {

struct DurationNs {
  std::int64_t ns = 0;
  auto operator<=>(const DurationNs&) const = default;
};

// Since the Unix epoch, by the sender's clock unless a name says otherwise.
struct TimeNs {
  std::int64_t ns = 0;
  auto operator<=>(const TimeNs&) const = default;
};

constexpr DurationNs operator-(TimeNs a, TimeNs b) { return {a.ns - b.ns}; }
constexpr TimeNs operator+(TimeNs t, DurationNs d) { return {t.ns + d.ns}; }
constexpr TimeNs operator-(TimeNs t, DurationNs d) { return {t.ns - d.ns}; }
constexpr DurationNs operator+(DurationNs a, DurationNs b) { return {a.ns + b.ns}; }

inline constexpr DurationNs kSecond{1'000'000'000};
inline constexpr DurationNs kMinute{60 * kSecond.ns};
inline constexpr DurationNs kHour{60 * kMinute.ns};

// [begin, end): from begin on, before end.
struct TimeRange {
  TimeNs begin{INT64_MIN};
  TimeNs end{INT64_MAX};

  auto operator<=>(const TimeRange&) const = default;
  constexpr bool Contains(TimeNs t) const { return begin <= t && t < end; }
  // Whether [first, last], both included, has a point in this range.
  constexpr bool Touches(TimeNs first, TimeNs last) const { return first < end && last >= begin; }
};

}  // namespace hotspan
