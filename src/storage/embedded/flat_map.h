// An open-addressing map from 128-bit hashes to 32-bit numbers: one probe in the common case.
//
// Threads: const access from any thread; changes need the owner's lock.
#pragma once

#include <cstdint>
#include <vector>

#include "base/hash.h"

namespace hotspan::storage::embedded {

class HashNumberMap {
 public:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  HashNumberMap() : slots_(1024) {}

  std::size_t size() const { return size_; }

  // The number of `key`; if there is none, `fresh` becomes it and kNone is returned.
  std::uint32_t FindOrInsert(const Hash128& key, std::uint32_t fresh) {
    if ((size_ + 1) * 3 > slots_.size() * 2) Grow();
    Slot& slot = SlotOf(slots_, key);
    if (slot.number != kNone) return slot.number;
    slot = {key, fresh};
    ++size_;
    return kNone;
  }

  void Clear() {
    slots_.assign(1024, Slot{});
    size_ = 0;
  }

 private:
  struct Slot {
    Hash128 key;
    std::uint32_t number = kNone;
  };

  static Slot& SlotOf(std::vector<Slot>& slots, const Hash128& key) {
    const std::size_t mask = slots.size() - 1;
    for (std::size_t at = key.low & mask;; at = (at + 1) & mask) {
      if (slots[at].number == kNone || slots[at].key == key) return slots[at];
    }
  }

  void Grow() {
    std::vector<Slot> larger(slots_.size() * 2);
    for (const Slot& slot : slots_) {
      if (slot.number != kNone) SlotOf(larger, slot.key) = slot;
    }
    slots_.swap(larger);
  }

  std::vector<Slot> slots_;
  std::size_t size_ = 0;
};

}  // namespace hotspan::storage::embedded
