// The ledger: every nanosecond of a span's wall time in exactly one class.
//
// Time that the critical path inside of the span gives to its children is `child`; the rest, its
// own time R, is divided by the samples of this span. Samples within a child's time come from
// threads that ran beside it: they count as cpu_ns and parallel_ns, not as wall time. If the
// classes together exceed R they claim it in the order of LedgerClass and the surplus is parallel
// time. All sums are in whole nanoseconds, so nothing is left to round.
//
// Threads: pure functions over values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "correlate/explanation.h"
#include "query/trace_tree.h"

namespace hotspan::correlate {

struct LedgerSample {
  LedgerClass cls = LedgerClass::kOnCpu;
  TimeNs time;               // of a waiting sample: the end of the wait
  std::int64_t value = 0;    // nanoseconds it stands for
  std::int64_t period = 0;   // 0: the value was measured, not sampled
  std::uint64_t thread = 0;  // 0: not known
};

struct LedgerInput {
  query::TimeInterval span;
  std::vector<query::TimeInterval> children;  // disjoint, ascending, inside of the span
  std::vector<LedgerSample> samples;          // of this span only
  std::string source;                         // name of the tier the samples came by
  bool cpu_known = false;    // a source labels this span's CPU samples: none is a measurement
  bool waits_known = false;  // the same of waiting
  std::int64_t cpu_period = 0;
  std::string hint;  // what would show unobserved time
};

Ledger BuildLedger(const LedgerInput& input);

// The own time R: duration minus children.
std::int64_t OwnTime(const LedgerInput& input);

// The class of a waiting sample by its leaf's name: "[lock] ...", "[io] ...", else off_cpu.
LedgerClass WaitClassOf(std::string_view leaf_function);

bool IsCpuType(std::string_view profile_type);     // time on CPU in nanoseconds
bool IsOffCpuType(std::string_view profile_type);  // time off CPU in nanoseconds

// How many independent looks at one thread's time samples are: those of the same stack closer than
// half a period were delivered in a burst and are one. `samples` is sorted by (thread, time) here.
struct Look {
  std::uint64_t thread = 0;
  TimeNs time;
  std::uint32_t stack = 0;
};
std::uint64_t IndependentLooks(std::vector<Look>& samples, std::int64_t period);

}  // namespace hotspan::correlate
