#include "agent/signal/thread_context.h"

#include "agent/signal/thread_slot.h"
#include "base/raw/syscalls.h"

extern "C" {
constinit thread_local hotspan_thread_context_record* otel_thread_ctx_v1
    __attribute__((tls_model("initial-exec"), visibility("default"))) = nullptr;
}

namespace hotspan::agent {

constinit thread_local ThreadContextRecord t_context_record
    __attribute__((tls_model("initial-exec"))){};

void AnnounceContext() {
  ThreadSlot* slot = CurrentSlot();
  if (slot == nullptr) {
    bool is_new = false;
    slot = ClaimSlot(raw::GetTid(), &is_new);
    // A slot of that number may be left from a thread that is gone: its stack is not ours.
    if (slot != nullptr && !is_new) slot->ForgetStack();
    SetCurrentSlot(slot);
  }
  if (slot != nullptr) slot->context.store(&t_context_record, std::memory_order_release);
  otel_thread_ctx_v1 = &t_context_record;
}

void RetireContext() {
  ClearContext();
  otel_thread_ctx_v1 = nullptr;
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  if (ThreadSlot* slot = CurrentSlot()) slot->context.store(nullptr, std::memory_order_release);
}

}  // namespace hotspan::agent
