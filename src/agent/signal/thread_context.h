// The span that is active on a thread, where samplers inside and outside of the process find it:
// the thread-local record of OpenTelemetry's OTEP 4947.
//
// Threads: every thread publishes its own record; others read it through their handler slot only.
#pragma once

#include <cstdint>
#include <cstring>

extern "C" {

// Byte-packed, as external readers expect it; attributes would follow.
struct hotspan_thread_context_record {
  std::uint8_t trace_id[16];
  std::uint8_t span_id[8];
  std::uint8_t valid;  // 1: usable, all else: ignore
  std::uint8_t trace_flags;
  std::uint16_t attributes_size;
};

// Null, or the record of this thread. Initial-exec, so that a signal handler may read it.
// constinit spares readers in other files the call of a TLS wrapper.
extern constinit thread_local hotspan_thread_context_record* otel_thread_ctx_v1
    __attribute__((tls_model("initial-exec"), visibility("default")));

}  // extern "C"

namespace hotspan::agent {

using ThreadContextRecord = hotspan_thread_context_record;
static_assert(sizeof(ThreadContextRecord) == 28);

extern constinit thread_local ThreadContextRecord t_context_record
    __attribute__((tls_model("initial-exec")));

// Makes the record of this thread known to the samplers; once per thread.
void AnnounceContext();

// This thread's record is about to be gone with its thread.
void RetireContext();

// Makes this the context that samples of this thread carry from here on. No lock, no allocation.
inline void PublishContext(const std::uint8_t trace_id[16], const std::uint8_t span_id[8],
                           std::uint8_t flags) {
  ThreadContextRecord& record = t_context_record;
  record.valid = 0;
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  std::memcpy(record.trace_id, trace_id, sizeof(record.trace_id));
  std::memcpy(record.span_id, span_id, sizeof(record.span_id));
  record.trace_flags = flags;
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  record.valid = 1;
  if (otel_thread_ctx_v1 == nullptr) [[unlikely]]
    AnnounceContext();
}

// Samples of this thread carry no span from here on.
inline void ClearContext() {
  t_context_record.valid = 0;
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

// The context of this thread; false if there is none.
inline bool ReadContext(ThreadContextRecord* context) {
  if (t_context_record.valid != 1) return false;
  *context = t_context_record;
  return true;
}

}  // namespace hotspan::agent
