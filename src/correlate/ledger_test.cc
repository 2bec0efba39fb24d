#include "correlate/ledger.h"

#include <gtest/gtest.h>

#include <random>

namespace hotspan::correlate {
namespace {

constexpr std::int64_t kMs = 1'000'000;
constexpr std::int64_t kPeriod = 10 * kMs;

LedgerInput SpanOf(std::int64_t ms) {
  LedgerInput input;
  input.span = {TimeNs{0}, TimeNs{ms * kMs}};
  input.source = "span";
  input.cpu_known = true;
  input.cpu_period = kPeriod;
  input.hint = "hint";
  return input;
}

void AddCpu(LedgerInput& input, std::int64_t from_ms, int count, std::uint64_t thread = 1) {
  for (int i = 0; i < count; ++i) {
    input.samples.push_back(
        {LedgerClass::kOnCpu, TimeNs{from_ms * kMs + i * kPeriod}, kPeriod, kPeriod, thread});
  }
}

const LedgerEntry& Entry(const Ledger& ledger, LedgerClass cls) {
  static const LedgerEntry kNothing;
  for (const LedgerEntry& entry : ledger.classes) {
    if (entry.cls == cls) return entry;
  }
  return kNothing;
}

std::int64_t Sum(const Ledger& ledger) {
  std::int64_t sum = 0;
  for (const LedgerEntry& entry : ledger.classes) sum += entry.ns;
  return sum;
}

TEST(Ledger, DividesOwnTimeBetweenCpuAndUnobserved) {
  LedgerInput input = SpanOf(1000);
  input.children = {{TimeNs{200 * kMs}, TimeNs{500 * kMs}}};
  AddCpu(input, 510, 40);
  const Ledger ledger = BuildLedger(input);
  EXPECT_EQ(Entry(ledger, LedgerClass::kChild).ns, 300 * kMs);
  EXPECT_EQ(Entry(ledger, LedgerClass::kChild).source, "trace");
  const LedgerEntry& cpu = Entry(ledger, LedgerClass::kOnCpu);
  EXPECT_EQ(cpu.ns, 400 * kMs);
  EXPECT_EQ(cpu.samples, 40u);
  EXPECT_EQ(cpu.source, "span");
  EXPECT_LT(cpu.low_ns, cpu.ns);
  EXPECT_GT(cpu.high_ns, cpu.ns);
  EXPECT_EQ(Entry(ledger, LedgerClass::kUnobserved).ns, 300 * kMs);
  EXPECT_EQ(Entry(ledger, LedgerClass::kUnobserved).hint, "hint");
  EXPECT_EQ(Sum(ledger), ledger.duration_ns);
  EXPECT_EQ(ledger.parallel_ns, 0);
}

TEST(Ledger, NoSampleOfALabellingSourceIsAtMostThreePointSevenPeriods) {
  const Ledger ledger = BuildLedger(SpanOf(10'000));
  const LedgerEntry& cpu = Entry(ledger, LedgerClass::kOnCpu);
  EXPECT_EQ(cpu.ns, 0);
  EXPECT_EQ(cpu.source, "span");
  EXPECT_NEAR(static_cast<double>(cpu.high_ns) / kPeriod, 3.69, 0.02);
}

TEST(Ledger, WithoutSourceNothingIsKnown) {
  LedgerInput input = SpanOf(1000);
  input.cpu_known = false;
  const Ledger ledger = BuildLedger(input);
  const LedgerEntry& cpu = Entry(ledger, LedgerClass::kOnCpu);
  EXPECT_EQ(cpu.source, "none");
  EXPECT_EQ(cpu.high_ns, 1000 * kMs);
  EXPECT_EQ(Entry(ledger, LedgerClass::kUnobserved).ns, 1000 * kMs);
}

TEST(Ledger, ScalesParallelThreadsToOwnTimeAndTellsTheSurplus) {
  LedgerInput input = SpanOf(400);
  AddCpu(input, 0, 30, 1);
  AddCpu(input, 0, 30, 2);
  input.samples.push_back({LedgerClass::kLock, TimeNs{400 * kMs}, 50 * kMs, 0, 3});
  const Ledger ledger = BuildLedger(input);
  EXPECT_EQ(Entry(ledger, LedgerClass::kOnCpu).ns, 400 * kMs);
  EXPECT_EQ(Entry(ledger, LedgerClass::kLock).ns, 0);
  EXPECT_EQ(ledger.cpu_ns, 600 * kMs);
  EXPECT_EQ(ledger.parallel_ns, 250 * kMs);
  EXPECT_EQ(Sum(ledger), ledger.duration_ns);
}

TEST(Ledger, SamplesWithinChildrenAreParallelNotWallTime) {
  LedgerInput input = SpanOf(1000);
  input.children = {{TimeNs{0}, TimeNs{600 * kMs}}};
  AddCpu(input, 100, 20, 1);  // beside the child
  AddCpu(input, 700, 10, 2);
  const Ledger ledger = BuildLedger(input);
  EXPECT_EQ(Entry(ledger, LedgerClass::kOnCpu).ns, 100 * kMs);
  EXPECT_EQ(ledger.cpu_ns, 300 * kMs);
  EXPECT_EQ(ledger.parallel_ns, 200 * kMs);
  EXPECT_EQ(Sum(ledger), ledger.duration_ns);
}

TEST(Ledger, MeasuredWaitsAreClippedToTheSpanAndItsOwnTime) {
  LedgerInput input = SpanOf(100);
  input.children = {{TimeNs{20 * kMs}, TimeNs{40 * kMs}}};
  input.samples.push_back({LedgerClass::kNet, TimeNs{50 * kMs}, 80 * kMs, 0, 1});
  const Ledger ledger = BuildLedger(input);
  EXPECT_EQ(Entry(ledger, LedgerClass::kNet).ns, 30 * kMs);  // [0, 20] and [40, 50]
  EXPECT_EQ(Entry(ledger, LedgerClass::kNet).low_ns, 30 * kMs);
  EXPECT_EQ(Sum(ledger), ledger.duration_ns);
}

TEST(Ledger, TheGrainOfSamplingIsNotParallelWork) {
  LedgerInput input = SpanOf(95);
  AddCpu(input, 0, 10);
  const Ledger ledger = BuildLedger(input);
  EXPECT_EQ(Entry(ledger, LedgerClass::kOnCpu).ns, 95 * kMs);
  EXPECT_EQ(ledger.parallel_ns, 0);
}

TEST(Ledger, AddsUpExactlyForRandomSpans) {
  std::mt19937_64 random(5);
  for (int round = 0; round < 2000; ++round) {
    LedgerInput input;
    const auto begin = static_cast<std::int64_t>(random() % 1000);
    const auto length = static_cast<std::int64_t>(random() % 1'000'000'007);
    input.span = {TimeNs{begin}, TimeNs{begin + length}};
    input.cpu_known = random() % 2 == 0;
    input.cpu_period = kPeriod;
    std::int64_t at = begin;
    while (length > 0 && random() % 4 != 0) {
      const std::int64_t from = at + static_cast<std::int64_t>(random() % 1000);
      const std::int64_t to = from + 1 + static_cast<std::int64_t>(random() % 100'000'000);
      if (to > begin + length) break;
      input.children.push_back({TimeNs{from}, TimeNs{to}});
      at = to;
    }
    for (auto samples = random() % 60; samples > 0; --samples) {
      input.samples.push_back(
          {static_cast<LedgerClass>(1 + random() % 9),
           TimeNs{begin + static_cast<std::int64_t>(random() % 1'100'000'000) - 50'000'000},
           static_cast<std::int64_t>(random() % 30'000'000), random() % 2 == 0 ? kPeriod : 0,
           random() % 3});
    }
    const Ledger ledger = BuildLedger(input);
    ASSERT_EQ(Sum(ledger), length);
    for (const LedgerEntry& entry : ledger.classes) {
      EXPECT_GE(entry.ns, 0);
      EXPECT_LE(entry.low_ns, entry.ns);
      EXPECT_GE(entry.high_ns, entry.ns);
      EXPECT_LE(entry.high_ns, length);
    }
  }
}

TEST(Ledger, IntervalsHoldTheTruthInAtLeast92Percent) {
  // A thread is on CPU for a known part of the span; looks of a jittered timer find it.
  std::mt19937_64 random(9);
  for (const double truth : {0.1, 0.5, 0.9}) {
    int covered = 0;
    for (int round = 0; round < 1000; ++round) {
      LedgerInput input = SpanOf(600);
      for (int tick = 0; tick < 60; ++tick) {
        if (std::uniform_real_distribution<double>(0, 1)(random) < truth)
          AddCpu(input, tick * 10, 1);
      }
      const LedgerEntry cpu = Entry(BuildLedger(input), LedgerClass::kOnCpu);
      const double ns = truth * 600 * kMs;
      if (static_cast<double>(cpu.low_ns) <= ns && ns <= static_cast<double>(cpu.high_ns))
        ++covered;
    }
    EXPECT_GE(covered, 920) << truth;
  }
}

TEST(WaitClass, IsReadFromTheLeaf) {
  EXPECT_EQ(WaitClassOf("[lock] futex"), LedgerClass::kLock);
  EXPECT_EQ(WaitClassOf("[io] read"), LedgerClass::kIo);
  EXPECT_EQ(WaitClassOf("[net] recvfrom"), LedgerClass::kNet);
  EXPECT_EQ(WaitClassOf("[sleep] nanosleep"), LedgerClass::kSleep);
  EXPECT_EQ(WaitClassOf("[wait] cond"), LedgerClass::kWait);
  EXPECT_EQ(WaitClassOf("[runnable]"), LedgerClass::kRunnable);
  EXPECT_EQ(WaitClassOf("ioctl"), LedgerClass::kOffCpu);
}

TEST(IndependentLooks, CountsABurstOfOneStackOnce) {
  std::vector<Look> looks = {{1, TimeNs{0}, 7},   {1, TimeNs{100}, 7},
                             {1, TimeNs{200}, 7}, {1, TimeNs{kPeriod}, 7},
                             {2, TimeNs{100}, 7}, {1, TimeNs{kPeriod + 1}, 8}};
  EXPECT_EQ(IndependentLooks(looks, kPeriod), 4u);
  std::vector<Look> untimed = {{0, TimeNs{0}, 7}, {0, TimeNs{0}, 7}};
  EXPECT_EQ(IndependentLooks(untimed, kPeriod), 2u);
}

}  // namespace
}  // namespace hotspan::correlate
