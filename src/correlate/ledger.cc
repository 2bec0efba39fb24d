#include "correlate/ledger.h"

#include <algorithm>
#include <array>
#include <tuple>
#include <unordered_set>

#include "correlate/statistics.h"

namespace hotspan::correlate {
namespace {

using query::TimeInterval;

// What the samples of one class add up to.
struct ClassSum {
  std::int64_t own = 0;     // within the span's own time
  std::int64_t beside = 0;  // within its children's time
  std::uint64_t samples = 0;
  std::int64_t period = 0;
  bool measured = true;  // no sample of it was a statistical one
};
using ClassSums = std::array<ClassSum, kLedgerClasses>;

std::int64_t Overlap(const std::vector<TimeInterval>& intervals, TimeInterval window) {
  std::int64_t sum = 0;
  auto at = std::lower_bound(
      intervals.begin(), intervals.end(), window.begin,
      [](const TimeInterval& interval, TimeNs time) { return interval.end <= time; });
  for (; at != intervals.end() && at->begin < window.end; ++at) {
    sum += std::min(at->end.ns, window.end.ns) - std::max(at->begin.ns, window.begin.ns);
  }
  return sum;
}

// Splits one sample between own time and the children's.
void Place(const LedgerInput& input, const LedgerSample& sample, ClassSum& sum) {
  // A sample whose time lies outside of the span (profiles without times for their samples, clocks
  // apart) can't be placed within it and counts for the span's own time.
  const bool inside = input.span.begin <= sample.time && sample.time <= input.span.end;
  // A short or statistical sample is a point; a long measured wait covers what came before its end.
  const std::int64_t point_max = std::max<std::int64_t>(2 * sample.period, 1'000'000);
  std::int64_t beside = 0;
  if (inside && (sample.period > 0 || sample.value <= point_max)) {
    const TimeInterval point{sample.time, sample.time + DurationNs{1}};
    if (Overlap(input.children, point) > 0) beside = sample.value;
  } else if (inside) {
    const TimeNs begin = std::max(input.span.begin, sample.time - DurationNs{sample.value});
    beside = Overlap(input.children, {begin, sample.time});
    // What lies before the span began is not this span's.
    sum.own += (sample.time - begin).ns - beside;
    sum.beside += beside;
    return;
  }
  sum.beside += beside;
  sum.own += sample.value - beside;
}

ClassSums SumUp(const LedgerInput& input) {
  ClassSums sums;
  for (const LedgerSample& sample : input.samples) {
    if (sample.value <= 0) continue;
    ClassSum& sum = sums[static_cast<std::size_t>(sample.cls)];
    ++sum.samples;
    if (sample.period > 0) {
      sum.measured = false;
      sum.period = sample.period;
    }
    Place(input, sample, sum);
  }
  return sums;
}

// The interval of a class's time within own time R: of the looks that R offers at this period,
// those that found the class.
void SetInterval(const ClassSum& sum, std::int64_t own_ns, LedgerEntry& entry) {
  if (sum.measured || sum.period <= 0) {
    entry.low_ns = entry.high_ns = entry.ns;
    return;
  }
  const double period = static_cast<double>(sum.period);
  const double looks = static_cast<double>(own_ns) / period;
  const double hits = std::min(static_cast<double>(sum.own) / period, looks);
  const ShareInterval share = WilsonInterval(hits, looks);
  const auto own = static_cast<double>(own_ns);
  entry.low_ns = std::min(entry.ns, static_cast<std::int64_t>(share.low * own));
  entry.high_ns = std::clamp(static_cast<std::int64_t>(share.high * own), entry.ns, own_ns);
}

bool SeveralThreads(const LedgerInput& input) {
  std::unordered_set<std::uint64_t> threads;
  for (const LedgerSample& sample : input.samples) {
    threads.insert(sample.thread);
    // Without thread ids nothing speaks against several.
    if (sample.thread == 0 || threads.size() > 1) return true;
  }
  return false;
}

LedgerEntry MakeEntry(LedgerClass cls, std::int64_t ns, std::string source, std::uint64_t samples) {
  LedgerEntry entry;
  entry.cls = cls;
  entry.ns = entry.low_ns = entry.high_ns = ns;
  entry.source = std::move(source);
  entry.samples = samples;
  return entry;
}

}  // namespace

std::int64_t OwnTime(const LedgerInput& input) {
  std::int64_t own = input.span.duration().ns;
  for (const TimeInterval& child : input.children) own -= child.duration().ns;
  return own;
}

Ledger BuildLedger(const LedgerInput& input) {
  Ledger ledger;
  ledger.duration_ns = input.span.duration().ns;
  const std::int64_t own = OwnTime(input);
  ledger.classes.push_back(MakeEntry(LedgerClass::kChild, ledger.duration_ns - own, "trace", 0));

  const ClassSums sums = SumUp(input);
  std::int64_t left = own;
  std::int64_t low_sum = 0;
  std::int64_t high_sum = 0;
  std::int64_t surplus = 0;
  std::int64_t longest_period = 0;
  for (std::size_t i = 1; i + 1 < kLedgerClasses; ++i) {
    const auto cls = static_cast<LedgerClass>(i);
    ClassSum sum = sums[i];
    // A labelling source without any sample is a measurement of (nearly) nothing.
    if (cls == LedgerClass::kOnCpu && sum.samples == 0 && input.cpu_known) {
      sum.measured = false;
      sum.period = input.cpu_period;
    }
    if (cls != LedgerClass::kOnCpu && sum.samples == 0) continue;
    const bool known = sum.samples > 0 || (cls == LedgerClass::kOnCpu && input.cpu_known);
    const std::int64_t taken = std::min(left, sum.own);
    left -= taken;
    surplus += sum.own - taken + sum.beside;
    longest_period = std::max(longest_period, sum.period);
    LedgerEntry entry = MakeEntry(cls, taken, known ? input.source : "none", sum.samples);
    SetInterval(sum, own, entry);
    // What earlier classes took is not this one's to have.
    if (!known) entry.high_ns = left;
    low_sum += entry.low_ns;
    high_sum += entry.high_ns;
    if (cls == LedgerClass::kOnCpu || cls == LedgerClass::kGc) {
      ledger.cpu_ns += sum.own + sum.beside;
    }
    ledger.classes.push_back(std::move(entry));
  }
  // One thread's samples exceed its time only by the grain of sampling.
  if (surplus > 2 * longest_period || (surplus > 0 && SeveralThreads(input))) {
    ledger.parallel_ns = surplus;
  }
  LedgerEntry unobserved = MakeEntry(LedgerClass::kUnobserved, left, "none", 0);
  unobserved.low_ns = std::clamp<std::int64_t>(own - high_sum, 0, left);
  unobserved.high_ns = std::clamp(own - low_sum, left, own);
  if (left > 0) unobserved.hint = input.hint;
  ledger.classes.push_back(std::move(unobserved));
  return ledger;
}

LedgerClass WaitClassOf(std::string_view leaf) {
  constexpr std::pair<std::string_view, LedgerClass> kClasses[] = {
      {"[lock]", LedgerClass::kLock}, {"[io]", LedgerClass::kIo},
      {"[net]", LedgerClass::kNet},   {"[sleep]", LedgerClass::kSleep},
      {"[wait]", LedgerClass::kWait}, {"[runnable]", LedgerClass::kRunnable},
  };
  for (const auto& [prefix, cls] : kClasses) {
    if (leaf.starts_with(prefix)) return cls;
  }
  return LedgerClass::kOffCpu;
}

bool IsCpuType(std::string_view type) {
  return type.starts_with("process_cpu:cpu:nanoseconds:") ||
         type.starts_with("cpu:cpu:nanoseconds:");
}

bool IsOffCpuType(std::string_view type) { return type.starts_with("off_cpu:off_cpu:nanoseconds"); }

std::uint64_t IndependentLooks(std::vector<Look>& samples, std::int64_t period) {
  std::sort(samples.begin(), samples.end(), [](const Look& a, const Look& b) {
    return std::tie(a.thread, a.time, a.stack) < std::tie(b.thread, b.time, b.stack);
  });
  std::uint64_t looks = 0;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const bool burst = i > 0 && samples[i].thread == samples[i - 1].thread &&
                       samples[i].stack == samples[i - 1].stack &&
                       samples[i].time != samples[i - 1].time &&
                       (samples[i].time - samples[i - 1].time).ns * 2 < period;
    if (!burst) ++looks;
  }
  return looks;
}

}  // namespace hotspan::correlate
