#include "demo/load/load_plan.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "demo/common/http_message.h"

namespace demo {

Mix DefaultMix() {
  return {{"home", 40},     {"order", 40},  {"users", 20},
          {"checkout", 20}, {"prices", 20}, {"report", 10}};
}

std::optional<Mix> ParseMix(std::string_view text) {
  const Mix known = DefaultMix();
  Mix mix;
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    const std::string_view entry = text.substr(0, comma);
    text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
    const std::size_t equals = entry.find('=');
    if (equals == std::string_view::npos) return std::nullopt;
    const std::string route(entry.substr(0, equals));
    const std::optional<std::int64_t> weight = ParseNumber(entry.substr(equals + 1), 1, 1000);
    if (!weight || !known.contains(route)) return std::nullopt;
    mix[route] = static_cast<int>(*weight);
  }
  if (mix.empty()) return std::nullopt;
  return mix;
}

LoadPlan::LoadPlan(Mix mix, std::uint64_t seed)
    : mix_(std::move(mix)), random_(seed * 0x9e3779b97f4a7c15u + 0x632be59bd9b4e019u) {}

std::vector<PlannedRequest> LoadPlan::Next(int count) {
  int sum = 0;
  for (const auto& [route, weight] : mix_) sum += weight;
  const double whole = sum;
  std::vector<std::string> draws;
  while (static_cast<int>(draws.size()) < count) {
    for (const auto& [route, weight] : mix_) credit_[route] += weight / whole;
    const auto richest = std::max_element(
        credit_.begin(), credit_.end(),
        [](const auto& left, const auto& right) { return left.second < right.second; });
    richest->second -= 1;
    draws.push_back(richest->first);
  }
  // Pairs of prices stay together, whatever stands between them.
  const auto prices = std::count(draws.begin(), draws.end(), "prices");
  std::erase(draws, "prices");
  for (std::ptrdiff_t i = 0; i < (prices + 1) / 2; ++i) draws.push_back("prices");
  for (std::size_t i = draws.size(); i > 1; --i) std::swap(draws[i - 1], draws[Random() % i]);

  std::vector<PlannedRequest> requests;
  for (const std::string& route : draws) {
    std::vector<PlannedRequest> made = Make(route);
    std::move(made.begin(), made.end(), std::back_inserter(requests));
  }
  // An odd number of prices has one too many; a lone reader is the one to leave out.
  if (prices % 2 != 0) {
    const auto reader = std::find_if(requests.begin(), requests.end(), [](const auto& request) {
      return request.target == "/prices";
    });
    requests.erase(reader);
  }
  return requests;
}

std::vector<PlannedRequest> LoadPlan::Make(const std::string& route) {
  const std::uint64_t number = made_[route]++;
  if (route == "home") {
    if (number % 10 == 9)
      return {{.route = "home-401", .target = "/?token=stale", .expected_status = 401}};
    return {{.route = route, .target = "/"}};
  }
  if (route == "order") {
    return {{.route = route,
             .target = "/order?id=" + std::to_string(1 + number % 1000),
             .heavy = true}};
  }
  if (route == "prices") {
    return {{.route = "prices-refresh", .target = "/prices?refresh=1"},
            {.route = route, .target = "/prices"}};
  }
  const bool heavy = route == "users" || route == "checkout";
  return {{.route = route, .target = "/" + route, .heavy = heavy}};
}

std::uint64_t LoadPlan::Random() {
  random_ ^= random_ << 13;
  random_ ^= random_ >> 7;
  random_ ^= random_ << 17;
  return random_;
}

void LoadQueue::Add(std::vector<PlannedRequest> requests) {
  const std::lock_guard lock(mutex_);
  std::move(requests.begin(), requests.end(), std::back_inserter(waiting_));
  changed_.notify_all();
}

std::optional<PlannedRequest> LoadQueue::Take() {
  std::unique_lock lock(mutex_);
  while (true) {
    const auto next = std::find_if(waiting_.begin(), waiting_.end(), [this](const auto& request) {
      return !request.heavy || heavy_running_ < heavy_max_;
    });
    if (next != waiting_.end()) {
      PlannedRequest request = std::move(*next);
      waiting_.erase(next);
      if (request.heavy) ++heavy_running_;
      return request;
    }
    if (finished_ && waiting_.empty()) return std::nullopt;
    changed_.wait(lock);
  }
}

void LoadQueue::Done(const PlannedRequest& request) {
  const std::lock_guard lock(mutex_);
  if (request.heavy) --heavy_running_;
  changed_.notify_all();
}

void LoadQueue::Finish() {
  const std::lock_guard lock(mutex_);
  finished_ = true;
  changed_.notify_all();
}

void LoadQueue::Close() {
  const std::lock_guard lock(mutex_);
  waiting_.clear();
  finished_ = true;
  changed_.notify_all();
}

std::size_t LoadQueue::Waiting() const {
  const std::lock_guard lock(mutex_);
  return waiting_.size();
}

}  // namespace demo
