// Which requests the load generator sends, and when each may be sent: a mix of routes, with a limit
// on how many requests run at once that keep a core busy for a long time.
// Threads: LoadQueue may be used by several threads; the rest by one.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace demo {

struct PlannedRequest {
  std::string route;
  std::string target;
  int expected_status = 200;
  // Counts towards the limit of heavy requests.
  bool heavy = false;
};

// Route name -> weight.
using Mix = std::map<std::string, int>;

// The shop's usual mix.
Mix DefaultMix();

// Reads "order=4,users=2"; none where a route is unknown or a weight is no number up to 1000.
std::optional<Mix> ParseMix(std::string_view text);

// Draws requests by the mix, the same ones for the same seed. `prices` draws come in twos: one that
// refreshes the prices, and one that wants to read them meanwhile.
class LoadPlan {
 public:
  LoadPlan(Mix mix, std::uint64_t seed);

  // The next `count` requests; each route has its part of them to within one.
  std::vector<PlannedRequest> Next(int count);

 private:
  std::vector<PlannedRequest> Make(const std::string& route);
  std::uint64_t Random();

  const Mix mix_;
  std::uint64_t random_;
  std::map<std::string, std::uint64_t> made_;
  // What each route has a right to but did not get yet.
  std::map<std::string, double> credit_;
};

class LoadQueue {
 public:
  explicit LoadQueue(int heavy_max) : heavy_max_(heavy_max) {}

  void Add(std::vector<PlannedRequest> requests);
  // The first request that may run now; waits for one. None after Close, at once, or when nothing
  // is left after Finish.
  std::optional<PlannedRequest> Take();
  // A request that Take gave is over.
  void Done(const PlannedRequest& request);
  // No more will be added.
  void Finish();
  // Drops what has not begun.
  void Close();
  std::size_t Waiting() const;

 private:
  const int heavy_max_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<PlannedRequest> waiting_;
  int heavy_running_ = 0;
  bool finished_ = false;
};

}  // namespace demo
