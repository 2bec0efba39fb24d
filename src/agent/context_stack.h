// Which span is current on each thread: a stack of handles per thread, whose top is published for
// the samplers. Handles may leave in any order and move between threads.
//
// Threads: a handle is on the stack of one thread, and only that thread takes it off. One that is
// ended elsewhere while on a stack stays there, marked, until its thread comes by.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "agent/random.h"
#include "agent/span_context.h"
#include "agent/span_record.h"

namespace hotspan::agent {
struct ThreadState;
}  // namespace hotspan::agent

// A span that somebody holds, or a context that was attached without one. The C API hands it out as
// an opaque type, hence the name.
struct hotspan_span {
  enum class State : std::uint8_t { kDetached, kAttached, kEnded };

  hotspan::agent::SpanContext context;
  // Null: not sampled, or a context of another tracer.
  std::unique_ptr<hotspan::agent::SpanRecord> record;
  bool is_span = false;
  std::atomic<State> state{State::kDetached};
  std::atomic<const hotspan::agent::ThreadState*> owner{nullptr};  // whose stack it is on
  hotspan_span* below = nullptr;
  hotspan_span* above = nullptr;
};

namespace hotspan::agent {

using SpanHandle = ::hotspan_span;

struct ThreadState {
  Random random;
  std::uint64_t fork_generation = 0;
  SpanHandle* top = nullptr;
  std::size_t attached_contexts = 0;  // made by AttachContext, also those beyond the limit
  std::unique_ptr<SpanHandle> spare;  // the last one freed by DetachContext
};

// The state of this thread, made at the first call and freed when the thread ends. After a fork its
// random numbers have a new seed.
ThreadState& ThisThread();

// How often this process and its ancestors forked since the library was loaded.
std::uint64_t ForkGeneration();
// Called in the child.
void CountFork();

// The context of this thread; null if there is none.
const SpanContext* CurrentContext(ThreadState& thread);

// Makes it current; one that is on a stack already stays where it is.
void Attach(ThreadState& thread, SpanHandle* handle);
// Takes it off; does nothing if it is not on this thread's stack.
void Detach(ThreadState& thread, SpanHandle* handle);
// Takes it off and frees it, or has its thread do so later.
void Release(ThreadState& thread, std::unique_ptr<SpanHandle> handle);

// Contexts without a span; Detach takes the last one attached on this thread.
void AttachContext(ThreadState& thread, const SpanContext& context);
void DetachContext(ThreadState& thread);

}  // namespace hotspan::agent
