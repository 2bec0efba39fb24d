#include "storage/conditions.h"

#include <algorithm>

namespace hotspan::storage {
namespace {

template <typename T>
bool Holds(Compare compare, const T& a, const T& b) {
  switch (compare) {
    case Compare::kEqual:
      return a == b;
    case Compare::kNotEqual:
      return a != b;
    case Compare::kLess:
      return a < b;
    case Compare::kLessEqual:
      return a <= b;
    case Compare::kGreater:
      return a > b;
    case Compare::kGreaterEqual:
      return a >= b;
  }
  return false;
}

}  // namespace

bool CompareText(std::string_view text, const Condition& condition) {
  const auto* wanted = std::get_if<std::string>(&condition.value);
  return wanted != nullptr && Holds(condition.compare, text, std::string_view(*wanted));
}

bool CompareInt(std::int64_t number, const Condition& condition) {
  if (const auto* wanted = std::get_if<std::int64_t>(&condition.value)) {
    return Holds(condition.compare, number, *wanted);
  }
  if (const auto* wanted = std::get_if<double>(&condition.value)) {
    return Holds(condition.compare, static_cast<double>(number), *wanted);
  }
  return false;
}

bool CompareValue(const Value& value, const Condition& condition) {
  switch (value.kind()) {
    case ValueKind::kString:
      return CompareText(value.text(), condition);
    case ValueKind::kInt:
      return CompareInt(value.AsInt(), condition);
    case ValueKind::kDouble: {
      if (const auto* wanted = std::get_if<double>(&condition.value)) {
        return Holds(condition.compare, value.AsDouble(), *wanted);
      }
      if (const auto* wanted = std::get_if<std::int64_t>(&condition.value)) {
        return Holds(condition.compare, value.AsDouble(), static_cast<double>(*wanted));
      }
      return false;
    }
    case ValueKind::kBool: {
      const auto* wanted = std::get_if<bool>(&condition.value);
      return wanted != nullptr && Holds(condition.compare, value.AsBool(), *wanted);
    }
    case ValueKind::kEmpty:
    case ValueKind::kBytes:
    case ValueKind::kArray:
    case ValueKind::kMap:
      return false;
  }
  return false;
}

bool Matches(const SpanBatch& batch, const SpanRow& span, const Condition& condition) {
  const auto attribute = [&](Slice slice) { return batch.Attributes(slice).Find(condition.key); };
  switch (condition.field) {
    case SpanField::kService:
      return CompareText(batch.ServiceOf(span), condition);
    case SpanField::kName:
      return CompareText(batch.Text(span.name), condition);
    case SpanField::kDuration:
      return CompareInt(span.duration().ns, condition);
    case SpanField::kKind:
      return CompareInt(static_cast<int>(span.kind), condition);
    case SpanField::kStatus:
      return CompareInt(static_cast<int>(span.status), condition);
    case SpanField::kTraceId:
      return CompareText(span.trace_id.ToHex(), condition);
    case SpanField::kSpanId:
      return CompareText(span.span_id.ToHex(), condition);
    case SpanField::kSpanAttribute: {
      const auto value = attribute(span.attributes);
      return value && CompareValue(*value, condition);
    }
    case SpanField::kResourceAttribute: {
      const auto value = attribute(batch.resources[span.resource].attributes);
      return value && CompareValue(*value, condition);
    }
    case SpanField::kAnyAttribute: {
      auto value = attribute(span.attributes);
      if (!value) value = attribute(batch.resources[span.resource].attributes);
      return value && CompareValue(*value, condition);
    }
  }
  return false;
}

bool MatchesAll(const SpanBatch& batch, const SpanRow& span,
                std::span<const Condition> conditions) {
  return std::ranges::all_of(
      conditions, [&](const Condition& condition) { return Matches(batch, span, condition); });
}

bool ComesBefore(const SpanRow& a, const SpanRow& b, SpanOrder order) {
  if (order == SpanOrder::kLongestFirst && a.duration() != b.duration()) {
    return a.duration() > b.duration();
  }
  if (a.start != b.start) return a.start > b.start;
  return IdentityOf(a) < IdentityOf(b);
}

}  // namespace hotspan::storage
