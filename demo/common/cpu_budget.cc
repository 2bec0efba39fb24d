#include "demo/common/cpu_budget.h"

#include <time.h>

#include <algorithm>
#include <utility>

namespace demo {
namespace {

// Mean length of a round. The smallest share, 5 %, is then a millisecond: several readings of the
// clock at some 100 us each.
constexpr double kRoundNs = 20e6;

}  // namespace

std::chrono::nanoseconds ThreadCpuTime() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
}

CpuBudget::CpuBudget(std::vector<double> shares, std::chrono::nanoseconds total, std::uint64_t seed)
    : shares_(std::move(shares)),
      total_ns_(static_cast<double>(total.count())),
      random_(seed * 0x9e3779b97f4a7c15u + 0x632be59bd9b4e019u),
      spent_ns_(shares_.size(), 0),
      last_ns_(ThreadCpuTime().count()) {}

bool CpuBudget::NextRound() {
  if (allowed_ns_ >= total_ns_) return false;
  const double stretch = 0.5 + static_cast<double>(Random() >> 11) * 0x1p-53;
  allowed_ns_ = std::min(total_ns_, allowed_ns_ + kRoundNs * stretch);
  return true;
}

bool CpuBudget::Owes(std::size_t part) {
  const std::int64_t now = ThreadCpuTime().count();
  spent_ns_[part] += now - std::exchange(last_ns_, now);
  return static_cast<double>(spent_ns_[part]) < allowed_ns_ * shares_[part];
}

int CpuBudget::Repeats(int mean) {
  return mean - mean / 2 + static_cast<int>(Random() % static_cast<std::uint64_t>(mean + 1));
}

std::chrono::nanoseconds CpuBudget::Spent(std::size_t part) const {
  return std::chrono::nanoseconds(spent_ns_[part]);
}

std::uint64_t CpuBudget::Random() {
  random_ ^= random_ << 13;
  random_ ^= random_ >> 7;
  random_ ^= random_ << 17;
  return random_;
}

}  // namespace demo
