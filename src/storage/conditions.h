// Evaluation of scan conditions on one span: one implementation for all engines.
//
// Threads: pure functions.
#pragma once

#include <span>
#include <tuple>

#include "storage/engine.h"

namespace hotspan::storage {

// Whether a span satisfies one condition. Attributes are read from the batch's arena.
bool Matches(const SpanBatch& batch, const SpanRow& span, const Condition& condition);
bool MatchesAll(const SpanBatch& batch, const SpanRow& span, std::span<const Condition> conditions);

// Compares a value with a condition's constant under its operator; false where kinds don't compare.
bool CompareValue(const Value& value, const Condition& condition);
bool CompareText(std::string_view text, const Condition& condition);
bool CompareInt(std::int64_t number, const Condition& condition);

// Identity of a span: Zipkin's client and server spans share an id, so the kind belongs to it.
using SpanIdentity = std::tuple<TraceId, SpanId, SpanKind>;
inline SpanIdentity IdentityOf(const SpanRow& span) {
  return {span.trace_id, span.span_id, span.kind};
}

// The total order of a scan's answer: ties are broken by start and identity, so that engines agree.
bool ComesBefore(const SpanRow& a, const SpanRow& b, SpanOrder order);

}  // namespace hotspan::storage
