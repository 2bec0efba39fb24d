#include "demo/load/load_report.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <utility>

namespace demo {
namespace {

// Percentiles are of this many newest requests of a route, so that a long trickle stays small.
constexpr std::size_t kKept = 20'000;

constexpr std::array<std::pair<const char*, double>, 4> kPercentiles = {
    {{"p50", 0.50}, {"p90", 0.90}, {"p95", 0.95}, {"p99", 0.99}}};

template <typename... Values>
std::string Print(const char* format, Values... values) {
  std::array<char, 256> text;
  const int size = std::snprintf(text.data(), text.size(), format, values...);
  return std::string(text.data(), std::min(text.size() - 1, static_cast<std::size_t>(size)));
}

std::string Escape(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '"' || c == '\\') escaped += '\\';
    escaped += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return escaped;
}

}  // namespace

double Percentile(std::vector<double> values, double share) {
  if (values.empty()) return 0;
  const double rank = std::ceil(share * static_cast<double>(values.size()));
  const std::size_t index = static_cast<std::size_t>(std::max(1.0, rank)) - 1;
  const auto nth = values.begin() + static_cast<std::ptrdiff_t>(std::min(index, values.size() - 1));
  std::nth_element(values.begin(), nth, values.end());
  return *nth;
}

void LoadReport::Record(double milliseconds, bool ok, Latencies* latencies) {
  const std::uint64_t count = latencies->ok + latencies->failed;
  latencies->min = count == 0 ? milliseconds : std::min(latencies->min, milliseconds);
  latencies->max = std::max(latencies->max, milliseconds);
  latencies->sum += milliseconds;
  if (latencies->kept.size() < kKept) {
    latencies->kept.push_back(milliseconds);
  } else {
    latencies->kept[count % kKept] = milliseconds;
  }
  ++(ok ? latencies->ok : latencies->failed);
}

void LoadReport::Add(const std::string& route, double milliseconds, bool ok,
                     const std::string& problem) {
  const std::lock_guard lock(mutex_);
  Record(milliseconds, ok, &all_);
  Record(milliseconds, ok, &routes_[route]);
  if (!ok) last_problem_ = route + ": " + problem;
}

std::uint64_t LoadReport::Ok() const {
  const std::lock_guard lock(mutex_);
  return all_.ok;
}

std::uint64_t LoadReport::Failed() const {
  const std::lock_guard lock(mutex_);
  return all_.failed;
}

std::string LoadReport::Line(const std::string& name, const Latencies& latencies) {
  const double count = static_cast<double>(latencies.ok + latencies.failed);
  std::string line = Print("%-15s %6llu %6llu %9.1f %9.1f", name.c_str(),
                           static_cast<unsigned long long>(latencies.ok),
                           static_cast<unsigned long long>(latencies.failed),
                           count > 0 ? latencies.sum / count : 0.0, latencies.min);
  for (const auto& [label, share] : kPercentiles) {
    line += Print(" %9.1f", Percentile(latencies.kept, share));
  }
  return line + Print(" %9.1f\n", latencies.max);
}

std::string LoadReport::Text(double seconds) const {
  const std::lock_guard lock(mutex_);
  std::string text = Print("%-15s %6s %6s %9s %9s", "route (ms)", "ok", "failed", "mean", "min");
  for (const auto& [label, share] : kPercentiles) text += Print(" %9s", label);
  text += Print(" %9s\n", "max");
  for (const auto& [route, latencies] : routes_) text += Line(route, latencies);
  text += Line("all", all_);
  const double count = static_cast<double>(all_.ok + all_.failed);
  text += Print("%.1f s, %.1f requests a second\n", seconds, seconds > 0 ? count / seconds : 0.0);
  if (!last_problem_.empty()) text += "last failure: " + last_problem_.substr(0, 300) + "\n";
  return text;
}

std::string LoadReport::JsonOf(const Latencies& latencies) {
  const double count = static_cast<double>(latencies.ok + latencies.failed);
  std::string json =
      Print("{\"ok\":%llu,\"failed\":%llu,\"mean_ms\":%.3f,\"min_ms\":%.3f,\"max_ms\":%.3f",
            static_cast<unsigned long long>(latencies.ok),
            static_cast<unsigned long long>(latencies.failed),
            count > 0 ? latencies.sum / count : 0.0, latencies.min, latencies.max);
  for (const auto& [label, share] : kPercentiles) {
    json += Print(",\"%s_ms\":%.3f", label, Percentile(latencies.kept, share));
  }
  return json + "}";
}

std::string LoadReport::Json(double seconds) const {
  const std::lock_guard lock(mutex_);
  std::string json = Print("{\"seconds\":%.3f,\"all\":", seconds) + JsonOf(all_) + ",\"routes\":{";
  const char* separator = "";
  for (const auto& [route, latencies] : routes_) {
    json += separator;
    json += "\"" + route + "\":" + JsonOf(latencies);
    separator = ",";
  }
  return json + "},\"last_failure\":\"" + Escape(last_problem_.substr(0, 300)) + "\"}";
}

}  // namespace demo
