#include "correlate/statistics.h"

#include <algorithm>
#include <cmath>

namespace hotspan::correlate {
namespace {

constexpr double kZ975 = 1.959964;

}  // namespace

ShareInterval WilsonInterval(double hits, double n, double z) {
  if (!(n > 0)) return {0, 0, 1};
  hits = std::clamp(hits, 0.0, n);
  const double p = hits / n;
  const double z2 = z * z;
  const double centre = (p + z2 / (2 * n)) / (1 + z2 / n);
  const double half = z / (1 + z2 / n) * std::sqrt(p * (1 - p) / n + z2 / (4 * n * n));
  ShareInterval interval{p, std::max(0.0, centre - half), std::min(1.0, centre + half)};
  const double exact = 1 - std::pow(0.025, 1 / n);
  if (hits <= 0) {
    interval.low = 0;
    interval.high = exact;
  } else if (hits >= n) {
    interval.low = 1 - exact;
    interval.high = 1;
  }
  return interval;
}

double StudentT975(double degrees) {
  if (degrees < 1) degrees = 1;
  if (degrees < 1.5) return 12.706;
  if (degrees < 2.5) return 4.303;
  const double z = kZ975;
  const double z3 = z * z * z;
  const double z5 = z3 * z * z;
  const double z7 = z5 * z * z;
  const double v = degrees;
  return z + (z3 + z) / (4 * v) + (5 * z5 + 16 * z3 + 3 * z) / (96 * v * v) +
         (3 * z7 + 19 * z5 + 17 * z3 - 15 * z) / (384 * v * v * v);
}

ShareInterval ClusterInterval(std::span<const double> part, std::span<const double> whole,
                              double samples_n) {
  double part_sum = 0;
  double whole_sum = 0;
  double clusters = 0;
  for (std::size_t i = 0; i < whole.size(); ++i) {
    part_sum += part[i];
    whole_sum += whole[i];
    if (whole[i] > 0) ++clusters;
  }
  if (whole_sum <= 0) return {0, 0, 1};
  const double p = std::clamp(part_sum / whole_sum, 0.0, 1.0);
  if (clusters < 2 || p <= 0 || p >= 1) return WilsonInterval(p * samples_n, samples_n);
  double squares = 0;
  for (std::size_t i = 0; i < whole.size(); ++i) {
    const double residual = part[i] - p * whole[i];
    squares += residual * residual;
  }
  const double variance = squares * clusters / (clusters - 1) / (whole_sum * whole_sum);
  const double n = variance > 0 ? std::min(samples_n, p * (1 - p) / variance) : samples_n;
  return WilsonInterval(p * n, n, StudentT975(clusters - 1));
}

MeanInterval ClusterMean(std::span<const double> values) {
  MeanInterval result;
  if (values.empty()) return result;
  const auto n = static_cast<double>(values.size());
  for (const double value : values) result.mean += value / n;
  result.low = result.high = result.mean;
  if (values.size() < 2) return result;
  double squares = 0;
  for (const double value : values) squares += (value - result.mean) * (value - result.mean);
  const double half = StudentT975(n - 1) * std::sqrt(squares / (n - 1) / n);
  result.low = std::max(0.0, result.mean - half);
  result.high = result.mean + half;
  return result;
}

}  // namespace hotspan::correlate
