#include "agent/lock_events.h"

#include <cstring>
#include <unordered_map>

#include "agent/lock_interpose.h"
#include "base/limits.h"

namespace hotspan::agent {
namespace {

// Span ids are random, so this is as good as a hash of them.
std::uint64_t KeyOf(const SpanIdBytes& span_id) {
  std::uint64_t key = 0;
  std::memcpy(&key, span_id.data(), sizeof(key));
  return key;
}

}  // namespace

void LockEvents::AddTo(std::span<const std::unique_ptr<SpanRecord>> spans) {
  LockWait wait;
  for (std::size_t i = 0; i < limits::kAgentLockWaitsMax && TakeLockWait(&wait); ++i) {
    held_.push_back(wait);
  }
  if (held_.empty()) return;
  std::unordered_map<std::uint64_t, SpanRecord*> by_id;
  by_id.reserve(spans.size());
  for (const auto& span : spans) by_id.emplace(KeyOf(span->span_id), span.get());
  std::erase_if(held_, [&](const LockWait& one) {
    const auto at = by_id.find(KeyOf(one.span_id));
    if (at == by_id.end() || at->second->trace_id != one.trace_id) return false;
    at->second->AddLockWait(one);
    return true;
  });
  if (held_.size() > limits::kAgentLockWaitsHeldMax) {
    const auto surplus = held_.size() - limits::kAgentLockWaitsHeldMax;
    held_.erase(held_.begin(), held_.begin() + static_cast<std::ptrdiff_t>(surplus));
  }
}

}  // namespace hotspan::agent
