#include "correlate/statistics.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace hotspan::correlate {
namespace {

TEST(WilsonInterval, MatchesPublishedValues) {
  // Newcombe, Statistics in Medicine 17 (1998), table I: 81/263, 15/148 and 1/29.
  const ShareInterval a = WilsonInterval(81, 263);
  EXPECT_NEAR(a.low, 0.2553, 1e-4);
  EXPECT_NEAR(a.high, 0.3662, 1e-4);
  const ShareInterval b = WilsonInterval(15, 148);
  EXPECT_NEAR(b.low, 0.0624, 1e-4);
  EXPECT_NEAR(b.high, 0.1605, 1e-4);
  const ShareInterval c = WilsonInterval(1, 29);
  EXPECT_NEAR(c.low, 0.0061, 1e-4);
  EXPECT_NEAR(c.high, 0.1718, 1e-4);
}

TEST(WilsonInterval, NoHitsMeansUpToThreePointSevenLooks) {
  const ShareInterval none = WilsonInterval(0, 1000);
  EXPECT_EQ(none.low, 0);
  EXPECT_NEAR(none.high * 1000, 3.69, 0.02);
  const ShareInterval all = WilsonInterval(1000, 1000);
  EXPECT_EQ(all.high, 1);
  EXPECT_NEAR((1 - all.low) * 1000, 3.69, 0.02);
}

TEST(WilsonInterval, KnowsNothingWithoutLooks) {
  const ShareInterval nothing = WilsonInterval(0, 0);
  EXPECT_EQ(nothing.low, 0);
  EXPECT_EQ(nothing.high, 1);
}

TEST(WilsonInterval, CoversBinomialsInAtLeast92Percent) {
  std::mt19937_64 random(7);
  for (const double p : {0.05, 0.15, 0.35, 0.8}) {
    for (const int n : {20, 56, 300}) {
      std::binomial_distribution<int> hits(n, p);
      int covered = 0;
      constexpr int kRounds = 4000;
      for (int i = 0; i < kRounds; ++i) {
        const ShareInterval interval = WilsonInterval(hits(random), n);
        if (interval.low <= p && p <= interval.high) ++covered;
      }
      EXPECT_GE(covered, kRounds * 92 / 100) << "p " << p << " n " << n;
    }
  }
}

TEST(StudentT, MatchesTables) {
  EXPECT_NEAR(StudentT975(1), 12.706, 0.01);
  EXPECT_NEAR(StudentT975(2), 4.303, 0.01);
  EXPECT_NEAR(StudentT975(5), 2.571, 0.01);
  EXPECT_NEAR(StudentT975(30), 2.042, 0.005);
  EXPECT_NEAR(StudentT975(1e6), 1.960, 0.001);
}

TEST(ClusterInterval, CoversWhereSamplesOfASpanAreAlike) {
  // Each span's own share varies around 0.3 and it has 20 samples: far fewer independent looks than
  // samples.
  std::mt19937_64 random(11);
  int covered = 0;
  int naive = 0;
  constexpr int kRounds = 1000;
  for (int round = 0; round < kRounds; ++round) {
    std::vector<double> part;
    std::vector<double> whole;
    double hits = 0;
    for (int span = 0; span < 40; ++span) {
      const double p = std::uniform_real_distribution<double>(0, 0.6)(random);
      part.push_back(std::binomial_distribution<int>(20, p)(random));
      whole.push_back(20);
      hits += part.back();
    }
    const ShareInterval interval = ClusterInterval(part, whole, 800);
    if (interval.low <= 0.3 && 0.3 <= interval.high) ++covered;
    const ShareInterval simple = WilsonInterval(hits, 800);
    if (simple.low <= 0.3 && 0.3 <= simple.high) ++naive;
  }
  EXPECT_GE(covered, kRounds * 92 / 100);
  EXPECT_LT(naive, covered);
}

TEST(ClusterInterval, IsNeverNarrowerThanIndependentSamplesAllow) {
  const std::vector<double> part(50, 3);
  const std::vector<double> whole(50, 10);
  const ShareInterval interval = ClusterInterval(part, whole, 500);
  const ShareInterval independent = WilsonInterval(150, 500);
  EXPECT_LE(interval.low, independent.low + 1e-12);
  EXPECT_GE(interval.high, independent.high - 1e-12);
}

TEST(ClusterMean, CoversTheMean) {
  std::mt19937_64 random(3);
  int covered = 0;
  for (int round = 0; round < 1000; ++round) {
    std::vector<double> values;
    for (int i = 0; i < 30; ++i) {
      values.push_back(std::exponential_distribution<double>(0.1)(random));
    }
    const MeanInterval interval = ClusterMean(values);
    if (interval.low <= 10 && 10 <= interval.high) ++covered;
  }
  EXPECT_GE(covered, 900);
  EXPECT_EQ(ClusterMean({}).mean, 0);
}

}  // namespace
}  // namespace hotspan::correlate
