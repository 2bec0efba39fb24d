// What is normal for an operation: percentiles of its spans around a point in time.
//
// Threads: functions; any thread.
#pragma once

#include <string>

#include "base/result.h"
#include "correlate/cohort.h"
#include "correlate/explanation.h"
#include "storage/engine.h"

namespace hotspan::correlate {

// Of the newest spans within an hour before and after, at most kBaselineSpansMax of them.
inline constexpr std::size_t kBaselineSpansMax = 2000;

Result<Baseline> ReadBaseline(storage::Engine& engine, const Operation& operation, TimeNs around,
                              DurationNs duration, const storage::Budget& budget);

// The hour before and after.
TimeRange HourAround(TimeNs time);

}  // namespace hotspan::correlate
