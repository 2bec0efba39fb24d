// Ended spans on their way to the exporter: bounded, without a lock, so that ending a span never
// waits and a fork never finds it locked.
//
// Threads: any may Push; one at a time may TakeAll.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <vector>

#include "agent/span_record.h"

namespace hotspan::agent {

class SpanQueue {
 public:
  explicit SpanQueue(std::size_t max_size, std::size_t wake_size = SIZE_MAX)
      : max_size_(max_size), wake_size_(wake_size) {}
  ~SpanQueue() { TakeAll(); }
  SpanQueue(const SpanQueue&) = delete;
  SpanQueue& operator=(const SpanQueue&) = delete;

  enum class Pushed { kYes, kYesAndWake, kFull };

  // Full: the span is lost. Wake: as many wait as make a batch.
  Pushed Push(std::unique_ptr<SpanRecord> span) {
    const std::size_t size = size_.fetch_add(1, std::memory_order_relaxed) + 1;
    if (size > max_size_ || closed_.load(std::memory_order_acquire)) {
      size_.fetch_sub(1, std::memory_order_relaxed);
      return Pushed::kFull;
    }
    SpanRecord* const record = span.release();
    record->next = head_.load(std::memory_order_relaxed);
    while (!head_.compare_exchange_weak(record->next, record, std::memory_order_release,
                                        std::memory_order_relaxed)) {
    }
    return size == wake_size_ ? Pushed::kYesAndWake : Pushed::kYes;
  }

  // Everything, oldest first.
  std::vector<std::unique_ptr<SpanRecord>> TakeAll() {
    SpanRecord* record = head_.exchange(nullptr, std::memory_order_acquire);
    std::vector<std::unique_ptr<SpanRecord>> spans;
    while (record != nullptr) {
      SpanRecord* const next = record->next;
      spans.emplace_back(record);
      record = next;
    }
    size_.fetch_sub(spans.size(), std::memory_order_relaxed);
    return {std::make_move_iterator(spans.rbegin()), std::make_move_iterator(spans.rend())};
  }

  // From here on every Push is refused: nobody would take it.
  void Close() { closed_.store(true, std::memory_order_release); }

 private:
  const std::size_t max_size_;
  const std::size_t wake_size_;
  std::atomic<std::size_t> size_{0};
  std::atomic<bool> closed_{false};
  std::atomic<SpanRecord*> head_{nullptr};
};

}  // namespace hotspan::agent
