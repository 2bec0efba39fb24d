#include "agent/signal/thread_slot.h"

namespace hotspan::agent {
namespace {

// Slots of a number lie within this many places of where it hashes to; all are looked at, as places
// become free in between.
constexpr std::size_t kProbes = 64;

// Beside the slots, so that a search touches four cache lines.
constinit std::atomic<std::uint32_t> g_tids[kSlotsMax]{};
constinit ThreadSlot g_slots[kSlotsMax]{};

constinit thread_local ThreadSlot* t_slot __attribute__((tls_model("initial-exec"))) = nullptr;

std::size_t Place(std::uint32_t tid, std::size_t probe) { return (tid + probe) % kSlotsMax; }

}  // namespace

ThreadSlot* FindSlot(std::uint32_t tid) {
  for (std::size_t probe = 0; probe < kProbes; ++probe) {
    const std::size_t i = Place(tid, probe);
    if (g_tids[i].load() == tid) return &g_slots[i];
  }
  return nullptr;
}

ThreadSlot* ClaimSlot(std::uint32_t tid, bool* is_new) {
  *is_new = false;
  if (ThreadSlot* slot = FindSlot(tid)) return slot;
  for (std::size_t probe = 0; probe < kProbes; ++probe) {
    const std::size_t i = Place(tid, probe);
    std::uint32_t free = 0;
    if (!g_tids[i].compare_exchange_strong(free, tid)) continue;
    ThreadSlot* first = FindSlot(tid);
    if (first != &g_slots[i]) {  // the registry and the thread itself claimed at once
      g_tids[i].store(0);
      return first;
    }
    first->tid.store(tid);
    *is_new = true;
    return first;
  }
  return nullptr;
}

void ReleaseSlot(ThreadSlot* slot) {
  slot->state.store(SlotState::kKnown);
  slot->timer_kind.store(TimerKind::kNone);
  slot->weight_by_clock.store(false);
  slot->timer.store(0);
  slot->ForgetStack();
  slot->foreign_sp.store(0);
  slot->ring.store(nullptr);
  slot->context.store(nullptr);
  slot->dropped.store(0);
  slot->taken.store(0);
  // After a fork it may be that of a thread that was in the handler.
  if (slot->handler_count.load() % 2 != 0) slot->handler_count.fetch_add(1);
  slot->tid.store(0);
  g_tids[static_cast<std::size_t>(slot - g_slots)].store(0);
}

void ReleaseAllSlots() {
  for (std::size_t i = 0; i < kSlotsMax; ++i) {
    if (g_tids[i].load() != 0) ReleaseSlot(&g_slots[i]);
  }
  SetCurrentSlot(nullptr);
}

ThreadSlot& SlotAt(std::size_t i) { return g_slots[i]; }

std::uint32_t SlotTid(std::size_t i) { return g_tids[i].load(std::memory_order_acquire); }

ThreadSlot* CurrentSlot() { return t_slot; }

void SetCurrentSlot(ThreadSlot* slot) { t_slot = slot; }

}  // namespace hotspan::agent
