// A ring of variable-sized records of words between one writer, which may be a signal handler, and
// one reader. It lies in memory that the caller maps; zeroed memory is an empty ring.
//
// Threads: Reserve and Commit from the writer, Front and Pop from the reader.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace hotspan::raw {

template <std::size_t kWords>
class SpscRing {
  static_assert((kWords & (kWords - 1)) == 0, "a power of two");

 public:
  // Room for `words` in a row, or null if the reader is that far behind. The first word of a record
  // belongs to the ring.
  std::uint64_t* Reserve(std::size_t words) {
    const std::uint64_t written = written_.load(std::memory_order_relaxed);
    const std::uint64_t read = read_.load(std::memory_order_acquire);
    const std::size_t at = (written % kWords);
    std::size_t skip = 0;
    if (at + words > kWords) skip = kWords - at;
    if (written + skip + words - read > kWords) return nullptr;
    if (skip != 0) {
      words_[at] = skip | kSkip;
      written_.store(written + skip, std::memory_order_release);
    }
    return &words_[(written + skip) % kWords];
  }

  // Hands over the first `words` of the last reservation.
  void Commit(std::size_t words) {
    const std::uint64_t written = written_.load(std::memory_order_relaxed);
    words_[written % kWords] = words;
    written_.store(written + words, std::memory_order_release);
  }

  // The oldest record, of *words words, or null.
  const std::uint64_t* Front(std::size_t* words) {
    for (;;) {
      const std::uint64_t read = read_.load(std::memory_order_relaxed);
      if (read == written_.load(std::memory_order_acquire)) return nullptr;
      const std::uint64_t head = words_[read % kWords];
      if ((head & kSkip) == 0) {
        *words = static_cast<std::size_t>(head);
        return &words_[read % kWords];
      }
      read_.store(read + (head & ~kSkip), std::memory_order_release);
    }
  }
  void Pop() {
    const std::uint64_t read = read_.load(std::memory_order_relaxed);
    read_.store(read + words_[read % kWords], std::memory_order_release);
  }

 private:
  static constexpr std::uint64_t kSkip = std::uint64_t{1} << 63;

  alignas(64) std::atomic<std::uint64_t> written_;
  alignas(64) std::atomic<std::uint64_t> read_;
  alignas(64) std::uint64_t words_[kWords];
};

}  // namespace hotspan::raw
