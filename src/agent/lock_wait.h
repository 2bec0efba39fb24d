// A wait for a lock as the waiting thread measured it, and the queue that hands such waits over
// from threads that may neither allocate nor wait.
//
// Threads: Push and Pop may be called from any thread and in signal handlers; Reset by a thread
// that is alone.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace hotspan::agent {

enum class LockKind : std::uint8_t { kMutex = 0, kReadLock = 1, kWriteLock = 2 };

struct LockWait {
  std::int64_t begin_ns = 0;  // CLOCK_MONOTONIC
  std::int64_t wait_ns = 0;
  std::array<std::uint8_t, 16> trace_id{};  // of the waiter's span
  std::array<std::uint8_t, 16> holder_trace_id{};
  std::array<std::uint8_t, 8> span_id{};
  std::array<std::uint8_t, 8> holder_span_id{};  // zero: not known
  LockKind kind = LockKind::kMutex;
};

// A ring of cells, each with a count of how often it was filled and emptied. Zeroed memory is an
// empty queue.
template <typename T, std::size_t kSize>
class WaitQueue {
 public:
  // Calls `fill` with the place of a new value; false if there is no room. It never waits for
  // others, even for one that was interrupted.
  template <typename Fill>
  bool Push(Fill&& fill) {
    std::uint64_t at = pushed_.load(std::memory_order_relaxed);
    for (;;) {
      Cell& cell = cells_[at % kSize];
      const std::uint64_t free = 2 * (at / kSize);
      const std::uint64_t turn = cell.turn.load(std::memory_order_acquire);
      if (turn < free) return false;
      if (turn > free) {  // another one was faster
        at = pushed_.load(std::memory_order_relaxed);
      } else if (pushed_.compare_exchange_weak(at, at + 1, std::memory_order_relaxed)) {
        fill(cell.value);
        cell.turn.store(free + 1, std::memory_order_release);
        return true;
      }
    }
  }

  // False if it is empty, or the next value is still being written.
  bool Pop(T* value) {
    std::uint64_t at = popped_.load(std::memory_order_relaxed);
    for (;;) {
      Cell& cell = cells_[at % kSize];
      const std::uint64_t full = 2 * (at / kSize) + 1;
      const std::uint64_t turn = cell.turn.load(std::memory_order_acquire);
      if (turn < full) return false;
      if (turn > full) {
        at = popped_.load(std::memory_order_relaxed);
      } else if (popped_.compare_exchange_weak(at, at + 1, std::memory_order_relaxed)) {
        *value = cell.value;
        cell.turn.store(full + 1, std::memory_order_release);
        return true;
      }
    }
  }

  // In the child after a fork: a thread that it lacks may have been in the middle of a call.
  void Reset() {
    for (Cell& cell : cells_) cell.turn.store(0, std::memory_order_relaxed);
    popped_.store(0, std::memory_order_relaxed);
    pushed_.store(0, std::memory_order_release);
  }

 private:
  struct Cell {
    std::atomic<std::uint64_t> turn{0};
    T value{};
  };

  std::array<Cell, kSize> cells_{};
  alignas(64) std::atomic<std::uint64_t> pushed_{0};
  alignas(64) std::atomic<std::uint64_t> popped_{0};
};

}  // namespace hotspan::agent
