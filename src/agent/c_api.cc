// The C API: checks what the program hands over, and lets no exception out. A function that cannot
// do its work for lack of memory does nothing.

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <string_view>

#include "agent/context_stack.h"
#include "agent/env_config.h"
#include "agent/hotspan.h"
#include "agent/propagation.h"
#include "agent/runtime.h"
#include "agent/time_now.h"
#include "agent/tracer.h"

namespace hotspan::agent {
namespace {

// Handed out while the library is not started. Nothing is ever done to it.
hotspan_span* NoSpan() {
  alignas(hotspan_span) static std::byte storage[sizeof(hotspan_span)];
  static auto* const span = new (storage) hotspan_span;
  return span;
}

bool IsReal(const hotspan_span* span) { return span != nullptr && span != NoSpan(); }

template <typename T, typename Function>
T Guarded(T otherwise, Function&& function) noexcept {
  try {
    return function();
  } catch (...) {
    return otherwise;
  }
}

template <typename Function>
void Guarded(Function&& function) noexcept {
  Guarded(0, [&] {
    function();
    return 0;
  });
}

// Calls `change` with the record of a span that is recorded.
template <typename Function>
void WithRecord(hotspan_span* span, Function&& change) noexcept {
  if (!IsReal(span) || span->record == nullptr) return;
  Guarded([&] { change(*span->record); });
}

std::string_view View(const char* text) {
  return text == nullptr ? std::string_view() : std::string_view(text);
}

hotspan_span* StartSpan(const char* name, int kind, const SpanContext* remote, const char* file,
                        const char* function, int line) {
  const Tracer* const tracer = CurrentTracer();
  if (tracer == nullptr) return NoSpan();
  return tracer->Start(View(name), kind, remote, {file, function, line}).release();
}

void CopyContext(const SpanContext& from, hotspan_context* to) {
  std::memcpy(to->trace_id, from.trace_id.data(), from.trace_id.size());
  std::memcpy(to->span_id, from.span_id.data(), from.span_id.size());
  to->trace_flags = from.flags;
}

}  // namespace
}  // namespace hotspan::agent

using namespace hotspan::agent;  // NOLINT: all that follows is the C face of it

extern "C" {

int hotspan_start(const hotspan_options* options) {
  return Guarded(-1, [&] {
    const AgentConfig config =
        ReadConfig(options, [](const char* name) { return std::getenv(name); });
    return StartRuntime(config) ? 0 : -1;
  });
}

void hotspan_stop(void) {
  Guarded([] { StopRuntime(); });
}

int hotspan_flush(int timeout_ms) {
  return Guarded(-1, [&] { return FlushRuntime(timeout_ms) ? 0 : -1; });
}

void hotspan_ctx_attach(const hotspan_context* context) {
  Guarded([&] {
    SpanContext attached;
    if (context != nullptr) {
      std::memcpy(attached.trace_id.data(), context->trace_id, attached.trace_id.size());
      std::memcpy(attached.span_id.data(), context->span_id, attached.span_id.size());
      attached.flags = context->trace_flags;
    }
    AttachContext(ThisThread(), attached);
  });
}

void hotspan_ctx_detach(void) {
  Guarded([] { DetachContext(ThisThread()); });
}

int hotspan_ctx_current(hotspan_context* context) {
  if (context == nullptr) return 0;
  std::memset(context, 0, sizeof(*context));
  return Guarded(0, [&] {
    const SpanContext* const current = CurrentContext(ThisThread());
    if (current == nullptr || !current->IsValid()) return 0;
    CopyContext(*current, context);
    return 1;
  });
}

hotspan_span* hotspan_span_start(const char* name, int kind, const char* file, const char* function,
                                 int line) {
  return Guarded(NoSpan(), [&] { return StartSpan(name, kind, nullptr, file, function, line); });
}

hotspan_span* hotspan_span_start_remote(const char* name, int kind, const char* traceparent,
                                        const char* tracestate, const char* file,
                                        const char* function, int line) {
  return Guarded(NoSpan(), [&] {
    const auto remote = ParseTraceparent(View(traceparent), View(tracestate));
    return StartSpan(name, kind, remote ? &*remote : nullptr, file, function, line);
  });
}

void hotspan_span_set_string(hotspan_span* span, const char* key, const char* value, size_t size) {
  if (value == nullptr) size = 0;
  WithRecord(span, [&](SpanRecord& record) {
    record.Set(View(key), size == 0 ? std::string_view() : std::string_view(value, size));
  });
}

void hotspan_span_set_int(hotspan_span* span, const char* key, int64_t value) {
  WithRecord(span, [&](SpanRecord& record) { record.Set(View(key), std::int64_t{value}); });
}

void hotspan_span_set_double(hotspan_span* span, const char* key, double value) {
  WithRecord(span, [&](SpanRecord& record) { record.Set(View(key), value); });
}

void hotspan_span_set_bool(hotspan_span* span, const char* key, int value) {
  WithRecord(span, [&](SpanRecord& record) { record.Set(View(key), value != 0); });
}

void hotspan_span_add_event(hotspan_span* span, const char* name) {
  WithRecord(span, [&](SpanRecord& record) { record.AddEvent(View(name), RealtimeNs()); });
}

void hotspan_span_set_error(hotspan_span* span, const char* message) {
  WithRecord(span, [&](SpanRecord& record) {
    record.error = true;
    record.status_message = CleanText(View(message));
  });
}

void hotspan_span_detach(hotspan_span* span) {
  if (!IsReal(span)) return;
  Guarded([&] { Detach(ThisThread(), span); });
}

void hotspan_span_attach(hotspan_span* span) {
  if (!IsReal(span)) return;
  Guarded([&] { Attach(ThisThread(), span); });
}

void hotspan_span_context(const hotspan_span* span, hotspan_context* context) {
  if (context == nullptr) return;
  std::memset(context, 0, sizeof(*context));
  if (IsReal(span)) CopyContext(span->context, context);
}

void hotspan_span_end(hotspan_span* span) {
  if (!IsReal(span)) return;
  Guarded([&] {
    if (EndSpan(std::unique_ptr<SpanHandle>(span))) WakeExporter();
  });
}

int hotspan_traceparent(char out[56]) {
  if (out == nullptr) return 0;
  out[0] = '\0';
  return Guarded(0, [&] {
    const SpanContext* const current = CurrentContext(ThisThread());
    if (current == nullptr || !current->IsValid()) return 0;
    WriteTraceparent(*current, out);
    out[kTraceparentSize] = '\0';
    return 1;
  });
}

void hotspan_get_stats(hotspan_stats* stats) {
  if (stats == nullptr) return;
  std::memset(stats, 0, sizeof(*stats));
  Guarded([&] { ReadStats(stats); });
}

}  // extern "C"
