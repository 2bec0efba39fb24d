// Splits a thread's CPU time over named parts of work by fixed shares, so that the truth of a
// profile is known by construction: each part repeats real work while it is behind its share.
// Threads: an object belongs to the thread that made it, whose CPU clock it reads.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace demo {

class CpuBudget {
 public:
  // `shares` sum to 1. `seed` makes the lengths of the rounds.
  CpuBudget(std::vector<double> shares, std::chrono::nanoseconds total, std::uint64_t seed);

  // Begins a round: raises what each part may have spent by its share of a random length, so that
  // no rhythm meets the profiler's. False when the total is spent.
  bool NextRound();
  // Charges the time since the last reading of the clock to `part`; true while it is behind.
  bool Owes(std::size_t part);
  // A number around `mean`, from half of it to one and a half: how often to repeat the work before
  // the clock is read again.
  int Repeats(int mean);

  std::chrono::nanoseconds Spent(std::size_t part) const;

 private:
  std::uint64_t Random();

  const std::vector<double> shares_;
  const double total_ns_;
  std::uint64_t random_;
  double allowed_ns_ = 0;
  std::vector<std::int64_t> spent_ns_;
  std::int64_t last_ns_;
};

// CPU time of the calling thread.
std::chrono::nanoseconds ThreadCpuTime();

}  // namespace demo
