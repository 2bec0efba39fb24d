// What the load generator measured: counts and latencies per route and of all.
// Threads: Add and the readers may be called from several threads.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace demo {

class LoadReport {
 public:
  void Add(const std::string& route, double milliseconds, bool ok, const std::string& problem);

  std::uint64_t Ok() const;
  std::uint64_t Failed() const;
  // A table of all routes and the whole, with the last problem seen.
  std::string Text(double seconds) const;
  // One JSON object.
  std::string Json(double seconds) const;

 private:
  struct Latencies {
    std::uint64_t ok = 0;
    std::uint64_t failed = 0;
    double sum = 0;
    double min = 0;
    double max = 0;
    // The newest kKept ones, in a ring.
    std::vector<double> kept;
  };
  static void Record(double milliseconds, bool ok, Latencies* latencies);
  static std::string Line(const std::string& name, const Latencies& latencies);
  static std::string JsonOf(const Latencies& latencies);

  mutable std::mutex mutex_;
  Latencies all_;
  std::map<std::string, Latencies> routes_;
  std::string last_problem_;
};

// The value below which `share` of the values lie, by nearest rank; 0 of none.
double Percentile(std::vector<double> values, double share);

}  // namespace demo
