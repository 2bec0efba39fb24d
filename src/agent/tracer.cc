#include "agent/tracer.h"

#include <algorithm>
#include <utility>

#include "agent/otlp_fields.h"
#include "agent/time_now.h"

namespace hotspan::agent {
namespace {

constexpr int kKindInternal = 1;
constexpr int kKindConsumer = 5;
// Enough for the place in the code and a few attributes without growing.
constexpr std::size_t kAttributeBytesReserved = 256;

void SetPlace(SpanRecord& record, const CodePlace& place) {
  if (place.function != nullptr) {
    record.Set("code.function.name", std::string_view(place.function));
  }
  if (place.file != nullptr) record.Set("code.file.path", std::string_view(place.file));
  if (place.line > 0) record.Set("code.line.number", std::int64_t{place.line});
}

}  // namespace

std::unique_ptr<SpanHandle> Tracer::Start(std::string_view name, int kind,
                                          const SpanContext* remote, const CodePlace& place) const {
  ThreadState& thread = ThisThread();
  const SpanContext* parent = remote != nullptr ? remote : CurrentContext(thread);
  if (parent != nullptr && !parent->IsValid()) parent = nullptr;
  auto handle = std::make_unique<SpanHandle>();
  handle->is_span = true;
  SpanContext& context = handle->context;
  if (parent != nullptr) {
    context.trace_id = parent->trace_id;
    context.trace_state = parent->trace_state;
  } else {
    thread.random.FillId(context.trace_id);
  }
  thread.random.FillId(context.span_id);
  if (sampler_.Sample(parent, context.trace_id)) {
    context.flags = kSampledFlag;
    auto record = std::make_unique<SpanRecord>();
    record->tracer = this;
    record->fork_generation = thread.fork_generation;
    record->trace_id = context.trace_id;
    record->span_id = context.span_id;
    record->flags = context.flags | otlp::kFlagHasIsRemote;
    if (parent != nullptr) {
      record->parent_span_id = parent->span_id;
      if (parent->remote) record->flags |= otlp::kFlagIsRemote;
    }
    record->kind = static_cast<std::uint32_t>(
        kind >= kKindInternal && kind <= kKindConsumer ? kind : kKindInternal);
    record->trace_state = context.trace_state;
    record->name = CleanText(name);
    record->attributes.reserve(kAttributeBytesReserved);
    SetPlace(*record, place);
    record->start_ns = RealtimeNs();
    record->start_steady_ns = SteadyNs();
    handle->record = std::move(record);
  }
  Attach(thread, handle.get());
  return handle;
}

bool Tracer::Finish(std::unique_ptr<SpanRecord> record) const {
  const std::int64_t duration = SteadyNs() - record->start_steady_ns;
  record->end_ns = record->start_ns + std::max<std::int64_t>(duration, 0);
  stats_->spans_ended.fetch_add(1, std::memory_order_relaxed);
  switch (queue_->Push(std::move(record))) {
    case SpanQueue::Pushed::kFull:
      stats_->spans_dropped.fetch_add(1, std::memory_order_relaxed);
      return false;
    case SpanQueue::Pushed::kYesAndWake:
      return true;
    case SpanQueue::Pushed::kYes:
      return false;
  }
  return false;
}

bool EndSpan(std::unique_ptr<SpanHandle> span) {
  ThreadState& thread = ThisThread();
  std::unique_ptr<SpanRecord> record = std::move(span->record);
  Release(thread, std::move(span));
  if (record == nullptr || record->fork_generation != thread.fork_generation) return false;
  const Tracer* const tracer = record->tracer;
  return tracer->Finish(std::move(record));
}

}  // namespace hotspan::agent
