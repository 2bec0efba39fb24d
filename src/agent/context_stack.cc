#include "agent/context_stack.h"

#include <pthread.h>

#include <utility>

#include "agent/signal/thread_context.h"
#include "base/limits.h"

namespace hotspan::agent {
namespace {

std::atomic<std::uint64_t> g_fork_generation{0};

// A pointer alone: a thread-local object would need more static TLS than a dlopened library gets.
constinit thread_local ThreadState* t_state __attribute__((tls_model("initial-exec"))) = nullptr;

void Unlink(ThreadState& thread, SpanHandle* handle) {
  if (handle->below != nullptr) handle->below->above = handle->above;
  if (handle->above != nullptr) handle->above->below = handle->below;
  if (thread.top == handle) thread.top = handle->below;
  handle->below = handle->above = nullptr;
}

// Frees handles at the top that were ended on other threads.
void Sweep(ThreadState& thread) {
  while (thread.top != nullptr &&
         thread.top->state.load(std::memory_order_acquire) == SpanHandle::State::kEnded) {
    const std::unique_ptr<SpanHandle> ended(thread.top);
    Unlink(thread, ended.get());
  }
}

// Samples of a span that is not recorded would point to nothing, so they carry no span.
void Publish(const ThreadState& thread) {
  const SpanHandle* const top = thread.top;
  if (top == nullptr || !top->context.IsValid() || (top->is_span && !top->context.sampled())) {
    ClearContext();
    return;
  }
  PublishContext(top->context.trace_id.data(), top->context.span_id.data(), top->context.flags);
}

void EndThread(void* pointer) {
  const std::unique_ptr<ThreadState> thread(static_cast<ThreadState*>(pointer));
  RetireContext();
  t_state = nullptr;
  while (thread->top != nullptr) {
    SpanHandle* const handle = thread->top;
    Unlink(*thread, handle);
    const auto before = handle->state.exchange(SpanHandle::State::kDetached);
    // What is not a span has no holder who could free it.
    if (before == SpanHandle::State::kEnded || !handle->is_span) {
      const std::unique_ptr<SpanHandle> freed(handle);
    }
  }
}

pthread_key_t ThreadKey() {
  static const pthread_key_t key = [] {
    pthread_key_t made{};
    ::pthread_key_create(&made, &EndThread);
    return made;
  }();
  return key;
}

ThreadState& MakeState() {
  auto state = std::make_unique<ThreadState>();
  state->random.Seed();
  state->fork_generation = ForkGeneration();
  ::pthread_setspecific(ThreadKey(), state.get());
  t_state = state.release();
  return *t_state;
}

}  // namespace

ThreadState& ThisThread() {
  ThreadState* const state = t_state;
  if (state == nullptr) [[unlikely]]
    return MakeState();
  if (state->fork_generation != ForkGeneration()) [[unlikely]] {
    state->random.Seed();
    state->fork_generation = ForkGeneration();
  }
  return *state;
}

std::uint64_t ForkGeneration() { return g_fork_generation.load(std::memory_order_relaxed); }
void CountFork() { g_fork_generation.fetch_add(1, std::memory_order_relaxed); }

const SpanContext* CurrentContext(ThreadState& thread) {
  Sweep(thread);
  return thread.top == nullptr ? nullptr : &thread.top->context;
}

void Attach(ThreadState& thread, SpanHandle* handle) {
  auto expected = SpanHandle::State::kDetached;
  // The owner first: who sees the handle attached must see on which thread.
  if (handle->state.load(std::memory_order_acquire) != expected) return;
  handle->owner.store(&thread, std::memory_order_relaxed);
  if (!handle->state.compare_exchange_strong(expected, SpanHandle::State::kAttached)) return;
  Sweep(thread);
  handle->below = thread.top;
  handle->above = nullptr;
  if (thread.top != nullptr) thread.top->above = handle;
  thread.top = handle;
  Publish(thread);
}

void Detach(ThreadState& thread, SpanHandle* handle) {
  if (handle->owner.load(std::memory_order_relaxed) != &thread) return;
  auto expected = SpanHandle::State::kAttached;
  // Off the stack before it is marked so: from then on another thread may attach it.
  if (handle->state.load(std::memory_order_acquire) != expected) return;
  Unlink(thread, handle);
  handle->owner.store(nullptr, std::memory_order_relaxed);
  handle->state.compare_exchange_strong(expected, SpanHandle::State::kDetached);
  Sweep(thread);
  Publish(thread);
}

void Release(ThreadState& thread, std::unique_ptr<SpanHandle> handle) {
  Detach(thread, handle.get());
  if (handle->state.exchange(SpanHandle::State::kEnded) == SpanHandle::State::kAttached) {
    // On another thread's stack, which frees it.
    static_cast<void>(handle.release());
  }
}

void AttachContext(ThreadState& thread, const SpanContext& context) {
  if (++thread.attached_contexts > limits::kAgentContextDepthMax) return;
  auto handle = std::move(thread.spare);
  if (handle == nullptr) handle = std::make_unique<SpanHandle>();
  handle->context = context;
  Attach(thread, handle.release());
}

void DetachContext(ThreadState& thread) {
  if (thread.attached_contexts == 0) return;
  if (thread.attached_contexts-- > limits::kAgentContextDepthMax) return;
  SpanHandle* handle = thread.top;
  while (handle != nullptr && handle->is_span) handle = handle->below;
  if (handle == nullptr) return;
  Detach(thread, handle);
  thread.spare.reset(handle);
}

}  // namespace hotspan::agent
