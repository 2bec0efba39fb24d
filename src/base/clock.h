// The time of day as an argument: programs pass SystemClock, tests a clock that they move.
#pragma once

#include <atomic>
#include <cstdint>

namespace hotspan {

class Clock {
 public:
  virtual ~Clock() = default;
  // Nanoseconds since the Unix epoch.
  virtual std::int64_t NowNs() const = 0;
};

class SystemClock final : public Clock {
 public:
  std::int64_t NowNs() const override;
};

// Stands still until told to move. Threads: all methods may be called from any thread.
class ManualClock final : public Clock {
 public:
  explicit ManualClock(std::int64_t now_ns) : now_ns_(now_ns) {}
  std::int64_t NowNs() const override { return now_ns_.load(); }
  void Set(std::int64_t now_ns) { now_ns_.store(now_ns); }
  void Advance(std::int64_t by_ns) { now_ns_.fetch_add(by_ns); }

 private:
  std::atomic<std::int64_t> now_ns_;
};

// Monotonic nanoseconds, for durations.
std::int64_t MonotonicNs();

}  // namespace hotspan
